package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/google/pprof/profile"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
	"stackagent/shadow/view/table"
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
	total := len(rows)
	if n := l.limit(); n > 0 && n < total {
		rows = rows[:n]
	}
	switch l.format {
	case "json":
		return writeJSON(l.env.Out, contextsJSON(rows, s.Every()))
	case "csv":
		return l.contextsCSV(rows, s.Every())
	}
	if err := l.render(contextTable(rows, s.Every()), total); err != nil {
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

func contextTable(rows []summary.Context, every uint64) *table.Table {
	t := table.New(right("self CPU"), right("self wall"), right("count"), table.Column{Title: "kind"}, table.Column{Title: "class and stack", Flexible: true})
	for i := range rows {
		c := &rows[i]
		cpu, wall := notAvailable, notAvailable
		if c.Executes() {
			wall = units.FormatNs(c.SelfWall)
			if c.SelfCPU.Measured() {
				cpu = units.FormatNs(c.SelfCPU)
			}
		}
		t.Row(estimated(cpu, every), estimated(wall, every), estimated(units.FormatExact(c.Count), every), c.Kind,
			strings.Join(append([]string{c.ClassName}, contextLabels(c)...), " < "))
	}
	return t
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

type contextJSON struct {
	Kind      string              `json:"kind"`
	Class     string              `json:"class"`
	Count     int64               `json:"count"`
	Sampled   int64               `json:"sampled"`
	Estimated bool                `json:"estimated"`
	SelfWall  *int64              `json:"self_wall_ns"`
	SelfCPU   *int64              `json:"self_cpu_ns"`
	Cut       bool                `json:"cut"`
	Frames    []*contextFrameJSON `json:"frames"` // innermost first; null: not known
}

func contextsJSON(rows []summary.Context, every uint64) []contextJSON {
	out := make([]contextJSON, len(rows))
	for i := range rows {
		c := &rows[i]
		x := contextJSON{Kind: c.Kind, Class: c.ClassName, Count: c.Count, Sampled: c.Sampled, Estimated: every > 1, Cut: c.Cut,
			Frames: make([]*contextFrameJSON, len(c.Frames))}
		if c.Executes() {
			x.SelfWall = (*int64)(&c.SelfWall)
			if c.SelfCPU.Measured() {
				x.SelfCPU = (*int64)(&c.SelfCPU)
			}
		}
		for k, f := range c.Frames {
			if f != nil {
				x.Frames[k] = &contextFrameJSON{Class: f.Class, Method: f.Method, File: f.File, Line: f.Line}
			}
		}
		out[i] = x
	}
	return out
}

func (l *listing) contextsCSV(rows []summary.Context, every uint64) error {
	header := []string{"kind", "class", "count", "sampled", "estimated", "self_wall_ns", "self_cpu_ns", "cut", "stack"}
	var cells [][]string
	for i := range rows {
		c := &rows[i]
		wall, cpu := "", ""
		if c.Executes() {
			wall = strconv.FormatInt(int64(c.SelfWall), 10)
			if c.SelfCPU.Measured() {
				cpu = strconv.FormatInt(int64(c.SelfCPU), 10)
			}
		}
		cells = append(cells, []string{csvName(c.Kind), csvName(c.ClassName), strconv.FormatInt(c.Count, 10), strconv.FormatInt(c.Sampled, 10),
			strconv.FormatBool(every > 1), wall, cpu, strconv.FormatBool(c.Cut), csvName(strings.Join(contextFrames(c), ";"))})
	}
	return writeCSV(l.env.Out, header, cells)
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
