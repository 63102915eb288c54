package lbo

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat"

	"stackagent/granularity/estimate"
)

// resamples estimate the bias of the least mean, which needs fewer than an interval.
const resamples = 1000

// distil finds the least mean of T - G. Epsilon is left out: it serves as a check.
func distil(points []Point, c Clock, b Bound) Baseline {
	base := Baseline{Cost: math.NaN(), Selection: 1}
	var all [][]float64
	measured := false
	for i := range points {
		costs := points[i].costs(c, b)
		if len(costs) == 0 || points[i].Collector == Epsilon {
			continue
		}
		measured = measured || points[i].measured(c, b)
		all = append(all, costs)
		if m := stat.Mean(costs, nil); !(m >= base.Cost) {
			base = Baseline{Cost: m, Collector: points[i].Collector, Heap: points[i].Heap, costs: costs, point: i}
		}
	}
	if !measured { // the plain parts stood in for all
		return Baseline{Cost: math.NaN(), Selection: 1}
	}
	base.Selection = selection(all, base.Cost)
	return base
}

// selection is the least mean over what it is without its bias, which the bootstrap
// estimates: by how much the least mean of resampled runs is lower than that of the runs.
func selection(all [][]float64, least float64) float64 {
	if len(all) < 2 {
		return 1
	}
	random, sum := rand.New(rand.NewPCG(1, 0)), 0.0
	for range resamples {
		low := math.Inf(1)
		for _, costs := range all {
			drawn := 0.0
			for range costs {
				drawn += costs[random.IntN(len(costs))]
			}
			low = min(low, drawn/float64(len(costs)))
		}
		sum += low
	}
	return min(1, least/(2*least-sum/resamples))
}

// Note is what is odd about a point's costs.
type Note struct {
	Kind            NoteKind
	Collector, Heap string
	Clock           Clock
	Bound           Bound
	Overhead        estimate.Interval // of Cheaper
}

// NoteKind says what is odd.
type NoteKind string

const (
	// Implausible: a run's part of the collector is not between 0 and its total. The
	// distilled cost leaves the point out.
	Implausible NoteKind = "implausible"
	// Cheaper: Epsilon, which never collects, costs less than the distilled cost. So this
	// is too high, and all overheads are too low by at least that factor.
	Cheaper NoteKind = "epsilon_cheaper"
)

func implausible(points []Point, c Clock) (notes []Note) {
	for i := range points {
		p := &points[i]
		for b := range NBounds {
			if p.measured(c, b) && p.costs(c, b) == nil {
				notes = append(notes, Note{Kind: Implausible, Collector: p.Collector, Heap: p.Heap, Clock: c, Bound: b, Overhead: unknown})
			}
		}
	}
	return notes
}

func checkEpsilon(points []Overhead, c Clock, b Bound) (notes []Note) {
	for _, p := range points {
		if o := p.Overheads[c][b]; p.Collector == Epsilon && o.High < 1 {
			notes = append(notes, Note{Kind: Cheaper, Collector: p.Collector, Heap: p.Heap, Clock: c, Bound: b, Overhead: o})
		}
	}
	return notes
}
