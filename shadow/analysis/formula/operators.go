package formula

import (
	"math"
	"slices"

	"stackagent/internal/expression"
)

func (c *compiler) unary(n *expression.Node, depth int) (*node, error) {
	of, err := c.node(n.Args[0], depth+1)
	if err != nil {
		return nil, err
	}
	not := n.Text == "not"
	if not != of.logic {
		if not {
			return nil, expression.Errorf(n.Column, "not wants a condition, but %s is a number", of.text)
		}
		return nil, expression.Errorf(n.Column, "%s is a condition, not a number", of.text)
	}
	if n.Text == "+" {
		return of, nil
	}
	out := of.mapped(func(v float64) float64 {
		if not {
			return 1 - v
		}
		return -v
	})
	out.text = n.Text + of.text
	if not {
		out.text = "not " + of.text
	}
	return out, nil
}

// mapped is the node with each of its values changed.
func (n *node) mapped(f func(float64) float64) *node {
	of := func(values func(int) []float64) func(int) []float64 {
		if values == nil {
			return nil
		}
		return func(n int) []float64 {
			v := values(n)
			return each(n, func(i int) float64 { return f(v[i]) })
		}
	}
	out := *n
	out.eval, out.ends = of(n.eval), of(n.ends)
	return &out
}

// operator is what a binary operator does with numbers, or with truths.
type operator struct {
	logic    bool // takes conditions
	compares bool // gives a condition
	same     bool // wants the same unit on both sides
	verb     string
	apply    func(a, b float64) float64
}

var operators = map[string]operator{
	"+":  {same: true, verb: "added", apply: func(a, b float64) float64 { return a + b }},
	"-":  {same: true, verb: "subtracted", apply: func(a, b float64) float64 { return a - b }},
	"*":  {apply: func(a, b float64) float64 { return a * b }},
	"/":  {apply: func(a, b float64) float64 { return a / b }},
	"==": comparison(func(a, b float64) bool { return a == b }),
	"!=": comparison(func(a, b float64) bool { return a != b }),
	"<":  comparison(func(a, b float64) bool { return a < b }),
	"<=": comparison(func(a, b float64) bool { return a <= b }),
	">":  comparison(func(a, b float64) bool { return a > b }),
	">=": comparison(func(a, b float64) bool { return a >= b }),
	// False and unknown is false; true or unknown is true.
	"and": {logic: true, apply: func(a, b float64) float64 {
		if a == 0 || b == 0 {
			return 0
		}
		return a * b
	}},
	"or": {logic: true, apply: func(a, b float64) float64 {
		if a == 1 || b == 1 {
			return 1
		}
		return a + b
	}},
}

func comparison(f func(a, b float64) bool) operator {
	return operator{compares: true, same: true, verb: "compared", apply: func(a, b float64) float64 {
		if math.IsNaN(a) || math.IsNaN(b) {
			return math.NaN()
		}
		return truth(f(a, b))
	}}
}

func (c *compiler) binary(n *expression.Node, depth int) (*node, error) {
	name := n.Text
	op, ok := operators[name]
	if !ok {
		return nil, expression.Errorf(n.Column, "the operator %s is not part of the language: use + - * /, == != < <= > >=, and, or, not", name)
	}
	a, err := c.node(n.Args[0], depth+1)
	if err != nil {
		return nil, err
	}
	b, err := c.node(n.Args[1], depth+1)
	if err != nil {
		return nil, err
	}
	for _, side := range []*node{a, b} {
		if side.logic != op.logic {
			if op.logic {
				return nil, expression.Errorf(n.Column, "%s wants conditions, but %s is a number: compare it with something", name, side.text)
			}
			return nil, expression.Errorf(n.Column, "%s is a condition, not a number", side.text)
		}
	}
	if op.same && !a.bare && !b.bare && !a.unit.equal(b.unit) {
		return nil, expression.Errorf(n.Column, "%s is %s and %s is %s: they cannot be %s", a.text, a.unit.named(), b.text, b.unit.named(), op.verb)
	}
	return c.combine(name, op, a, b), nil
}

// combine makes the node of a checked operator.
func (c *compiler) combine(name string, op operator, a, b *node) *node {
	out := &node{text: expression.Shorten(a.text + " " + name + " " + b.text), logic: op.logic || op.compares, bare: a.bare && b.bare, unit: unit{}}
	factor := 1.0
	switch {
	case out.logic:
		out.bare = false
	case op.same:
		out.unit = a.unit
		if a.bare {
			out.unit = b.unit
		}
		out.counter = (a.counter || a.bare) && (b.counter || b.bare) && !out.bare
	case name == "*":
		out.unit, factor = a.unit.times(b.unit, 1)
		out.counter = a.counter && b.bare || a.bare && b.counter
	default:
		out.unit, factor = a.unit.times(b.unit, -1)
		out.counter = a.counter && b.bare
	}
	divides := name == "/"
	of := func(left, right func(n int) []float64) func(n int) []float64 {
		return func(n int) []float64 {
			x, y := left(n), right(n)
			if divides {
				y = c.guard(y)
			}
			return each(n, func(i int) float64 {
				if v := op.apply(x[i], y[i]) * factor; !math.IsInf(v, 0) {
					return v
				}
				return math.NaN()
			})
		}
	}
	out.eval = of(a.eval, b.eval)
	if x, y := a.atEnd(), b.atEnd(); x != nil && y != nil && !out.bare {
		out.ends = of(x, y)
	}
	return out
}

// atEnd evaluates at the ends of the samples; nil: not known. A number is the same everywhere.
func (n *node) atEnd() func(int) []float64 {
	if n.bare {
		return n.eval
	}
	return n.ends
}

// guard takes the value from denominators that are 0, or next to nothing beside the others.
func (c *compiler) guard(values []float64) []float64 {
	var sizes []float64
	for _, v := range values {
		if v != 0 && !math.IsNaN(v) {
			sizes = append(sizes, math.Abs(v))
		}
	}
	least := math.SmallestNonzeroFloat64
	if len(sizes) > 0 {
		slices.Sort(sizes)
		least = max(least, TinyShare*sizes[len(sizes)/2])
	}
	return each(len(values), func(i int) float64 {
		if math.Abs(values[i]) < least {
			c.guarded++
			return math.NaN()
		}
		return values[i]
	})
}
