package formula

import (
	"maps"
	"math"
	"slices"
	"strings"

	"stackagent/internal/expression"
)

// function is one of the language. Its arguments are checked numbers.
type function struct {
	form string // how it is written
	args int
	call func(c *compiler, column int, args []*node) (*node, error)
}

// functions are those of the language; declared in an init because the compiler, which they use, looks them up.
var functions map[string]*function

func init() {
	functions = map[string]*function{
		"rate":  {"rate(x)", 1, rate},             // growth of a counter per second
		"delta": {"delta(x)", 1, delta},           // change of a level in the sample; where only means are known, since the sample before
		"ratio": {"ratio(part, whole)", 2, ratio}, // the quotient of two values of the same unit
		"avg":   {"avg(x, n)", 2, average},        // mean over the sample and the n-1 before it, of those that have a value
		"abs":   {"abs(x)", 1, absolute},          // without the sign
		"min":   {"min(x, y)", 2, smaller},        // the smaller one in each sample
		"max":   {"max(x, y)", 2, larger},         // the larger one in each sample
	}
}

func functionNames() []string { return slices.Sorted(maps.Keys(functions)) }

func (c *compiler) call(call *expression.Node, depth int) (*node, error) {
	name, arguments, at := call.Args[0].Text, call.Args[1:], call.Column
	f := functions[name]
	if f == nil {
		return nil, expression.Errorf(at, "unknown function %s: the functions are %s", expression.Shorten(name), strings.Join(functionNames(), ", "))
	}
	if len(arguments) != f.args {
		return nil, expression.Errorf(at, "%s: want %s", name, f.form)
	}
	var args []*node
	for _, a := range arguments {
		n, err := c.node(a, depth+1)
		if err != nil {
			return nil, err
		}
		if n.logic {
			return nil, expression.Errorf(at, "%s: %s is a condition, not a number", name, n.text)
		}
		args = append(args, n)
	}
	out, err := f.call(c, at, args)
	if err == nil {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = a.text
		}
		out.text = expression.Shorten(name + "(" + strings.Join(texts, ", ") + ")")
	}
	return out, err
}

func rate(c *compiler, column int, args []*node) (*node, error) {
	x := args[0]
	if !x.counter {
		return nil, expression.Errorf(column, "rate is for counters, and %s is none: use delta(%s) for its change", x.text, x.text)
	}
	per := c.builtin("interval")
	out := c.combine("/", operators["/"], x, per)
	out.counter = false
	return out, nil
}

func delta(_ *compiler, column int, args []*node) (*node, error) {
	x := args[0]
	if x.counter {
		return nil, expression.Errorf(column, "%s is a counter: a sample holds its growth already; rate(%s) is that per second", x.text, x.text)
	}
	return &node{unit: x.unit, eval: func(n int) []float64 {
		values := x.eval(n)
		if x.ends != nil {
			values = x.ends(n)
		}
		return each(n, func(i int) float64 {
			if i == 0 {
				return math.NaN()
			}
			return values[i] - values[i-1]
		})
	}}, nil
}

func ratio(c *compiler, column int, args []*node) (*node, error) {
	a, b := args[0], args[1]
	if !a.bare && !b.bare && !a.unit.equal(b.unit) {
		return nil, expression.Errorf(column, "ratio: %s is %s and %s is %s: use / for units that differ", a.text, a.unit.named(), b.text, b.unit.named())
	}
	out := c.combine("/", operators["/"], a, b)
	out.unit, out.counter = unit{}, false
	return out, nil
}

func average(c *compiler, column int, args []*node) (*node, error) {
	x := args[0]
	width := args[1].eval(1)
	if !args[1].bare || len(width) != 1 || width[0] != math.Trunc(width[0]) || width[0] < 1 || width[0] > maxWindow {
		return nil, expression.Errorf(column, "avg: want a number of samples from 1 to %d, as in avg(%s, 10)", maxWindow, x.text)
	}
	w := int(width[0])
	if c.cost += float64(w) * float64(c.set.samples.Len()); c.cost > maxCost {
		return nil, expression.Errorf(column, "the expression is too expensive for %d samples", c.set.samples.Len())
	}
	return &node{unit: x.unit, bare: x.bare, counter: x.counter, eval: func(n int) []float64 {
		values := x.eval(n)
		return each(n, func(i int) float64 {
			sum, some := 0.0, 0
			for _, v := range values[max(0, i-w+1) : i+1] {
				if !math.IsNaN(v) {
					sum, some = sum+v, some+1
				}
			}
			return sum / float64(some) // NaN if none has a value
		})
	}}, nil
}

func absolute(_ *compiler, _ int, args []*node) (*node, error) {
	return args[0].mapped(math.Abs), nil
}

func smaller(c *compiler, column int, args []*node) (*node, error) {
	return extreme(c, column, args, math.Min)
}

func larger(c *compiler, column int, args []*node) (*node, error) {
	return extreme(c, column, args, math.Max)
}

func extreme(c *compiler, column int, args []*node, choose func(a, b float64) float64) (*node, error) {
	a, b := args[0], args[1]
	if !a.bare && !b.bare && !a.unit.equal(b.unit) {
		return nil, expression.Errorf(column, "%s is %s and %s is %s: they cannot be compared", a.text, a.unit.named(), b.text, b.unit.named())
	}
	return c.combine("", operator{same: true, apply: choose}, a, b), nil
}
