package lbo

import (
	"slices"

	"stackagent/granularity/estimate"
)

// Mean is the geometric mean of the overheads of several programs with a collector at a
// heap size. Its interval says how sure the mean is for these programs: see
// estimate.Combine.
type Mean struct {
	Collector, Heap string
	Multiple        float64
	HeapBytes       int64 // 0 if it is not the same for all programs
	Programs        int
	Overheads       [NClocks][NBounds]estimate.Interval
	// Missing are the programs without runs there: then there are no overheads. Only points
	// at which all programs run may be compared.
	Missing []Missing
}

// Missing is a program that has no runs at a point.
type Missing struct {
	Program string `json:"program"`
	Failed  string `json:"failed"` // why it cannot run there; "": nobody tried
}

// Means are the geometric means over programs, in the order of the first program's
// points. Points of several programs are the same if collector and heap are.
func Means(results []Result) []Mean {
	type key struct{ collector, heap string }
	var keys []key
	at := map[key][]*Overhead{}
	for i := range results {
		for j := range results[i].Points {
			p := &results[i].Points[j]
			k := key{p.Collector, p.Heap}
			if at[k] == nil {
				keys = append(keys, k)
				at[k] = make([]*Overhead, len(results))
			}
			at[k][i] = p
		}
	}
	means := make([]Mean, 0, len(keys))
	for _, k := range keys {
		means = append(means, meanAt(results, at[k]))
	}
	return means
}

// meanAt is the mean at the points, one for each result; nil where it lacks the point.
func meanAt(results []Result, points []*Overhead) Mean {
	first := points[slices.IndexFunc(points, func(p *Overhead) bool { return p != nil })]
	m := Mean{Collector: first.Collector, Heap: first.Heap, Multiple: first.Multiple, HeapBytes: first.HeapBytes, Programs: len(results)}
	for i, p := range points {
		if p != nil && p.HeapBytes != m.HeapBytes {
			m.HeapBytes = 0
		}
		switch {
		case p == nil:
			m.Missing = append(m.Missing, Missing{Program: results[i].Program})
		case p.Failed != "" || p.Runs == 0:
			m.Missing = append(m.Missing, Missing{results[i].Program, p.Failed})
		}
	}
	for c := range NClocks {
		for b := range NBounds {
			m.Overheads[c][b] = unknown
			if len(m.Missing) > 0 {
				continue
			}
			var all []estimate.Interval
			for _, p := range points {
				all = append(all, p.Overheads[c][b])
			}
			m.Overheads[c][b] = estimate.Combine(all)
		}
	}
	return m
}
