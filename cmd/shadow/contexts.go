package main

import (
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/flame"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
	"stackagent/shadow/view"
)

// wholeStacks reports whether what flame graphs show are whole stacks: those of
// executions, where they were recorded.
func wholeStacks(s *session.Session, units bool) bool {
	return s.HasContexts() && !units
}

// listContexts prints the calling contexts of a session.
func listContexts(l *listing.Flags, dir string, o summary.HotspotOptions) error {
	if err := noUnits(l, o); err != nil {
		return err
	}
	if !slices.Contains(summary.ContextOrders, o.Sort) {
		return console.Usagef("--by context --sort %s: use %s", o.Sort, text.OneOf(summary.ContextOrders))
	}
	if o.Metric != "" {
		return console.Usagef("--metric and --by context exclude each other: contexts have wall and CPU time")
	}
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	rows, err := summary.Contexts(s, o.Filter, o.Sort)
	if err != nil {
		return err
	}
	l.Env.NoteFound(s, before)
	if err := listing.Rows(l, listing.Refs(rows), contextColumns(s.Every())); err != nil || l.Format != "table" {
		return err
	}
	if s.Every() > 1 {
		l.Env.Note("~ are estimates: the context of one event in %d was recorded", s.Every())
	}
	return nil
}

// noUnits refuses --units: contexts are those of single executions.
func noUnits(l *listing.Flags, o summary.HotspotOptions) error {
	if o.Units {
		return console.Usagef("--units and --by context exclude each other: a context is that of a single creation, submission or execution")
	}
	return nil
}

// estimated marks a figure that stands for more than was looked at.
func estimated(text string, every uint64) string {
	if every > 1 && text != notAvailable {
		return "~" + text
	}
	return text
}

const notAvailable = "n/a"

// contextColumns are the columns of the listing; every is of how many events one was recorded.
func contextColumns(every uint64) []view.Column[*summary.Context] {
	wall := func(c *summary.Context) view.Value {
		if !c.Executes() {
			return view.Null
		}
		return view.IntOf(c.SelfWall)
	}
	cpu := func(c *summary.Context) view.Value {
		if !c.Executes() {
			return view.Null
		}
		return view.Measured(c.SelfCPU)
	}
	shown := func(of func(*summary.Context) view.Value, unit view.Unit) func(*summary.Context) string {
		return func(c *summary.Context) string {
			if of(c).IsNull() {
				return notAvailable
			}
			return estimated(unit.Show(of(c)), every)
		}
	}
	count := func(c *summary.Context) view.Value { return view.IntOf(c.Count) }
	stack := func(c *summary.Context) string {
		return strings.Join(append([]string{c.ClassName}, contextLabels(c)...), " < ")
	}
	return []view.Column[*summary.Context]{
		{Name: "kind", Title: "kind", Last: 2, Kind: view.Word, Doc: "creation, submission or execution", Value: func(c *summary.Context) view.Value { return view.WordOf(c.Kind) }},
		{Name: "class", Kind: view.Name, Doc: "class of the task", Value: func(c *summary.Context) view.Value { return view.NameOf(c.ClassName) }},
		{Name: "count", Title: "count", Last: 1, Kind: view.Int, Unit: view.Count, Doc: "events on this stack, an estimate if only some were recorded", Value: count, Show: shown(count, view.Count)},
		{Name: "sampled", Kind: view.Int, Doc: "events that were recorded", Value: func(c *summary.Context) view.Value { return view.IntOf(c.Sampled) }},
		{Name: "estimated", Kind: view.Bool, Doc: "count and times are estimates", Value: func(*summary.Context) view.Value { return view.BoolOf(every > 1) }},
		{Name: "self_wall_ns", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "self wall time of executions", Value: wall},
		{Name: "self_cpu_ns", Title: "self CPU", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "self CPU time of executions", Value: cpu, Show: shown(cpu, view.Ns)},
		{Title: "self wall", Kind: view.Int, Show: shown(wall, view.Ns)},
		{Name: "cut", Kind: view.Bool, Doc: "deeper frames were not recorded", Value: func(c *summary.Context) view.Value { return view.BoolOf(c.Cut) }},
		{Name: "stack", JSON: view.Absent, Kind: view.Name, Doc: "frames, outermost first, joined with ;", Value: func(c *summary.Context) view.Value { return view.NameOf(strings.Join(flame.Frames(c), ";")) }},
		{Name: "frames", CSV: view.Absent, Kind: view.Object, Holds: []*contextFrameJSON{}, Doc: "frames, innermost first; null: not known", Value: func(c *summary.Context) view.Value { return view.ObjectOf(framesOf(c)) }},
		{Title: "class and stack", Last: 3, Kind: view.Name, Show: stack},
	}
}

// contextLabels are the frames of a context, innermost first.
func contextLabels(c *summary.Context) []string {
	var out []string
	for _, f := range c.Frames {
		if f == nil {
			out = append(out, flame.Unknown)
		} else {
			out = append(out, frameLabel(f))
		}
	}
	if c.Cut {
		out = append(out, flame.Cut)
	}
	return out
}

// frameLabel is a place as Site.Label gives it, of which parts may not be known.
func frameLabel(f *session.Site) string {
	if f.Class == "" || f.Method == "" {
		return flame.Unknown
	}
	return f.Label()
}

type contextFrameJSON struct {
	Class  string `json:"class"`
	Method string `json:"method"`
	File   string `json:"file"`
	Line   int32  `json:"line"`
}

// framesOf are the frames of a context for JSON, innermost first; nil: not known.
func framesOf(c *summary.Context) []*contextFrameJSON {
	out := make([]*contextFrameJSON, len(c.Frames))
	for k, f := range c.Frames {
		if f != nil {
			out[k] = &contextFrameJSON{Class: f.Class, Method: f.Method, File: f.File, Line: f.Line}
		}
	}
	return out
}
