package summary

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// virtualThreads is the id of all virtual threads that have no row of their own: no
// thread has it.
const virtualThreads = 0

// summaries adds what the agent summarised.
func (b *builder) summaries() error {
	if b.src.Summaries == nil {
		return nil
	}
	return b.reading("reading the summaries", b.src.Summaries(func(x *session.Summary) error {
		id, wanted := x.Class, true
		if b.src.Groups != nil {
			id, wanted = b.src.Groups.OfSummary(x)
		}
		if !wanted {
			return nil
		}
		g := b.all.classOf(id)
		if x.Executions == 0 || !g.passes {
			return nil
		}
		s := b.metrics.summarised(x)
		b.threadsLow = b.threadsLow || s.Virtual
		g.AddSummarised(&s)
		b.all.threadOf(s.Thread).addSummarised(b, g, &s)
		return nil
	}))
}

// summarised is what a summary says of its executions.
func (m *metrics) summarised(x *session.Summary) granularity.Summarised {
	s := granularity.Summarised{
		From: x.FromNs, To: x.Until(), Thread: x.Thread, Virtual: x.Virtual(),
		Work:       make([]granularity.Measured, len(m.list)), // a metric without a measure was not measured
		Executions: int64(x.Executions), Threw: int64(x.Threw), Cut: int64(x.Cut), CreationUnseen: int64(x.CreationUnseen),
	}
	for i := range x.Measures {
		if to, ok := m.ofSummary(x.Measures[i].Metric); ok {
			s.Work[to] = measured(x, &x.Measures[i])
		}
	}
	if s.Virtual {
		s.Thread = virtualThreads // the carrier did not do this work
	}
	return s
}

func measured(x *session.Summary, m *session.Measure) granularity.Measured {
	return granularity.Measured{Count: int64(m.Count), Timed: int64(x.TimedOf(m)), Sum: m.SumNs, Min: m.MinNs, Max: m.MaxNs, Buckets: m.Buckets}
}

// SummarisedText says how much of n executions were summarised, "" if none was, and of how many the times are estimates.
func SummarisedText(summarised, n int64, wall granularity.Distribution) string {
	if summarised == 0 || n == 0 {
		return ""
	}
	share := units.FormatPercent(float64(summarised) / float64(n))
	if summarised == n {
		share = "all"
	}
	if wall.Timed > 0 {
		return fmt.Sprintf("%s of the executions summarised, not recorded one by one: counts are exact. Tasks that are finer than the clock are timed at random: "+
			"%s of %s executions were timed, and times with ~ are estimates (sum of wall time ±%.2g %% at 95 %%); detail=timed times each",
			share, units.FormatCount(wall.Timed), units.FormatCount(n), 100*wall.RelativeError)
	}
	return fmt.Sprintf("%s of the executions summarised, not recorded one by one: counts, sums, means and extremes are exact, quantiles to 0.8 %% (~)", share)
}
