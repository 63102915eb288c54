package figure

import (
	"math"

	"stackagent/granularity/estimate"
	"stackagent/granularity/lbo"
)

// lboFigures are the shapes of the paper: newer collectors cost more, all cost more in a small heap, some cannot run there.
func lboFigures() map[string]*Figure {
	none := estimate.Interval{Mean: math.NaN(), Low: math.NaN(), High: math.NaN()}
	heaps := []float64{1, 1.25, 1.5, 2, 3, 4, 6}
	points := func(steep float64, known bool) (all []LBOPoint) {
		for i, name := range []string{"G1", "ZGC", "Serial", "Parallel", "Shenandoah"} {
			for k, h := range heaps {
				p := LBOPoint{Collector: name, Multiple: h, HeapBytes: int64(h * (64 << 20))}
				if !known {
					p.Multiple = math.NaN()
				}
				for c, tax := range []float64{0.04, 0.09} {
					m := 1 + tax*float64(1+i) + steep*(0.05+tax*float64(i))/(h-0.8)
					p.Overheads[c] = estimate.Interval{Mean: m, Low: m * 0.97, High: m * 1.03}
					if name == "ZGC" && h < 1.5 || name == "Shenandoah" && k == 3 {
						p.Overheads[c], p.Failed = none, true
					}
				}
				all = append(all, p)
			}
		}
		return all
	}
	epsilon := LBOPoint{Collector: "Epsilon", Multiple: 6, Overheads: [lbo.NClocks]estimate.Interval{{Mean: 0.98, Low: 0.96, High: 1.0}, {Mean: 1.02, Low: math.NaN(), High: math.NaN()}}}
	wallOnly := []LBOPoint{{Collector: "G1", Multiple: 1, Overheads: [lbo.NClocks]estimate.Interval{{Mean: 1.4, Low: 1.2, High: 1.6}, none}},
		{Collector: "G1", Multiple: 2, Overheads: [lbo.NClocks]estimate.Interval{{Mean: 1.1, Low: 1, High: 1.2}, none}}}
	return map[string]*Figure{
		"lbo-wall":  LBO("h2", wallOnly),
		"lbo":       LBO("geometric mean of 12 programs", points(1, true)),
		"lbo-steep": LBO("com.acme.search.indexing.\u202eVeryLong$Name", points(60, false)),
		"lbo-one":   LBO("h2", []LBOPoint{epsilon}),
		"lbo-empty": LBO("h2", []LBOPoint{{Collector: "ZGC", Multiple: 1, Overheads: [lbo.NClocks]estimate.Interval{none, none}}}),
	}
}
