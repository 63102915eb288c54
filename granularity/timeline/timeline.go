// Package timeline computes what threads did over time: for each row of threads and
// each bucket of a grid, the share of time in each state and the number of threads
// running or ready to run.
package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/internal/units"
)

// Row is one thread over time, or several together.
type Row struct {
	Name    string
	Kind    string
	Threads int
	Ran     units.Ns // running time of all its threads
	// States has, by state, the time in it for each bucket, summed over the
	// row's threads; divided by the bucket's width it is a number of threads. nil:
	// never in that state.
	States [activity.NStates][]units.Ns
}

// Timeline is threads over time.
type Timeline struct {
	Grid granularity.Grid
	Rows []Row
	// Running and Ready are, for each bucket, the times on a CPU and waiting for one,
	// summed over all threads.
	Running, Ready []units.Ns
}

// Mean is a sum over threads as the mean number of threads in a bucket.
func (t *Timeline) Mean(sum []units.Ns) []float64 {
	out := make([]float64, len(sum))
	for i, d := range sum {
		out[i] = float64(d) / float64(t.Grid.Width)
	}
	return out
}

// leastRan is the part of all running time below which a thread has no row of
// its own.
const leastRan = 0.002

// Compute sweeps over a stream. The threads that ran most have a row each, at
// most rows of them, by kind and begin; the others share one row per kind. ran is the
// running time of each thread, from a bottle graph.
func Compute(threads []activity.Thread, stream activity.Stream, grid granularity.Grid, ran map[string]units.Ns, rows int) (*Timeline, error) {
	t := &Timeline{Grid: grid, Running: make([]units.Ns, grid.N), Ready: make([]units.Ns, grid.N)}
	rowOf := t.choose(threads, ran, rows)
	err := stream(func(s activity.Slice) error {
		if int(s.Thread) >= len(threads) {
			return fmt.Errorf("a slice of thread %d of %d", s.Thread, len(threads))
		}
		if s.State >= activity.NStates {
			s.State = activity.Unknown
		}
		if r := rowOf[s.Thread]; r >= 0 {
			states := &t.Rows[r].States[s.State]
			if *states == nil {
				*states = make([]units.Ns, grid.N)
			}
			spread(grid, s, *states)
		}
		switch s.State {
		case activity.Running:
			spread(grid, s, t.Running)
		case activity.Runnable:
			spread(grid, s, t.Ready)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("timeline: %w", err)
	}
	return t, nil
}

// spread adds the time of a slice to the buckets in which it lies.
func spread(g granularity.Grid, s activity.Slice, into []units.Ns) {
	from, to := max(s.From, g.From), min(s.To, g.End())
	if to <= from {
		return
	}
	i, _ := g.Bucket(from)
	for ; from < to; i++ {
		until := min(g.Start(i+1), to)
		into[i] += units.Ns(until - from)
		from = until
	}
}

// choose makes the rows and returns the row of each thread, -1: none.
func (t *Timeline) choose(threads []activity.Thread, ran map[string]units.Ns, rows int) []int {
	order := make([]int, 0, len(threads))
	for i, th := range threads {
		if ran[th.Name] > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ran[threads[b].Name], ran[threads[a].Name]) })
	total := units.Ns(0)
	for _, d := range ran {
		total += d
	}
	single := order[:min(rows, len(order))]
	for len(single) > 0 && float64(ran[threads[single[len(single)-1]].Name]) < leastRan*float64(total) {
		single = single[:len(single)-1]
	}
	slices.SortStableFunc(single, func(a, b int) int {
		return cmp.Or(cmp.Compare(rank(threads[a].Kind), rank(threads[b].Kind)), cmp.Compare(threads[a].First, threads[b].First), cmp.Compare(a, b))
	})
	rowOf := make([]int, len(threads))
	for i := range rowOf {
		rowOf[i] = -1
	}
	for _, i := range single {
		rowOf[i] = len(t.Rows)
		t.Rows = append(t.Rows, Row{Name: threads[i].Name, Kind: threads[i].Kind, Threads: 1, Ran: ran[threads[i].Name]})
	}
	t.gather(threads, order[len(single):], ran, rowOf)
	return rowOf
}

// gather makes a row per kind for the threads without a row of their own.
func (t *Timeline) gather(threads []activity.Thread, rest []int, ran map[string]units.Ns, rowOf []int) {
	slices.SortStableFunc(rest, func(a, b int) int { return cmp.Compare(rank(threads[a].Kind), rank(threads[b].Kind)) })
	index := map[string]int{}
	for _, i := range rest {
		kind := threads[i].Kind
		r, ok := index[kind]
		if !ok {
			r = len(t.Rows)
			index[kind] = r
			t.Rows = append(t.Rows, Row{Kind: kind})
		}
		t.Rows[r].Threads++
		t.Rows[r].Ran += ran[threads[i].Name]
		if t.Rows[r].Threads == 1 {
			t.Rows[r].Name = threads[i].Name
		} else {
			t.Rows[r].Name = ""
		}
		rowOf[i] = r
	}
}

// rank orders kinds from top to bottom.
func rank(kind string) int {
	return slices.Index([]string{activity.KindMain, activity.KindApplication, activity.KindGC, activity.KindCompiler, activity.KindVM, activity.KindOther}, kind)
}

// Ran is the running time of each thread of a graph, by name.
func Ran(g *bottle.Graph) map[string]units.Ns {
	out := map[string]units.Ns{}
	for _, b := range g.Boxes {
		out[b.Name] += b.RunningNs
	}
	return out
}
