package page

import (
	"fmt"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
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
	for _, step := range []func() error{b.divide, b.activity, b.waits, b.contexts} {
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

// bucket is the bucket of a moment; moments outside are in the first or in the last one.
func (a axis) bucket(t units.MonoNs) int {
	return int(min(max(0, units.Ns(t-a.from)/a.width), buckets-1))
}

// slot is the slot, of the most that there may be, of a moment at which something ended: the end of a slot is in it.
func (a axis) slot(t units.MonoNs) int { return a.bucket(t-1) * slots / buckets }

// weights are the times of a span in each slot, of at least 1 ns in all.
func (a axis) weights(from, to units.MonoNs) []float64 {
	out, width := make([]float64, slots), a.width*buckets/slots
	if to <= from {
		out[a.slot(to)] = 1
		return out
	}
	first, last := a.slot(from+1), a.slot(to)
	for i := first; i <= last; i++ {
		begin, end := from, to // beyond the ends of the axis, too
		if i > first {
			begin = a.from + units.MonoNs(width)*units.MonoNs(i)
		}
		if i < last {
			end = a.from + units.MonoNs(width)*units.MonoNs(i+1)
		}
		out[i] = float64(end - begin)
	}
	return out
}
