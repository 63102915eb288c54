package fleet

import (
	"cmp"
	"math"
	"slices"
	"time"

	"stackagent/shadow/fleet/rollup"
)

// dayOf is the day of a window, UTC.
func dayOf(ns int64) string { return time.Unix(0, ns).UTC().Format(time.DateOnly) }

// Trend is how a figure of a service developed, day by day.
type Trend struct {
	Service, Figure, Title, Unit string
	Days                         []string
	Values                       []float64 // NaN: no value that day
	// PerDay is the slope of the line that the median of all slopes between two days gives (Theil 1950, Sen 1968).
	PerDay float64
	Change float64 // over all days, of the level at their begin
	// P is the two-sided p of the hypothesis that there is no trend (Mann 1945, Kendall 1975), with the correction for ties.
	P float64
}

// leastDays is the number of days without which there is no trend.
const leastDays = 5

// trendFigures are what is followed.
var trendFigures = []struct {
	name, title, unit string
	of                func(*Row) float64
}{
	{"executions", "executions", "", func(r *Row) float64 { return float64(r.Executions()) }},
	{"work_ns", "work of an execution", "ns", func(r *Row) float64 { return r.Work().Mean() }},
	{"queue_ns.p99", "queue time, 99th percentile", "ns", func(r *Row) float64 { return r.Metric(Queue).Quantile(0.99) }},
	{"response_ns.p99", "response time, 99th percentile", "ns", func(r *Row) float64 { return r.Metric(rollup.Response).Quantile(0.99) }},
	{"gc_ns", "time in GC pauses", "ns", func(r *Row) float64 { return float64(r.Metric(rollup.GC).Sum) }},
	{"lost", "lost events", "", func(r *Row) float64 { return float64(r.Lost()) }},
}

// Trends follows the services of rows by day. The last day may still go on: its sums are left out of what is judged.
func Trends(days []*Row, now time.Time) []Trend {
	byService := map[string][]*Row{}
	for _, r := range days {
		if r.Name < dayOf(now.UnixNano()) {
			byService[r.Service] = append(byService[r.Service], r)
		}
	}
	var list []Trend
	for service, rows := range byService {
		slices.SortFunc(rows, func(a, b *Row) int { return cmp.Compare(a.Name, b.Name) })
		for _, f := range trendFigures {
			t := Trend{Service: service, Figure: f.name, Title: f.title, Unit: f.unit}
			var at, values []float64
			for _, r := range rows {
				v := f.of(r)
				t.Days, t.Values = append(t.Days, r.Name), append(t.Values, v)
				if day, err := time.Parse(time.DateOnly, r.Name); err == nil && !math.IsNaN(v) {
					at, values = append(at, float64(day.Unix())/86400), append(values, v)
				}
			}
			if len(values) == 0 || f.name == "lost" && slices.Max(values) == 0 {
				continue
			}
			t.PerDay, t.Change, t.P = math.NaN(), math.NaN(), math.NaN()
			if len(values) >= leastDays {
				t.PerDay, t.Change, t.P = slope(at, values)
			}
			list = append(list, t)
		}
	}
	slices.SortFunc(list, func(a, b Trend) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Figure, b.Figure))
	})
	return list
}

// slope is the trend of values at moments that ascend.
func slope(at, values []float64) (perUnit, change, p float64) {
	n := len(values)
	slopes := make([]float64, 0, n*(n-1)/2)
	s := 0.0
	for i := range values {
		for j := i + 1; j < n; j++ {
			d := values[j] - values[i]
			slopes = append(slopes, d/(at[j]-at[i]))
			s += float64(cmp.Compare(d, 0))
		}
	}
	perUnit = median(slopes)
	rest := make([]float64, n)
	for i, v := range values {
		rest[i] = v - perUnit*(at[i]-at[0])
	}
	change = ratio(perUnit*(at[n-1]-at[0]), median(rest))
	ties, sorted := 0.0, slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		j := i
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		ties += t * (t - 1) * (2*t + 5)
		i = j
	}
	m := float64(n)
	variance := (m*(m-1)*(2*m+5) - ties) / 18
	if s == 0 || variance == 0 {
		return perUnit, change, 1
	}
	z := (math.Abs(s) - 1) / math.Sqrt(variance) // with the correction for continuity
	return perUnit, change, math.Erfc(z / math.Sqrt2)
}
