package page

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// Options of a page.
type Options struct {
	// Progress is called, from several goroutines, with how far a reading is; may be nil.
	Progress func(what string, done, total uint64)
}

// The time axis: buckets of the bands, and at most so many slots.
const (
	buckets = 240
	slots   = 120
)

// builder makes a Data.
type builder struct {
	s     *session.Session
	sum   *summary.Summary
	tasks *summary.Summary // of what the cube has: units of work, or executions
	work  *summary.Work
	opts  Options
	axis  axis
	data  *Data

	classes *classNames
	threads *threadNames
}

// Build makes the data of a session. sum was built from it, with what figures need.
func Build(s *session.Session, sum *summary.Summary, o Options) (*Data, error) {
	b := &builder{s: s, sum: sum, tasks: sum, opts: o, axis: newAxis(sum.StartNs, sum.EndNs), data: &Data{Missing: map[string]string{}}}
	if sum.InUnits != nil {
		b.tasks = sum.InUnits
	}
	b.classes, b.threads = b.classNames(), b.threadNames()
	b.session()
	b.data.Verdict = verdictOf(sum)
	for _, step := range []func() error{b.divide, b.activity, b.waits, b.contexts, b.vertical} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("the page of session %s: %w", sum.Session, err)
		}
	}
	b.virtual()
	return b.data, nil
}

// progress reports a step that has no finer progress.
func (b *builder) progress(what string) {
	if b.opts.Progress != nil {
		b.opts.Progress(what, 0, 0)
	}
}

// missing says why a part of the page is not there.
func (b *builder) missing(what, why string) { b.data.Missing[what] = printable(why) }

// axis is the time axis: buckets of equal length, the last of which may reach beyond the end.
type axis struct {
	from  units.MonoNs
	width units.Ns // of a bucket
}

func newAxis(from, to units.MonoNs) axis {
	return axis{from, max(1, (units.Ns(to-from)+buckets-1)/buckets)}
}

// at is a moment as nanoseconds since the session's start.
func (a axis) at(t units.MonoNs) float64 { return float64(t - a.from) }

// grid divides the axis into parts of a whole number of buckets each.
func (a axis) grid(parts int) granularity.Grid {
	return granularity.Grid{From: a.from, Width: a.width * units.Ns(buckets/parts), N: parts}
}
