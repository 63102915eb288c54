package summary

import (
	"cmp"

	"stackagent/granularity"
	"stackagent/internal/wire"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// sumsAbove is the number of recorded executions that are read in about two seconds.
const sumsAbove = 20_000_000

// fromSums reports whether the sums of the parts answer: the session is large, and nothing is asked that needs single executions.
func (a *analysis) fromSums() bool {
	o := &a.opts
	return !o.Exact && !o.Shapes && !o.PerThread && !o.Units && o.Filter.Trace == "" && unit.Recorded(&a.s.Manifest) > cmp.Or(o.SumsAbove, sumsAbove)
}

// SumsText says how exact a summary from sums is and how to get an exact one, "" for any other.
func SumsText(s *Summary) string {
	if !s.FromSums {
		return ""
	}
	if s.Metrics[granularity.Wall].Timed > 0 {
		return "quantiles to 0.8 % (~), from the sums of the parts; counts are exact; --exact reads every execution that is recorded"
	}
	return "quantiles to 0.8 % (~), from the sums of the parts; counts, sums, means and extremes are exact; --exact reads every execution"
}

// sums adds what the executions of a part add up to.
func (g *gathered) sums(x *store.Sums) {
	g.fromSums = true
	for i := range x.Classes {
		c := &x.Classes[i]
		if to := g.classOf(c.Class); to.passes {
			g.class(to, c)
		}
	}
}

func (g *gathered) class(to *classGroup, c *store.ClassSums) {
	all := granularity.Counted{Threads: c.Threads}
	for _, f := range c.Flags {
		flags, n := wire.ExecutionFlags(f.Flags), int64(f.Count)
		all.Executions += n
		for _, x := range []struct {
			to *int64
			is bool
		}{
			{&all.Nested, f.Nested}, {&all.Threw, flags&wire.Threw != 0}, {&all.Running, flags&wire.Running != 0},
			{&all.Cut, flags&wire.Cut != 0}, {&all.Virtual, flags&wire.Virtual != 0}, {&all.CreateUnseen, flags&wire.CreationUnseen != 0},
		} {
			if x.is {
				*x.to += n
			}
		}
	}
	to.AddCounted(&all)
	work := make([]store.WorkSums, len(g.b.metrics.list))
	for _, w := range c.Work {
		if m, ok := g.b.metrics.ofSummary(w.Metric); ok {
			work[m] = w
		}
	}
	for m := range work {
		to.AddWork(granularity.Metric(m), all.Executions, &work[m].Histogram)
	}
}
