package budget

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/expression"
	"stackagent/internal/text"
)

// Expr is a checked condition over figures.
type Expr struct {
	Text  string
	Names []Name // of the session, in the order of their first use
	// Baseline are the figures of the baseline that it needs.
	Baseline []Name
	root     *node
}

// node is a checked part of an expression.
type node struct {
	text  string
	unit  string
	bare  bool // a number without a unit: it takes that of the other side
	logic bool
	name  *Name // it is this figure
	eval  func(*Figures) value
}

// value is a number, or the truth of a condition (1, 0), or not available.
type value struct {
	v   float64
	why string // not available
	margin
}

func number64(v float64) value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return value{why: "a division by zero"}
	}
	return value{v: v}
}

func truth(b bool) value {
	if b {
		return value{v: 1}
	}
	return value{}
}

// compiler checks an expression.
type compiler struct {
	quantities []quantity
	out        *Expr
}

// Parse checks a condition.
func Parse(source string) (*Expr, error) {
	c := &compiler{out: &Expr{Text: source}}
	err := c.parse(source)
	if err == nil && !c.out.root.logic {
		err = expression.Errorf(-1, "this is a number, not a condition: compare it with something, as in queue_ns.p99 > 50ms")
	}
	if err == nil && len(c.out.Names)+len(c.out.Baseline) == 0 {
		err = expression.Errorf(-1, "this names no figure: it is the same for every session")
	}
	if err != nil {
		return nil, expression.In(source, err)
	}
	return c.out, nil
}

func (c *compiler) parse(source string) error {
	tree, quantities, err := expression.Parse(source, scan)
	if err != nil {
		return err
	}
	c.quantities = quantities
	c.out.root, err = c.node(tree, 0)
	return err
}

func (c *compiler) node(n *expression.Node, depth int) (*node, error) {
	if depth > expression.MaxDepth {
		return nil, expression.Errorf(n.Column, "more than %d expressions in each other", expression.MaxDepth)
	}
	switch n.Kind {
	case expression.Number:
		return constant(n.Value), nil
	case expression.Unary:
		return c.unary(n, depth)
	case expression.Binary:
		return c.binary(n, depth)
	case expression.Call:
		if callee := n.Args[0]; callee.Kind == expression.Name && callee.Text == "within" {
			return c.within(n, depth)
		}
		return c.figure(n)
	case expression.Marked:
		return c.quantity(n)
	case expression.Name, expression.Member:
		return c.figure(n)
	}
	return nil, expression.Errorf(n.Column, `not part of the language: use figures (queue_ns.p99, class("com.acme.*").cpu_ns.max, baseline.cpu_ns.sum), numbers, + - * /, comparisons, and, or, not, within(figure, 10%%)`)
}

func constant(v float64) *node {
	return &node{text: strconv.FormatFloat(v, 'g', -1, 64), bare: true, eval: func(*Figures) value { return number64(v) }}
}

func (c *compiler) quantity(n *expression.Node) (*node, error) {
	if n.Mark < 0 || n.Mark >= len(c.quantities) {
		return nil, expression.Errorf(n.Column, "unexpected $")
	}
	q := c.quantities[n.Mark]
	return &node{text: q.text, unit: q.unit, bare: q.unit == "", eval: func(*Figures) value { return number64(q.value) }}, nil
}

// figure is a name with dots, which may begin with baseline and a selector.
func (c *compiler) figure(n *expression.Node) (*node, error) {
	name, baseline, err := c.name(n)
	if err != nil {
		return nil, err
	}
	switch {
	case name.Path == "":
		return nil, expression.Errorf(n.Column, "%s is no figure: name one of it, as in %s.cpu_ns.max", name, name)
	case len(name.Glob) > maxText || len(name.Path) > maxText:
		return nil, expression.Errorf(n.Column, "a name is longer than %d characters", maxText)
	}
	if _, err := path.Match(name.Glob, ""); err != nil {
		return nil, expression.Errorf(n.Column, "%q is no glob: %v", name.Glob, err)
	}
	out := &node{text: name.String(), unit: name.Unit(), name: &name}
	if baseline {
		out.text = "baseline." + out.text
		out.name = nil
		add(&c.out.Baseline, name)
		out.eval = func(f *Figures) value { return f.Baseline.value(name) }
		return out, nil
	}
	add(&c.out.Names, name)
	out.eval = func(f *Figures) value { return f.value(name) }
	return out, nil
}

func add(names *[]Name, n Name) {
	if !slices.Contains(*names, n) {
		*names = append(*names, n)
	}
}

// name reads a name from the outside in: the last member first.
func (c *compiler) name(n *expression.Node) (name Name, baseline bool, err error) {
	var parts []string
	for {
		switch n.Kind {
		case expression.Member:
			if !isPath(n.Text) {
				return name, false, expression.Errorf(n.Column, "names have parts with dots in between, as in tasks.executions")
			}
			parts, n = append(parts, n.Text), n.Args[0]
			continue
		case expression.Marked, expression.Number:
			return name, false, expression.Errorf(n.Column, "a number has no parts")
		case expression.Name:
			parts = append(parts, n.Text)
		case expression.Call:
			if name.Selector, baseline, err = c.selector(n); err != nil {
				return name, false, err
			}
		default:
			return name, false, expression.Errorf(n.Column, `names begin with a word, or with a selector such as class("com.acme.*")`)
		}
		break
	}
	slices.Reverse(parts)
	if len(parts) > 0 && parts[0] == "baseline" && name.Kind == All {
		parts, baseline = parts[1:], true
	}
	if len(parts) > 0 && parts[0] == Units && name.Kind == All {
		parts, name.Kind = parts[1:], Units
	}
	if len(parts) > 0 && parts[0] == "metrics" { // as it stands in the JSON
		parts = parts[1:]
	}
	name.Path = strings.Join(parts, ".")
	return name, baseline, nil
}

// isPath reports whether a part of a name is a plain word.
func isPath(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !isWord(r) })
}

func (c *compiler) selector(n *expression.Node) (s Selector, baseline bool, err error) {
	kind := ""
	switch callee := n.Args[0]; callee.Kind {
	case expression.Name:
		kind = callee.Text
	case expression.Member: // baseline.class("...")
		if of := callee.Args[0]; of.Kind == expression.Name && of.Text == "baseline" {
			kind, baseline = callee.Text, true
		}
	}
	if !selectors[kind] {
		return s, false, expression.Errorf(n.Column, `unknown function %s: there are class, unit, executor and site, as in class("com.acme.*").cpu_ns.max, and within(figure, 10%%)`, text.OneLine(text.Cut(kind, 40)))
	}
	if len(n.Args) == 2 {
		if glob := n.Args[1]; glob.Kind == expression.Quoted && glob.Text != "" {
			return Selector{kind, glob.Text}, baseline, nil
		}
	}
	return s, false, expression.Errorf(n.Column, `%s wants one glob in quotes, as in %s("com.acme.*")`, kind, kind)
}
