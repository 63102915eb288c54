package formula

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/expression"
)

// node is a checked part of an expression.
type node struct {
	text    string // in messages
	unit    unit
	logic   bool // 1: true, 0: false, NaN: not known
	bare    bool // only numbers without a unit: they take that of the other side
	counter bool // the growth in the sample
	eval    func(n int) []float64
	ends    func(n int) []float64 // at the ends of the samples; nil: not known
}

// compiler checks an expression and makes the functions that evaluate it.
type compiler struct {
	set      *Set
	words    []word // of the expression at hand
	root     *node
	from     []*monitor
	time     bool // depends on the samples themselves
	doc      string
	unitName string
	nodes    int
	nesting  int
	library  int // of these, metrics of the library
	cost     float64
	guarded  int
}

func (s *Set) compile(source string) (*compiler, error) {
	c := &compiler{set: s}
	root, err := c.expression(source)
	if err != nil {
		return nil, expression.In(source, err)
	}
	c.root = root
	if m := named(strings.TrimSpace(source)); m != nil && s.defined[m.Name] == "" && root.text == m.Name {
		c.doc, c.unitName = m.Doc, m.Unit
	} else if len(c.from) == 1 && root.text == c.from[0].base {
		c.doc = c.from[0].Doc
	}
	return c, nil
}

// expression parses and checks one expression.
func (c *compiler) expression(source string) (*node, error) {
	tree, words, err := expression.Parse(source, scan)
	if err != nil {
		return nil, err
	}
	outer := c.words
	c.words = words
	defer func() { c.words = outer }()
	return c.node(tree, 0)
}

func (c *compiler) node(n *expression.Node, depth int) (*node, error) {
	if c.nodes++; c.nodes > expression.MaxNodes {
		return nil, expression.Errorf(-1, "the expression and the metrics in it have more than %d parts", expression.MaxNodes)
	}
	if c.cost += float64(c.set.samples.Len()); c.cost > maxCost {
		return nil, expression.Errorf(-1, "the expression is too expensive for %d samples", c.set.samples.Len())
	}
	if depth > expression.MaxDepth {
		return nil, expression.Errorf(n.Column, "more than %d expressions in each other", expression.MaxDepth)
	}
	switch n.Kind {
	case expression.Number:
		return number(n.Value), nil
	case expression.Bool:
		return &node{text: n.Text, logic: true, eval: constant(n.Value)}, nil
	case expression.Name:
		return c.resolve(word{name: n.Text}, n.Column)
	case expression.Marked:
		return c.marked(n)
	case expression.Unary:
		return c.unary(n, depth)
	case expression.Binary:
		return c.binary(n, depth)
	case expression.Call:
		return c.call(n, depth)
	}
	return nil, expression.Errorf(n.Column, "not part of the language: use names, numbers, + - * /, == != < <= > >=, and, or, not, and functions (%s)",
		strings.Join(functionNames(), ", "))
}

func (c *compiler) marked(n *expression.Node) (*node, error) {
	if n.Mark < 0 || n.Mark >= len(c.words) {
		return nil, expression.Errorf(n.Column, "unexpected $")
	}
	w := c.words[n.Mark]
	if w.name != "" || w.exact {
		return c.resolve(w, n.Column)
	}
	out := number(w.value)
	out.unit, out.bare = w.unit, len(w.unit) == 0
	return out, nil
}

func number(v float64) *node {
	return &node{text: strconv.FormatFloat(v, 'g', -1, 64), unit: unit{}, bare: true, eval: constant(v)}
}

// sum is the sum of series.
func (c *compiler) sum(name string, chosen []*monitor, column int) (*node, error) {
	first := chosen[0]
	u, factor := parseUnit(first.Unit)
	for _, m := range chosen[1:] {
		if m.Unit != first.Unit || m.Counter != first.Counter {
			return nil, expression.Errorf(column, "%s and %s have different units: choose with a selector", first.Name, m.Name)
		}
		if first.Unit == "ratio" {
			return nil, expression.Errorf(column, "%s has %d series, whose sum means nothing: choose one with a selector", name, len(chosen))
		}
	}
	if c.cost += float64(len(chosen)) * float64(c.set.samples.Len()); c.cost > maxCost {
		return nil, expression.Errorf(column, "the expression is too expensive for %d samples", c.set.samples.Len())
	}
	for _, m := range chosen {
		if !slices.Contains(c.from, m) {
			c.from = append(c.from, m)
		}
	}
	total := func(of func(m *monitor) []float64) func(n int) []float64 {
		return func(n int) []float64 {
			return each(n, func(i int) float64 {
				total, some := 0.0, false
				for _, m := range chosen { // one that began later adds nothing before
					if v := at(of(m), i); !math.IsNaN(v) && !math.IsNaN(at(m.Values, i)) {
						total, some = total+v, true
					}
				}
				if !some {
					return math.NaN()
				}
				return total * factor
			})
		}
	}
	out := &node{text: name, unit: u, counter: first.Counter, eval: total(func(m *monitor) []float64 { return m.Values })}
	if !slices.ContainsFunc(chosen, func(m *monitor) bool { return m.Ends == nil }) {
		out.ends = total(func(m *monitor) []float64 { return m.Ends })
	}
	return out, nil
}

func at(values []float64, i int) float64 {
	if i < len(values) {
		return values[i]
	}
	return math.NaN()
}

func each(n int, f func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

func constant(v float64) func(int) []float64 {
	return func(n int) []float64 { return each(n, func(int) float64 { return v }) }
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
