package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
	"stackagent/shadow/view"
)

// unknownFrame stands for a frame that is not known.
const unknownFrame = "(frame not known)"

// cutFrame stands for the frames beyond those that a context holds.
const cutFrame = "(deeper frames not recorded)"

// wholeStacks tells whether what flame graphs show are whole stacks: those of
// executions, where they were recorded.
func wholeStacks(s *session.Session, o summary.HotspotOptions) bool {
	return s.HasContexts() && !o.Units
}

// listContexts prints the calling contexts of a session.
func (l *listing) listContexts(dir string, o summary.HotspotOptions) error {
	if err := l.noUnits(o); err != nil {
		return err
	}
	if !slices.Contains(summary.ContextOrders, o.Sort) {
		return usagef("--by context --sort %s: use one of %v", o.Sort, summary.ContextOrders)
	}
	if o.Metric != "" {
		return usagef("--metric does not go with --by context: contexts have wall and CPU time")
	}
	s, err := open(l.env, dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	rows, err := summary.Contexts(s, o.Filter, o.Sort)
	if err != nil {
		return err
	}
	noteFound(l.env, s, before)
	if err := printRows(l, refs(rows), contextColumns(s.Every())); err != nil || l.format != "table" {
		return err
	}
	if s.Every() > 1 {
		l.env.note("~ are estimates: the context of one event in %d was recorded", s.Every())
	}
	return nil
}

// noUnits refuses --units: contexts are those of single executions.
func (l *listing) noUnits(o summary.HotspotOptions) error {
	if o.Units {
		return usagef("--units does not go with --by context: contexts are those of single creations, submissions and executions")
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
		{Name: "stack", JSON: view.Absent, Kind: view.Name, Doc: "frames, outermost first, joined with ;", Value: func(c *summary.Context) view.Value { return view.NameOf(strings.Join(contextFrames(c), ";")) }},
		{Name: "frames", CSV: view.Absent, Kind: view.Object, Value: func(c *summary.Context) view.Value { return view.ObjectOf(framesOf(c)) }},
		{Title: "class and stack", Last: 3, Kind: view.Name, Show: stack},
	}
}

// contextLabels are the frames of a context, innermost first.
func contextLabels(c *summary.Context) []string {
	var out []string
	for _, f := range c.Frames {
		if f == nil {
			out = append(out, unknownFrame)
		} else {
			out = append(out, frameLabel(f))
		}
	}
	if c.Cut {
		out = append(out, cutFrame)
	}
	return out
}

// frameLabel is a place as Site.Label gives it, of which parts may not be known.
func frameLabel(f *session.Site) string {
	if f.Class == "" || f.Method == "" {
		return unknownFrame
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

// contextFrames are the names of a stack, outermost first, without lines, and
// the task's class at the end: what flame graphs show.
func contextFrames(c *summary.Context) []string {
	out := make([]string, 0, len(c.Frames)+2)
	if c.Cut {
		out = append(out, cutFrame)
	}
	for _, f := range slices.Backward(c.Frames) {
		name := unknownFrame
		if f != nil && f.Class != "" && f.Method != "" {
			name = f.Class + "." + f.Method
		}
		out = append(out, frame.Replace(text.Clean(name, '?')))
	}
	return append(out, frame.Replace(text.Clean(c.ClassName, '?')))
}

// collapseContexts writes a line per stack on which tasks were executed, and
// the self work in microseconds.
func collapseContexts(w io.Writer, contexts []summary.Context) error {
	cpu := contextsHaveCPU(contexts)
	for i := range contexts {
		c := &contexts[i]
		if !c.Executes() {
			continue
		}
		work := c.SelfWall
		if cpu {
			work = max(0, c.SelfCPU)
		}
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.Join(contextFrames(c), ";"), microseconds(work)); err != nil {
			return fmt.Errorf("writing stacks: %w", err)
		}
	}
	return nil
}

// microseconds rounds.
func microseconds(n units.Ns) int64 { return int64(n/1000) + int64(n%1000+500)/1000 }

func contextsHaveCPU(contexts []summary.Context) bool {
	return slices.ContainsFunc(contexts, func(c summary.Context) bool { return c.SelfCPU > 0 })
}

// pprofContexts writes the whole stacks as a profile for pprof.
func pprofContexts(w io.Writer, s *session.Session, contexts []summary.Context) error {
	how := "whole stacks; not sampled"
	if n := s.Every(); n > 1 {
		how = fmt.Sprintf("whole stacks; ESTIMATES: one event in %d was looked at, the values are scaled by that", n)
	}
	b := newPprof(s, how, "creations", "submissions", "executions")
	b.p.SampleType = append(b.p.SampleType, timeTypes...)
	b.setDefault(contextsHaveCPU(contexts))
	kinds := []string{store.ContextCreation, store.ContextSubmission, store.ContextExecution}
	for i := range contexts {
		c := &contexts[i]
		at := slices.Index(kinds, c.Kind)
		if at < 0 {
			continue // of a later version
		}
		values := make([]int64, len(kinds), len(kinds)+len(timeTypes))
		values[at] = c.Count
		b.p.Sample = append(b.p.Sample, &profile.Sample{Location: b.contextLocations(c),
			Value: append(values, orNothing(c.SelfWall), orNothing(c.SelfCPU))})
	}
	return b.write(w)
}

// contextLocations are the frames of a context, leaf first: the task's class,
// then what it was called from.
func (b *pprofBuilder) contextLocations(c *summary.Context) []*profile.Location {
	locations := []*profile.Location{b.location(c.ClassName, "", 0)}
	for _, f := range c.Frames {
		if f == nil || f.Class == "" || f.Method == "" {
			locations = append(locations, b.location(unknownFrame, "", 0))
			continue
		}
		locations = append(locations, b.location(f.Class+"."+f.Method, f.File, int64(f.Line)))
	}
	if c.Cut {
		locations = append(locations, b.location(cutFrame, "", 0))
	}
	return locations
}
