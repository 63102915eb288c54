package formula

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"stackagent/internal/text"
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

func (s *Set) compile(expression string) (*compiler, error) {
	c := &compiler{set: s}
	root, err := c.expression(expression)
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Expr = expression
		}
		return nil, err
	}
	c.root = root
	if m := named(strings.TrimSpace(expression)); m != nil && s.defined[m.Name] == "" && root.text == m.Name {
		c.doc, c.unitName = m.Doc, m.Unit
	} else if len(c.from) == 1 && root.text == c.from[0].base {
		c.doc = c.from[0].Doc
	}
	return c, nil
}

// expression parses and checks one expression.
func (c *compiler) expression(expression string) (*node, error) {
	if len(expression) > MaxLength {
		return nil, errorAt(-1, "the expression is longer than %d characters", MaxLength)
	}
	if strings.TrimSpace(expression) == "" {
		return nil, errorAt(-1, "the expression is empty")
	}
	if text.Clean(expression, '?') != expression {
		return nil, errorAt(-1, "the expression has control characters")
	}
	source, words, err := scan(expression)
	if err != nil {
		return nil, err
	}
	if column := tooDeep(source); column >= 0 {
		return nil, errorAt(column, "more than %d brackets or signs in each other", maxDepth)
	}
	tree, err := parser.ParseWithConfig(source, &conf.Config{MaxNodes: maxNodes, DisableIfOperator: true})
	if err != nil {
		return nil, parseError(err)
	}
	outer := c.words
	c.words = words
	defer func() { c.words = outer }()
	return c.node(tree.Node, 0)
}

// tooDeep is where brackets or signs nest too deep for the parser, which recurses; below 0: nowhere.
func tooDeep(source string) int {
	depth, signs := 0, 0
	for i, r := range []rune(source) {
		switch r {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case '-', '+', '!':
			signs++
		case ' ':
		default:
			signs = 0
		}
		if depth+signs > maxDepth {
			return i
		}
	}
	return -1
}

// parseError is the parser's message, without its drawing of the place.
func parseError(err error) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return errorAt(-1, "%s", text.OneLine(err.Error()))
	}
	message := e.Message
	if strings.Contains(message, "exceeds maximum allowed nodes") {
		message = "the expression has more than " + strconv.Itoa(maxNodes) + " parts"
	}
	message = strings.ReplaceAll(message, "unexpected token EOF", "the expression ends too early")
	return errorAt(e.Column, "%s", text.OneLine(message))
}

func column(n ast.Node) int { return n.Location().From }

func (c *compiler) node(n ast.Node, depth int) (*node, error) {
	if c.nodes++; c.nodes > maxNodes {
		return nil, errorAt(-1, "the expression and the metrics in it have more than %d parts", maxNodes)
	}
	if c.cost += float64(c.set.samples.Len()); c.cost > maxCost {
		return nil, errorAt(-1, "the expression is too expensive for %d samples", c.set.samples.Len())
	}
	if depth > maxDepth {
		return nil, errorAt(column(n), "more than %d expressions in each other", maxDepth)
	}
	switch n := n.(type) {
	case *ast.IntegerNode:
		return number(float64(n.Value)), nil
	case *ast.FloatNode:
		return number(n.Value), nil
	case *ast.BoolNode:
		return &node{text: strconv.FormatBool(n.Value), logic: true, eval: constant(truth(n.Value))}, nil
	case *ast.IdentifierNode:
		return c.identifier(n)
	case *ast.UnaryNode:
		return c.unary(n, depth)
	case *ast.BinaryNode:
		return c.binary(n, depth)
	case *ast.CallNode:
		name := ""
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
			name = callee.Value
		}
		return c.call(name, n.Arguments, column(n), depth)
	case *ast.BuiltinNode:
		return c.call(n.Name, n.Arguments, column(n), depth)
	}
	return nil, errorAt(column(n), "not part of the language: use names, numbers, + - * /, == != < <= > >=, and, or, not, and functions (%s)",
		strings.Join(functionNames(), ", "))
}

func (c *compiler) identifier(n *ast.IdentifierNode) (*node, error) {
	if !strings.HasPrefix(n.Value, "$") {
		return c.resolve(word{name: n.Value}, column(n))
	}
	i := strings.Index(digits, n.Value[1:])
	if i < 0 || i >= len(c.words) {
		return nil, errorAt(column(n), "unexpected $")
	}
	w := c.words[i]
	if w.name != "" || w.exact {
		return c.resolve(w, column(n))
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
			return nil, errorAt(column, "%s and %s have different units: choose with a selector", first.Name, m.Name)
		}
		if first.Unit == "ratio" {
			return nil, errorAt(column, "%s has %d series, whose sum means nothing: choose one with a selector", name, len(chosen))
		}
	}
	if c.cost += float64(len(chosen)) * float64(c.set.samples.Len()); c.cost > maxCost {
		return nil, errorAt(column, "the expression is too expensive for %d samples", c.set.samples.Len())
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
