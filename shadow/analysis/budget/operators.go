package budget

import (
	"fmt"
	"math"

	"stackagent/granularity/estimate"
	"stackagent/internal/expression"
	"stackagent/internal/units"
)

func (c *compiler) unary(n *expression.Node, depth int) (*node, error) {
	of, err := c.node(n.Args[0], depth+1)
	if err != nil {
		return nil, err
	}
	not := n.Text == "not"
	switch {
	case not && !of.logic:
		return nil, expression.Errorf(n.Column, "not wants a condition, but %s is a number", of.text)
	case !not && of.logic:
		return nil, expression.Errorf(n.Column, "%s is a condition, not a number", of.text)
	case n.Text == "+":
		return of, nil
	}
	out := *of
	out.name, out.text = nil, n.Text+" "+of.text
	out.eval = func(f *Figures) value {
		v := of.eval(f)
		switch {
		case v.why != "":
			return v
		case not:
			return truth(v.v == 0)
		}
		return value{v: -v.v, margin: v.swapped()}
	}
	return &out, nil
}

var comparisons = map[string]func(a, b float64) bool{
	"==": func(a, b float64) bool { return a == b }, "!=": func(a, b float64) bool { return a != b },
	"<": func(a, b float64) bool { return a < b }, "<=": func(a, b float64) bool { return a <= b },
	">": func(a, b float64) bool { return a > b }, ">=": func(a, b float64) bool { return a >= b },
}

var arithmetic = map[string]func(a, b float64) float64{
	"+": func(a, b float64) float64 { return a + b }, "-": func(a, b float64) float64 { return a - b },
	"*": func(a, b float64) float64 { return a * b }, "/": func(a, b float64) float64 { return a / b },
}

func (c *compiler) binary(n *expression.Node, depth int) (*node, error) {
	a, err := c.node(n.Args[0], depth+1)
	if err != nil {
		return nil, err
	}
	b, err := c.node(n.Args[1], depth+1)
	if err != nil {
		return nil, err
	}
	op := n.Text
	out := &node{text: expression.Shorten(a.text + " " + op + " " + b.text)}
	if op == "and" || op == "or" {
		for _, side := range []*node{a, b} {
			if !side.logic {
				return nil, expression.Errorf(n.Column, "%s wants conditions, but %s is a number: compare it with something", op, side.text)
			}
		}
		out.logic, out.eval = true, logic(op, a, b)
		return out, nil
	}
	for _, side := range []*node{a, b} {
		if side.logic {
			return nil, expression.Errorf(n.Column, "%s is a condition, not a number", side.text)
		}
	}
	compares := comparisons[op] != nil
	switch {
	case !compares && arithmetic[op] == nil:
		return nil, expression.Errorf(n.Column, "the operator %s is not part of the language: use + - * /, == != < <= > >=, and, or, not", op)
	case op == "*" || op == "/":
		if out.unit, err = product(op, a, b, n.Column); err != nil {
			return nil, err
		}
		out.bare = a.bare && b.bare
	case !a.bare && !b.bare && a.unit != b.unit:
		return nil, expression.Errorf(n.Column, "%s is %s and %s is %s: they have no common unit", a.text, unitText(a.unit), b.text, unitText(b.unit))
	case a.unit != "" && b.bare || b.unit != "" && a.bare:
		if err := c.bareAgainst(n, a, b); err != nil {
			return nil, err
		}
		out.unit = a.unit + b.unit // one of them is empty
	default:
		out.unit, out.bare = a.unit, a.bare && b.bare
	}
	out.logic = compares
	out.eval = func(f *Figures) value {
		x, y := a.eval(f), b.eval(f)
		switch {
		case x.why != "":
			return x
		case y.why != "":
			return y
		case compares:
			return compared(op, x, y)
		}
		return calculated(op, x, y)
	}
	if out.logic {
		out.unit = ""
	}
	return out, nil
}

// bareAgainst refuses a time against a number without a unit, of which nobody knows whether it is meant in nanoseconds; 0 is clear.
func (c *compiler) bareAgainst(n *expression.Node, a, b *node) error {
	if b.bare {
		a, b = b, a
	}
	if a.eval(nil).v == 0 && a.eval(nil).why == "" {
		return nil
	}
	example := "50ms"
	if b.unit == "bytes" {
		example = "1MiB"
	}
	return expression.Errorf(n.Column, "%s is %s, and %s has no unit: write one, as in %s", b.text, unitText(b.unit), a.text, example)
}

// product is the unit of a product or quotient: only what can be compared with a figure.
func product(op string, a, b *node, column int) (string, error) {
	switch {
	case b.unit == "":
		return a.unit, nil
	case op == "*" && a.unit == "":
		return b.unit, nil
	case op == "/" && a.unit == b.unit:
		return "", nil
	}
	return "", expression.Errorf(column, "%s %s %s: the result is neither a time nor a size nor a plain number", a.text, op, b.text)
}

func unitText(unit string) string {
	switch unit {
	case "ns":
		return "a time"
	case "bytes":
		return "a size"
	}
	return "a plain number"
}

// logic is and, or: false and unknown is false, true or unknown is true.
func logic(op string, a, b *node) func(*Figures) value {
	decides := 0.0
	if op == "or" {
		decides = 1
	}
	return func(f *Figures) value {
		x, y := a.eval(f), b.eval(f)
		for _, v := range []value{x, y} {
			if v.why == "" && v.v == decides {
				return v
			}
		}
		if x.why != "" {
			return x
		}
		return y
	}
}

// within(figure, 10%) holds if the mean differs from the baseline's by no more. If it differs by more, but the interval of the
// change includes 0, nobody can say whether it is real.
func (c *compiler) within(n *expression.Node, depth int) (*node, error) {
	if len(n.Args) != 3 {
		return nil, expression.Errorf(n.Column, "within wants a figure and a share, as in within(cpu_ns.sum, 10%%)")
	}
	x, err := c.node(n.Args[1], depth+1)
	if err != nil {
		return nil, err
	}
	limit, err := c.node(n.Args[2], depth+1)
	if err != nil {
		return nil, err
	}
	if x.name == nil {
		return nil, expression.Errorf(n.Column, "within: %s is no figure of a session", x.text)
	}
	share := limit.eval
	if !limit.bare || !(share(nil).v > 0) {
		return nil, expression.Errorf(n.Column, "within: %s is no share above 0: write one as 10%%", limit.text)
	}
	name, most := *x.name, share(nil).v
	add(&c.out.Baseline, name)
	out := &node{text: expression.Shorten("within(" + x.text + ", " + limit.text + ")"), logic: true}
	out.eval = func(f *Figures) value {
		change := f.Change(name)
		if change.Why != "" {
			return value{why: change.Why}
		}
		if math.Abs(change.Mean) > most && change.Known() && change.Contains(0) {
			return value{why: "the runs differ too much from one another to tell: repeat them more often"}
		}
		return truth(math.Abs(change.Mean) <= most)
	}
	return out, nil
}

// Change is a figure against the baseline.
type Change struct {
	estimate.Interval        // of the relative change: 0.1 is 10 % more
	Why               string // not available
}

// Text is the change in words.
func (c Change) Text() string {
	switch {
	case c.Why != "":
		return "change not available: " + c.Why
	case c.Known():
		return fmt.Sprintf("%s (%s to %s at 95 %%)", units.FormatChange(c.Mean), units.FormatChange(c.Low), units.FormatChange(c.High))
	}
	return units.FormatChange(c.Mean)
}
