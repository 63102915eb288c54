package scaling

import (
	"maps"
	"math"

	"stackagent/granularity/estimate"
	"stackagent/granularity/gc"
)

// Compared is a quantity of runs over that of the runs with one thread: a cell of the hardware table (Sartor and others,
// Analyzing the Scalability of Managed Language Applications with Speedup Stacks, figure 4).
type Compared struct {
	Group       Group
	Name        string            // of an event, or of a gc.Quantity
	Ratio       estimate.Interval // of the means; NaN if the runs with one thread have none of it
	Value, Base float64           // means
	Estimated   bool              // the kernel multiplexed a counter
}

// Compare compares the events and the work of repeated runs. It also says which are missing, and why.
func Compare(bases, runs []*Run) ([]Compared, map[string]string) {
	missing := map[string]string{}
	for _, r := range append(bases[:len(bases):len(bases)], runs...) {
		maps.Copy(missing, r.Counters.NotAvailable)
		if r.Work.NoWaits != "" {
			missing[gc.GCWaits.String()], missing[gc.ApplicationWaits.String()] = r.Work.NoWaits, r.Work.NoWaits
		}
		if r.Work.NoGC != "" {
			missing[gc.GCWork.String()], missing[gc.GCTime.String()] = r.Work.NoGC, r.Work.NoGC
		}
	}
	var out []Compared
	for g := range NGroups {
		for _, name := range EventNames() {
			estimated := false
			out = appendCompared(out, g, name, bases, runs, func(r *Run) (float64, bool) {
				c, ok := r.Counters.By[g][name]
				estimated = estimated || c.Estimated
				return c.Value, ok
			}, &estimated)
		}
		for q := range gc.NQuantities {
			if q != gc.LLCMisses && groupOfQuantity(q) == g { // that is an event above
				out = appendCompared(out, g, q.String(), bases, runs, func(r *Run) (float64, bool) { return q.Of(&r.Work) }, new(bool))
			}
		}
	}
	return out, missing
}

func groupOfQuantity(q gc.Quantity) Group {
	if q >= gc.ApplicationWork {
		return ApplicationThreads
	}
	return CollectorThreads
}

// appendCompared compares one quantity, if all runs have it.
func appendCompared(out []Compared, g Group, name string, bases, runs []*Run, of func(*Run) (float64, bool), estimated *bool) []Compared {
	values := func(list []*Run) []float64 {
		var v []float64
		for _, r := range list {
			if x, ok := of(r); ok {
				v = append(v, x)
			}
		}
		return v
	}
	over, under := values(runs), values(bases)
	if len(over) == 0 || len(under) == 0 || len(over) < len(runs) || len(under) < len(bases) {
		return out
	}
	c := Compared{Group: g, Name: name, Ratio: estimate.Ratio(over, under), Value: estimate.Mean(over).Mean, Base: estimate.Mean(under).Mean, Estimated: *estimated}
	if c.Base == 0 {
		c.Ratio = estimate.Mean([]float64{math.NaN()})
	}
	return append(out, c)
}
