package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/fleet/rollup"
)

// Finding is something in the roll-ups of a service that deserves a look. It says what was seen, with its figures; what
// to do is for the advice of a session, which has more to go by than sums.
type Finding struct {
	Rule    string
	Service string
	Name    string // the class, executor, instance or figure that it is about
	Text    string
	Weight  float64 // larger ones first; of one rule they compare
}

// Facts are what findings are made of.
type Facts struct {
	Classes, Executors, Instances, Services, Days []*Row
	Now                                           time.Time
}

// order of the rules: what makes others doubtful comes first.
var order = []string{"lost", "exceptions", "garbage-collection", "queue", "fine-grained", "outlier", "trend"}

// Find lists what the rules find.
func (f *Facts) Find() []Finding {
	var list []Finding
	add := func(rule string, r Key, name string, weight float64, format string, args ...any) {
		list = append(list, Finding{rule, r.Service, name, fmt.Sprintf(format, args...), weight})
	}
	t := advice.DefaultThresholds
	for _, r := range f.Services {
		if lost := r.Lost(); lost > 0 {
			add("lost", r.Key, "", float64(lost)/float64(lost+r.Executions()), "%s were lost, beside %s: figures of the service are lower bounds",
				text.PluralExact(lost, "event", "events"), text.PluralExact(r.Executions(), "execution", "executions"))
		}
		if gc, ran := r.Metric(rollup.GC).Total(), r.Metric(rollup.Uptime).Total(); ran > 0 && float64(gc) > t.GCShare*float64(ran) {
			add("garbage-collection", r.Key, "", float64(gc)/float64(ran), "its JVMs stood still for garbage collection for %s of the time (%s)",
				units.FormatPercent(float64(gc)/float64(ran)), units.FormatNs(units.Ns(gc)))
		}
	}
	total := map[string]int64{}
	for _, r := range f.Classes {
		total[r.Service] += r.Executions()
	}
	for _, r := range f.Classes {
		n := r.Executions()
		if r.Platform || n < leastExecutions || r.Name == Rest {
			continue
		}
		if threw := r.Metric(rollup.Threw).Count(); float64(threw) > exceptionShare*float64(n) {
			add("exceptions", r.Key, r.Name, float64(threw)/float64(n), "%s of its executions (%s of %s) ended by an exception",
				units.FormatPercent(float64(threw)/float64(n)), units.FormatExact(threw), units.FormatExact(n))
		}
		self := r.Metric(SelfWall)
		if m := self.Quantile(0.5); m < float64(t.FineWork) && n >= t.FineUnits && float64(n) >= t.FineShare*float64(total[r.Service]) {
			add("fine-grained", r.Key, r.Name, float64(n), "half of its %s executions take %s or less, and %s of all are of it; shadow hotspots on a session shows what divides the work",
				units.FormatExact(n), units.FormatNs(units.Ns(m)), units.FormatPercent(float64(n)/float64(total[r.Service])))
		}
	}
	for _, r := range f.Executors {
		q, run := r.Metric(Queue), r.Metric(Wall)
		if q.Count() < leastExecutions || r.Name == Rest {
			continue
		}
		if m, w := q.Quantile(0.5), run.Quantile(0.5); m > t.Queued*w && m > float64(time.Millisecond) {
			add("queue", r.Key, r.Name, float64(q.Total()), "half of its tasks wait %s or longer in the queue and take %s or less to run; 1 %% wait longer than %s",
				units.FormatNs(units.Ns(m)), units.FormatNs(units.Ns(w)), units.FormatNs(units.Ns(q.Quantile(0.99))))
		}
	}
	for _, o := range Outliers(f.Instances) {
		add("outlier", Key{Service: o.Service}, o.Instance, o.Distance, "%s is %s; the median of %d instances of version %s is %s",
			o.Title, Format(o.Value, o.Unit), o.Of, cmp.Or(o.Version, "(none)"), Format(o.Median, o.Unit))
	}
	for _, x := range Trends(f.Days, f.Now) {
		if x.P < trendP/float64(len(trendFigures)) && math.Abs(x.Change) > leastDifference && x.Figure != "executions" {
			add("trend", Key{Service: x.Service}, x.Figure, math.Abs(x.Change), "%s changed by %s in %d days (p %.2g)", x.Title, units.FormatChange(x.Change), len(x.Days), x.P)
		}
	}
	slices.SortStableFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Rule), slices.Index(order, b.Rule)), cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Name, b.Name))
	})
	return list
}

const (
	exceptionShare = 0.01
	trendP         = 0.05 // for all figures of a service together (Bonferroni)
)

// Format shows a figure in its unit.
func Format(v float64, unit string) string {
	switch {
	case math.IsNaN(v):
		return ""
	case unit == "ns":
		return units.FormatNs(units.Ns(math.Round(v)))
	case math.Abs(v) < 1 && v != 0:
		return fmt.Sprintf("%.3g", v)
	}
	return units.FormatExact(int64(math.Round(v)))
}
