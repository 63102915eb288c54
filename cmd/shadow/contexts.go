package main

import (
	"slices"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/exchange/flame"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// wholeStacks reports whether what flame graphs show are whole stacks: those of
// executions, where they were recorded.
func wholeStacks(s *session.Session, units bool) bool {
	return s.HasContexts() && !units
}

// listContexts prints the calling contexts of a session.
func listContexts(l *listflags.Flags, dir string, o summary.HotspotOptions) error {
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
	if err := view.Rows(&l.Printer, listing.Refs(rows), contextColumns(s.Every())); err != nil || l.Format != "table" {
		return err
	}
	if s.Every() > 1 {
		l.Note("~ are estimates: the context of one event in %d was recorded", s.Every())
	}
	return nil
}

// noUnits refuses --units: contexts are those of single executions.
func noUnits(l *listflags.Flags, o summary.HotspotOptions) error {
	if o.Units {
		return console.Usagef("--units and --by context exclude each other: a context is that of a single creation, submission or execution")
	}
	return nil
}

// estimated marks a figure that stands for more than was looked at.
func estimated(text string, every uint64) string {
	if every > 1 && text != view.NotAvailable {
		return "~" + text
	}
	return text
}

// contextColumns are the columns of the listing; every is of how many events one was recorded.
func contextColumns(every uint64) []listing.Column[*summary.Context] {
	wall := func(c *summary.Context) listing.Value {
		if !c.Executes() {
			return listing.Null
		}
		return listing.IntOf(c.SelfWall)
	}
	cpu := func(c *summary.Context) listing.Value {
		if !c.Executes() {
			return listing.Null
		}
		return listing.Measured(c.SelfCPU)
	}
	shown := func(of func(*summary.Context) listing.Value, unit listing.Unit) func(*summary.Context) string {
		return func(c *summary.Context) string {
			if of(c).IsNull() {
				return view.NotAvailable
			}
			return estimated(unit.Show(of(c)), every)
		}
	}
	count := func(c *summary.Context) listing.Value { return listing.IntOf(c.Count) }
	stack := func(c *summary.Context) string {
		return strings.Join(append([]string{c.ClassName}, contextLabels(c)...), " < ")
	}
	return []listing.Column[*summary.Context]{
		{Name: "kind", Title: "kind", Last: 2, Kind: listing.Word, Doc: "creation, submission or execution", Value: func(c *summary.Context) listing.Value { return listing.WordOf(c.Kind) }},
		{Name: "class", Kind: listing.Name, Doc: "class of the task", Value: func(c *summary.Context) listing.Value { return listing.NameOf(c.ClassName) }},
		{Name: "count", Title: "count", Last: 1, Kind: listing.Int, Unit: listing.Count, Doc: "events on this stack, an estimate if only some were recorded", Value: count, Show: shown(count, listing.Count)},
		{Name: "sampled", Kind: listing.Int, Doc: "events that were recorded", Value: func(c *summary.Context) listing.Value { return listing.IntOf(c.Sampled) }},
		{Name: "estimated", Kind: listing.Bool, Doc: "count and times are estimates", Value: func(*summary.Context) listing.Value { return listing.BoolOf(every > 1) }},
		{Name: "self_wall_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "self wall time of executions", Value: wall},
		{Name: "self_cpu_ns", Title: "self CPU", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "self CPU time of executions", Value: cpu, Show: shown(cpu, listing.Ns)},
		{Title: "self wall", Kind: listing.Int, Show: shown(wall, listing.Ns)},
		{Name: "cut", Kind: listing.Bool, Doc: "deeper frames were not recorded", Value: func(c *summary.Context) listing.Value { return listing.BoolOf(c.Cut) }},
		{Name: "stack", JSON: listing.Absent, Kind: listing.Name, Doc: "frames, outermost first, joined with ;", Value: func(c *summary.Context) listing.Value { return listing.NameOf(strings.Join(flame.Frames(c), ";")) }},
		{Name: "frames", CSV: listing.Absent, Kind: listing.Object, Holds: []*contextFrameJSON{}, Doc: "frames, innermost first; null: not known", Value: func(c *summary.Context) listing.Value { return listing.ObjectOf(framesOf(c)) }},
		{Title: "class and stack", Last: 3, Kind: listing.Name, Show: stack},
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
