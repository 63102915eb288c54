package summary

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// metricOf tells which metric of the analyses one of the wire is.
var metricOf = map[wire.Metric]granularity.Metric{
	wire.MetricWall: granularity.Wall, wire.MetricSelfWall: granularity.SelfWall,
	wire.MetricCPU: granularity.CPU, wire.MetricSelfCPU: granularity.SelfCPU,
}

// virtualThreads stands for the virtual threads together, where they are not
// told apart: no thread has this id.
const virtualThreads = 0

// summaries adds what the agent summarised.
func (b *builder) summaries() error {
	if b.src.Summaries == nil {
		return nil
	}
	return b.reading("reading the summaries", b.src.Summaries(func(x *session.Summary) error {
		g := b.all.class(x.Class)
		if x.Executions == 0 || !g.passes {
			return nil
		}
		s := granularity.Summarised{
			From: x.FromNs, To: x.ToNs, Thread: x.Thread, Virtual: x.Flags&wire.SummaryVirtual != 0,
			More:       make([]granularity.Measured, len(b.metrics)-int(granularity.NMetrics)), // what a summary does not have was not measured
			Executions: int64(x.Executions), Threw: int64(x.Threw), Cut: int64(x.Cut), CreationUnseen: int64(x.CreationUnseen),
		}
		for _, m := range x.Measures {
			if to, known := metricOf[m.Metric]; known {
				s.Work[to] = measured(&m)
			} else if i, ok := b.furtherOf(m.Metric); ok {
				s.More[i] = measured(&m)
			}
		}
		if s.Virtual {
			s.Thread = virtualThreads // of the carrier it is no work
		}
		g.AddSummarised(&s)
		b.all.threadOf(s.Thread).addSummarised(b, g, &s)
		return nil
	}))
}

func measured(m *session.Measure) granularity.Measured {
	return granularity.Measured{Count: int64(m.Count), Sum: m.SumNs, Min: m.MinNs, Max: m.MaxNs, Buckets: m.Buckets}
}

// SummarisedText says how much of n executions were summarised, "" if none was.
func SummarisedText(summarised, n int64) string {
	if summarised == 0 || n == 0 {
		return ""
	}
	share := units.FormatPercent(float64(summarised) / float64(n))
	if summarised == n {
		share = "all"
	}
	return fmt.Sprintf("%s of the executions summarised, not recorded one by one: counts, sums, means and extremes are exact, quantiles to 0.8 %%", share)
}
