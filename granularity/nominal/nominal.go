// Package nominal compares a set of programs by figures of many kinds, as the nominal
// statistics of the DaCapo benchmarks do: "Rethinking Java Performance Analysis"
// (Blackburn and others, ASPLOS 2025), section 5. Ranks and scores say where a program
// stands among the others; principal components say which differ most.
// Everything here is pure.
package nominal

import (
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Place is where a value stands among those of a set.
type Place struct {
	Rank  int `json:"rank"` // 1: the largest; equal values share the best of their ranks
	Of    int `json:"of"`   // programs with a value
	Score int `json:"score"`
}

// Places ranks values; NaN is no value and has the zero Place.
//
// The score maps ranks linearly to 10 (the largest) down to 1, as the published
// statistics of DaCapo do: 10 (of + 1 - rank) / of, rounded, halves down, at least 1. Of
// equal values it takes the mean of their ranks.
func Places(values []float64) []Place {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.SortFunc(sorted, func(a, b float64) int { return -compare(a, b) })
	places, n := make([]Place, len(values)), len(sorted)
	for i, v := range values {
		if math.IsNaN(v) {
			continue
		}
		rank, _ := slices.BinarySearchFunc(sorted, v, func(a, b float64) int { return -compare(a, b) })
		equal := 1
		for rank+equal < n && sorted[rank+equal] == v {
			equal++
		}
		above := 2*(n-rank) - (equal - 1) // twice of + 1 - the mean rank
		places[i] = Place{Rank: rank + 1, Of: n, Score: max(1, (10*above+n-1)/(2*n))}
	}
	return places
}

func compare(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Errors of Analyse.
var (
	ErrPrograms   = errors.New("principal components need at least 3 programs")
	ErrStatistics = errors.New("principal components need at least 2 statistics that all programs have and in which they differ")
)

// Components are the principal components of a set of programs.
type Components struct {
	// Used are the indices of the statistics that took part: all programs have them, and
	// not all programs the same value.
	Used []int
	// Explained is each component's share of the variance, the largest first; they add
	// up to 1.
	Explained []float64
	// Loadings has, by component, the weights of the used statistics: a vector of length 1.
	// Its largest weight is positive, as the sign means nothing.
	Loadings [][]float64
	// Scores has, by program, where it lies on each component, in standard deviations of
	// the scaled statistics.
	Scores [][]float64
}

// Analyse finds the principal components of values, by program and statistic. NaN is no
// value. Each statistic is scaled to mean 0 and variance 1 first.
func Analyse(values [][]float64) (*Components, error) {
	if len(values) < 3 {
		return nil, ErrPrograms
	}
	c := &Components{}
	var columns [][]float64
	for j := range values[0] {
		if scaled := scale(values, j); scaled != nil {
			c.Used = append(c.Used, j)
			columns = append(columns, scaled)
		}
	}
	if len(columns) < 2 {
		return nil, ErrStatistics
	}
	data := mat.NewDense(len(values), len(columns), nil)
	for j, column := range columns {
		data.SetCol(j, column)
	}
	var pc stat.PC
	if !pc.PrincipalComponents(data, nil) {
		return nil, ErrStatistics // the decomposition did not converge
	}
	var vectors mat.Dense
	pc.VectorsTo(&vectors)
	c.take(data, &vectors, pc.VarsTo(nil))
	return c, nil
}

// scale is a statistic with mean 0 and variance 1; nil if a program lacks it or all are
// equal.
func scale(values [][]float64, statistic int) []float64 {
	column := make([]float64, len(values))
	for i, program := range values {
		column[i] = program[statistic]
		if math.IsNaN(column[i]) || math.IsInf(column[i], 0) {
			return nil
		}
	}
	if slices.Min(column) == slices.Max(column) {
		return nil
	}
	mean, sd := stat.MeanStdDev(column, nil)
	for i := range column {
		column[i] = (column[i] - mean) / sd
	}
	return column
}

// take keeps the components. There are no more than programs less one: the others have no variance.
func (c *Components) take(data, vectors *mat.Dense, variances []float64) {
	programs, statistics := data.Dims()
	n := min(len(variances), programs-1)
	total := float64(statistics) // each has the variance 1
	c.Scores = make([][]float64, programs)
	for k := range n {
		weights := mat.Col(nil, k, vectors)
		largest := 0
		for j, w := range weights {
			if math.Abs(w) > math.Abs(weights[largest])*(1+1e-9) {
				largest = j
			}
		}
		if weights[largest] < 0 {
			for j := range weights {
				weights[j] = -weights[j]
			}
		}
		c.Explained = append(c.Explained, variances[k]/total)
		c.Loadings = append(c.Loadings, weights)
		for i := range programs {
			c.Scores[i] = append(c.Scores[i], mat.Dot(data.RowView(i), mat.NewVecDense(statistics, weights)))
		}
	}
}
