package formula

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"stackagent/internal/expression"
	"stackagent/internal/text"
)

// Set evaluates expressions over the monitors of one session.
type Set struct {
	samples    *Samples
	index      *index
	absentKeys []string
	defined    map[string]string // metrics of the user
}

// New is a set over samples.
func New(s *Samples) *Set {
	return &Set{samples: s, index: newIndex(s.Series), absentKeys: slices.Sorted(maps.Keys(s.Absent)), defined: map[string]string{}}
}

// Define names an expression. Later expressions can use the name.
func (s *Set) Define(name, source string) error {
	if len(name) > 80 || name == "" || !isNameStart([]rune(name)[0]) || strings.ContainsFunc(name, func(r rune) bool { return !isNamePart(r) }) {
		return fmt.Errorf("%q is no name for a metric: use letters, digits, _ and dots", text.OneLine(text.Cut(name, 80)))
	}
	if base, err := s.index.base(name); base == name && err == nil {
		return fmt.Errorf("a monitor is called %s: choose another name", name)
	}
	if named(name) != nil || name == "time" || name == "interval" {
		return fmt.Errorf("%s has a meaning already (--metrics lists the named metrics): choose another name", name)
	}
	if functions[name] != nil {
		return fmt.Errorf("a function is called %s: choose another name", name)
	}
	before, redefined := s.defined[name]
	s.defined[name] = source
	if _, err := s.compile(source); err != nil {
		if delete(s.defined, name); redefined {
			s.defined[name] = before
		}
		return fmt.Errorf("metric %s: %w", name, err)
	}
	return nil
}

// Metric is an expression's value in each sample.
type Metric struct {
	Name    string // as asked for
	Unit    string
	Layer   string // of its monitors; "": of several
	Doc     string
	Values  []float64 // NaN: no value
	From    []string  // the monitors that it is made of
	Guarded int       // samples without a value because of a tiny denominator
	Counter bool      // each value is the growth in its sample
}

// Metric evaluates an expression, or the name of a monitor or metric.
func (s *Set) Metric(source string) (*Metric, error) {
	c, err := s.compile(source)
	if err != nil {
		return nil, err
	}
	if c.root.logic {
		return nil, &expression.Error{Expr: source, Column: -1, Text: "this is a condition, which is true or false in each sample: use it with --where"}
	}
	if len(c.from) == 0 && !c.time {
		return nil, &expression.Error{Expr: source, Column: -1, Text: "this names no monitor: it is the same in every sample"}
	}
	m := &Metric{Name: source, Unit: c.root.unit.String(), Doc: c.doc, Counter: c.root.counter}
	if c.unitName != "" {
		m.Unit = c.unitName
	}
	m.Values = c.root.eval(s.samples.Len())
	m.Guarded = c.guarded
	for _, f := range c.from {
		m.From = append(m.From, f.Name)
	}
	m.Layer = layerOf(c.from)
	return m, nil
}

// Monitor is series i as a rate: a counter's growth per second, so that samples of different lengths compare; a level as it is.
func (s *Set) Monitor(i int) *Metric {
	c := &compiler{set: s}
	m := &s.index.monitors[i]
	n, err := c.sum(m.Name, []*monitor{m}, 0)
	if err == nil && n.counter {
		n, err = rate(c, 0, []*node{n})
	}
	out := &Metric{Name: m.Name, Unit: m.Unit, Layer: m.Layer, Doc: m.Doc, From: []string{m.Name}}
	if err != nil { // too many samples
		out.Values = each(s.samples.Len(), func(int) float64 { return math.NaN() })
		return out
	}
	out.Values = n.eval(s.samples.Len())
	if out.Unit = n.unit.String(); len(n.unit) == 0 && m.Unit != "" {
		out.Unit = m.Unit
		if m.Counter { // time in a time
			out.Unit = timePerTime
		}
	}
	return out
}

// timePerTime is the unit of a counter of time as a rate: 2 s/s are two threads all the time.
const timePerTime = "s/s"

// Rate is a metric as one per second, if it is the growth in each sample.
func (s *Set) Rate(m *Metric) (*Metric, error) {
	if !m.Counter {
		return m, nil
	}
	out, err := s.Metric("rate(" + m.Name + ")")
	if err != nil {
		return nil, err
	}
	out.Name, out.Doc = m.Name, m.Doc
	if out.Unit == "" {
		out.Unit = timePerTime
	}
	return out, nil
}

// Len is the number of monitors.
func (s *Set) Len() int { return len(s.index.monitors) }

func layerOf(from []*monitor) string {
	layer := ""
	for i, m := range from {
		if i > 0 && m.Layer != layer {
			return ""
		}
		layer = m.Layer
	}
	return layer
}

// Where chooses the samples in which a condition is true. Where it has no value, the sample is not chosen.
func (s *Set) Where(condition string) ([]bool, error) {
	c, err := s.compile(condition)
	if err != nil {
		return nil, err
	}
	if !c.root.logic {
		return nil, &expression.Error{Expr: condition, Column: -1, Text: "this is no condition: compare it with something, as in gc_running == 0"}
	}
	out := make([]bool, s.samples.Len())
	for i, v := range c.root.eval(len(out)) {
		out[i] = v == 1
	}
	return out, nil
}

// resolve compiles what a plain name means: a metric of the user, a monitor, or a metric of the library.
func (c *compiler) resolve(w word, column int) (*node, error) {
	if w.exact {
		if i, ok := c.set.index.exact[w.name]; ok {
			return c.sum(w.name, []*monitor{&c.set.index.monitors[i]}, column)
		}
	}
	if source, ok := c.set.defined[w.name]; ok && len(w.labels) == 0 {
		return c.nested(w.name, source, column)
	}
	base, err := c.set.index.base(w.name)
	if err != nil {
		return nil, expression.Errorf(column, "%v", err)
	}
	if base == "" {
		if n := c.builtin(w.name); n != nil {
			return n, nil
		}
		if m := named(w.name); m != nil && len(w.labels) == 0 {
			c.library++
			defer func() { c.library-- }()
			return c.nested(m.Name, m.Expr, column)
		}
		if c.library > 0 && c.set.absent(w.name) == "" {
			return nil, expression.Errorf(column, "this session has no monitor %s", w.name)
		}
		return nil, expression.Errorf(column, "%s", c.set.unknown(w.name))
	}
	chosen := c.set.index.choose(base, w.labels)
	if len(chosen) == 0 {
		return nil, expression.Errorf(column, "%s", c.set.index.noneChosen(base, w.labels))
	}
	return c.sum(base, chosen, column)
}

// builtin are the names of the samples themselves.
func (c *compiler) builtin(name string) *node {
	edges := c.set.samples.Edges
	var at func(i int) float64
	switch name {
	case "interval":
		at = func(i int) float64 { return float64(edges[i+1] - edges[i]) }
	case "time":
		at = func(i int) float64 { return float64(edges[i] - edges[0]) }
	default:
		return nil
	}
	c.time = true
	return &node{text: name, unit: unit{timeKey: 1}, eval: func(n int) []float64 { return each(n, at) }}
}

// nested compiles a metric inside another expression.
func (c *compiler) nested(name, source string, column int) (*node, error) {
	if c.nesting++; c.nesting > maxNested {
		return nil, expression.Errorf(column, "metric %s: more than %d metrics in each other", name, maxNested)
	}
	defer func() { c.nesting-- }()
	n, err := c.expression(source)
	if err != nil {
		var e *expression.Error
		if errors.As(err, &e) {
			err = errors.New(e.Text)
		}
		return nil, expression.Errorf(column, "metric %s: %v", name, err)
	}
	n.text = name
	return n, nil
}
