package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/fleet/rollup"
)

// Outlier is a figure of an instance that is unlike that of the others of its service and version.
type Outlier struct {
	Service, Version, Instance string
	Figure, Title, Unit        string
	Value                      float64
	Median                     float64 // over all instances of the version
	Ratio                      float64 // Value / Median
	// Distance is by how many robust standard deviations it is off (Iglewicz and Hoaglin 1993: 0.6745 |x - median| / MAD).
	Distance float64
	Of       int // instances
}

const (
	leastPeers      = 5    // instances of a version without which none is called unlike the others
	leastDistance   = 3.5  // the bound that Iglewicz and Hoaglin recommend
	leastDifference = 0.25 // of the median: what is smaller does not matter, however certain it is
	madScale        = 0.6745
	leastExecutions = 100 // of an instance: means of fewer say little
)

// instanceFigures are what instances are compared by. A share needs no load that is equal.
var instanceFigures = []struct {
	name, title, unit string
	of                func(*Row) float64
}{
	{"work_ns", "work of an execution", "ns", func(r *Row) float64 { return r.Work().Mean() }},
	{"wall_ns", "wall time of an execution", "ns", func(r *Row) float64 { return r.Metric(Wall).Mean() }},
	{"queue_ns.p99", "queue time, 99th percentile", "ns", func(r *Row) float64 { return r.Metric(Queue).Quantile(0.99) }},
	{"response_ns.p99", "response time, 99th percentile", "ns", func(r *Row) float64 { return r.Metric(rollup.Response).Quantile(0.99) }},
	{"wait_share", "waiting, of the wall time", "", func(r *Row) float64 {
		return ratio(float64(r.Waits().Sum), float64(r.Metric(SelfWall).Sum))
	}},
	{"gc_share", "time in GC pauses, of all", "", func(r *Row) float64 {
		return ratio(float64(r.Metric(rollup.GC).Sum), float64(r.Metric(rollup.Uptime).Sum))
	}},
	{"threw_share", "ended by an exception, of all", "", func(r *Row) float64 {
		return ratio(float64(r.Metric(rollup.Threw).Count), float64(r.Executions()))
	}},
	{"per_hour", "executions an hour", "", func(r *Row) float64 { return float64(r.Executions()) / r.Hours() }},
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return math.NaN()
	}
	return a / b
}

// Outliers compares instances with the others of their service and version. With leastPeers and more of them, one that
// deviates from the median by 3.5 robust standard deviations and by a quarter of it is listed.
func Outliers(instances []*Row) []Outlier {
	peers := map[Key][]*Row{}
	for _, r := range instances {
		if r.Executions() >= leastExecutions && r.Name != Rest {
			k := Key{Service: r.Service, Version: r.Version}
			peers[k] = append(peers[k], r)
		}
	}
	var list []Outlier
	for k, rows := range peers {
		if len(rows) < leastPeers {
			continue
		}
		for _, f := range instanceFigures {
			values := make([]float64, 0, len(rows))
			for _, r := range rows {
				if v := f.of(r); !math.IsNaN(v) {
					values = append(values, v)
				}
			}
			if len(values) < leastPeers {
				continue
			}
			center := median(values)
			spread := deviation(values, center)
			for _, r := range rows {
				v := f.of(r)
				off := math.Abs(v - center)
				if math.IsNaN(v) || off <= leastDifference*math.Abs(center) || off == 0 {
					continue
				}
				distance := math.Inf(1)
				if spread > 0 {
					distance = off / spread
				}
				if distance > leastDistance {
					list = append(list, Outlier{Service: k.Service, Version: k.Version, Instance: r.Name, Figure: f.name, Title: f.title, Unit: f.unit,
						Value: v, Median: center, Ratio: ratio(v, center), Distance: distance, Of: len(values)})
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b Outlier) int {
		return cmp.Or(cmp.Compare(b.Distance, a.Distance), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Figure, b.Figure))
	})
	return list
}

// median sorts a copy.
func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	if n := len(s); n%2 == 0 {
		return (s[n/2-1] + s[n/2]) / 2
	}
	return s[len(s)/2]
}

// deviation is the robust standard deviation: the median of the distances from the center, scaled so that it is the
// standard deviation of a normal distribution. Where more than half of the values are equal that is 0, and the mean
// distance stands in (scaled by the same authors' factor).
func deviation(values []float64, center float64) float64 {
	distances, sum := make([]float64, len(values)), 0.0
	for i, v := range values {
		distances[i] = math.Abs(v - center)
		sum += distances[i]
	}
	if mad := median(distances); mad > 0 {
		return mad / madScale
	}
	return 1.253314 * sum / float64(len(values))
}

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
