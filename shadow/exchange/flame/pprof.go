// Package flame writes the work of tasks for flame graphs: as pprof profiles and as
// collapsed stacks for flamegraph.pl.
package flame

import (
	"fmt"
	"io"
	"slices"

	"github.com/google/pprof/profile"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// clean makes a name of the program harmless.
func clean(s string) string { return text.Clean(s, '?') }

// pprofBuilder builds a profile with each function and location once.
type pprofBuilder struct {
	p     *profile.Profile
	known map[string]*profile.Location
}

// Pprof writes a pprof profile: for each stack the number of executions, self CPU time,
// self wall time and queue time.
func Pprof(w io.Writer, s *session.Session, stacks []summary.Stack) error {
	how := "not sampled"
	if slices.ContainsFunc(s.Warnings, session.IsEstimate) {
		how = "times of the fastest classes are ESTIMATES: a random part of their executions was timed"
	}
	b := newPprof(s, "work of tasks by executor, call site and class; "+how, "executions")
	b.p.SampleType = append(append(b.p.SampleType, &profile.ValueType{Type: "queue", Unit: "nanoseconds"}), timeTypes...)
	b.setDefault(hasCPU(stacks))
	for i := range stacks {
		b.add(&stacks[i])
	}
	return b.write(w)
}

// timeTypes are the times of a profile's samples.
var timeTypes = []*profile.ValueType{{Type: "self_wall", Unit: "nanoseconds"}, {Type: "self_cpu", Unit: "nanoseconds"}}

// newPprof begins a profile. The comment how describes its values; counts are the first value types.
func newPprof(s *session.Session, how string, counts ...string) *pprofBuilder {
	b := &pprofBuilder{known: map[string]*profile.Location{}, p: &profile.Profile{
		TimeNanos: s.Manifest.WallUnixNs, DurationNanos: max(0, int64(s.Duration())),
		Comments: comments(s, how),
	}}
	for _, c := range counts {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: c, Unit: "count"})
	}
	return b
}

// comments are what a profile says of itself.
func comments(s *session.Session, how string) []string {
	list := []string{"session " + clean(s.Manifest.Session), how}
	if l := s.Manifest.Labels.String(); l != "" {
		list = append(list, clean(l))
	}
	return list
}

// setDefault chooses the time that is shown first.
func (b *pprofBuilder) setDefault(cpu bool) {
	if b.p.DefaultSampleType = "self_wall"; cpu {
		b.p.DefaultSampleType = "self_cpu"
	}
}

func (b *pprofBuilder) write(w io.Writer) error {
	if err := b.p.CheckValid(); err != nil {
		return fmt.Errorf("making the profile: %w", err)
	}
	if err := b.p.Write(w); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}

func (b *pprofBuilder) add(s *summary.Stack) {
	locations := []*profile.Location{b.location(s.Class, "", 0)} // leaf first
	if x := s.Site; x != nil {
		locations = append(locations, b.location(x.Class+"."+x.Method, x.File, int64(x.Line)))
	} else if s.Where != "" {
		locations = append(locations, b.location(s.Where, "", 0))
	}
	if s.Executor != "" {
		locations = append(locations, b.location(s.Executor, "", 0))
	}
	b.p.Sample = append(b.p.Sample, &profile.Sample{Location: locations, Value: []int64{s.Count, orNothing(s.Queue), orNothing(s.SelfWall), orNothing(s.SelfCPU)}})
}

func orNothing(n units.Ns) int64 { return max(0, int64(n)) }

// location is a line of a function, each made once.
func (b *pprofBuilder) location(name, file string, line int64) *profile.Location {
	name, file = clean(name), clean(file)
	key := fmt.Sprintf("%s\x00%s\x00%d", name, file, line)
	if l := b.known[key]; l != nil {
		return l
	}
	fkey := fmt.Sprintf("%s\x00%s", name, file)
	var f *profile.Function
	if l := b.known[fkey]; l != nil {
		f = l.Line[0].Function
	} else {
		f = &profile.Function{ID: uint64(len(b.p.Function) + 1), Name: name, SystemName: name, Filename: file}
		b.p.Function = append(b.p.Function, f)
	}
	l := &profile.Location{ID: uint64(len(b.p.Location) + 1), Line: []profile.Line{{Function: f, Line: line}}}
	b.p.Location = append(b.p.Location, l)
	b.known[key], b.known[fkey] = l, l
	return l
}

// PprofContexts writes the whole stacks as a profile for pprof.
func PprofContexts(w io.Writer, s *session.Session, contexts []summary.Context) error {
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
			continue // written by a later version
		}
		values := make([]int64, len(kinds), len(kinds)+len(timeTypes))
		values[at] = c.Count
		b.p.Sample = append(b.p.Sample, &profile.Sample{Location: b.contextLocations(c),
			Value: append(values, orNothing(c.SelfWall), orNothing(c.SelfCPU))})
	}
	return b.write(w)
}

// contextLocations are the frames of a context, leaf first: the task's class, then its
// callers.
func (b *pprofBuilder) contextLocations(c *summary.Context) []*profile.Location {
	locations := []*profile.Location{b.location(c.ClassName, "", 0)}
	for _, f := range c.Frames {
		if f == nil || f.Class == "" || f.Method == "" {
			locations = append(locations, b.location(Unknown, "", 0))
			continue
		}
		locations = append(locations, b.location(f.Class+"."+f.Method, f.File, int64(f.Line)))
	}
	if c.Cut {
		locations = append(locations, b.location(Cut, "", 0))
	}
	return locations
}
