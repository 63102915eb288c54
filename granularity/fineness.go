package granularity

import (
	"fmt"

	"stackagent/internal/units"
)

// Fineness says how fine a set of executions is: how many take less than a
// microsecond, ten and a hundred, by the work metric named.
type Fineness struct {
	Metric                          Metric
	N                               int64
	Below1us, Below10us, Below100us int64
	Median                          units.Ns
	RelativeError                   float64 // of the limits and the median; 0: all is exact
}

// FinenessOf counts v against the three limits.
func FinenessOf(m Metric, v *Values) Fineness {
	f := Fineness{Metric: m, N: int64(v.Len())}
	if f.N <= 0 {
		return f
	}
	v.guessed = false
	f.Below1us = int64(v.CountBelow(1_000))
	f.Below10us = int64(v.CountBelow(10_000))
	f.Below100us = int64(v.CountBelow(100_000))
	f.Median = v.Quantile(500)
	f.RelativeError = v.RelativeError()
	return f
}

func fineness(f Facts) string {
	n := f.Fine.N
	if n == 0 {
		return ""
	}
	whose := " of the program's own tasks" + ownShare(f)
	if f.FineIsAll {
		whose = ""
	}
	if n == 1 {
		return fmt.Sprintf("The one %s%s takes %s of %s.", f.Of.One(), whose, units.FormatNs(f.Fine.Median), f.Fine.Metric.Label())
	}
	who := units.FormatCount(n) + " " + f.Of.Many() + whose
	if f.Fine.Below100us == 0 {
		return fmt.Sprintf("Of %s, none takes less than 100 µs of %s; the median is %s.", who, f.Fine.Metric.Label(), units.FormatNs(f.Fine.Median))
	}
	return fmt.Sprintf("Of %s, %s take less than 1 µs of %s, %s less than 10 µs, %s less than 100 µs; the median is %s.",
		who, share(f.Fine.Below1us, n), f.Fine.Metric.Label(), share(f.Fine.Below10us, n),
		share(f.Fine.Below100us, n), units.FormatNs(f.Fine.Median))
}

// ownShare says how much of the work the program's own tasks are, where a
// reader might take them for all of it.
func ownShare(f Facts) string {
	own := 0.0
	for _, r := range f.Rows {
		if !r.JDK && !r.Body {
			own += r.WorkShare
		}
	}
	// Loops that wait have most of the wall time, which says nothing.
	if own >= 0.9 || own == 0 || f.Total.WorkMetric() == SelfWall {
		return ""
	}
	return fmt.Sprintf(" (%s of the work)", units.FormatPercent(own))
}
