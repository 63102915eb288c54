package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
)

// writeStacks writes the work by executor, place and class for tools that draw
// flame graphs.
func (l *listing) writeStacks(dir string, o summary.HotspotOptions, output string) error {
	s, err := open(l.env, dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	if wholeStacks(s, o) {
		return l.writeContexts(s, o, output)
	}
	stacks, err := summary.StacksOf(s, summary.Options{Filter: o.Filter, Units: o.Units})
	if err != nil {
		return err
	}
	err = toFile(l.env.Out, output, func(w io.Writer) error {
		if l.format == "collapsed" {
			return writeCollapsed(w, stacks)
		}
		return writePprof(w, s, stacks)
	})
	if err != nil {
		return err
	}
	noteFound(l.env, s, before)
	return nil
}

// writeContexts does it with the whole stacks on which tasks were executed.
func (l *listing) writeContexts(s *session.Session, o summary.HotspotOptions, output string) error {
	before := len(s.Warnings)
	contexts, err := summary.Contexts(s, o.Filter, o.Sort)
	if err != nil {
		return err
	}
	err = toFile(l.env.Out, output, func(w io.Writer) error {
		if l.format == "collapsed" {
			return collapseContexts(w, contexts)
		}
		return pprofContexts(w, s, contexts)
	})
	if err != nil {
		return err
	}
	noteFound(l.env, s, before)
	if n := s.Every(); n > 1 {
		l.env.note("estimates: the context of one event in %d was recorded, what is written is scaled by that", n)
	}
	return nil
}

// frames are the names of a stack, outermost first.
func frames(s *summary.Stack) []string {
	var out []string
	if s.Executor != "" {
		out = append(out, s.Executor)
	}
	if s.Site != nil {
		out = append(out, s.Site.Label())
	} else if s.Where != "" {
		out = append(out, s.Where)
	}
	return append(out, s.Class)
}

// frame makes a name fit for a line of frames: nothing that a terminal obeys,
// and no semicolon, which separates them.
var frame = strings.NewReplacer(";", ":", "\n", "?", "\r", "?")

// writeCollapsed writes a line per stack, frames outermost first, and the self
// work in microseconds.
func writeCollapsed(w io.Writer, stacks []summary.Stack) error {
	cpu := hasCPU(stacks)
	for i := range stacks {
		s := &stacks[i]
		names := frames(s)
		for k, n := range names {
			names[k] = frame.Replace(text.Clean(n, '?'))
		}
		work := s.SelfWall
		if cpu {
			work = s.SelfCPU
		}
		if _, err := fmt.Fprintf(w, "%s %d\n", strings.Join(names, ";"), (work+500)/1000); err != nil {
			return fmt.Errorf("writing stacks: %w", err)
		}
	}
	return nil
}

func hasCPU(stacks []summary.Stack) bool {
	for i := range stacks {
		if stacks[i].SelfCPU > 0 {
			return true
		}
	}
	return false
}

// pprofBuilder makes each function and place once.
type pprofBuilder struct {
	p     *profile.Profile
	known map[string]*profile.Location
}

// writePprof writes a profile as pprof reads it: of each stack the number of
// executions, self CPU time, self wall time and queue time.
func writePprof(w io.Writer, s *session.Session, stacks []summary.Stack) error {
	b := newPprof(s, "work of tasks by executor, place and class; not sampled", "executions")
	b.p.SampleType = append(append(b.p.SampleType, &profile.ValueType{Type: "queue", Unit: "nanoseconds"}), timeTypes...)
	b.setDefault(hasCPU(stacks))
	for i := range stacks {
		b.add(&stacks[i])
	}
	return b.write(w)
}

// timeTypes are the times of a profile's samples.
var timeTypes = []*profile.ValueType{{Type: "self_wall", Unit: "nanoseconds"}, {Type: "self_cpu", Unit: "nanoseconds"}}

// newPprof begins a profile; how says how its values came about, counts are its first ones.
func newPprof(s *session.Session, how string, counts ...string) *pprofBuilder {
	b := &pprofBuilder{known: map[string]*profile.Location{}, p: &profile.Profile{
		TimeNanos: s.Manifest.WallUnixNs, DurationNanos: max(0, int64(s.Duration())),
		Comments: []string{"session " + clean(s.Manifest.Session), how},
	}}
	for _, c := range counts {
		b.p.SampleType = append(b.p.SampleType, &profile.ValueType{Type: c, Unit: "count"})
	}
	return b
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
