// Package bottle computes bottle graphs: for each thread a box whose height is
// its share of the time, whose width is the number of threads it ran with, and
// whose area is its running time (Du Bois, Sartor, Eyerman, Eeckhout: Bottle
// Graphs, OOPSLA 2013).
//
// Time is cut wherever a thread begins or stops running. In an interval of
// length t with r threads running each of them gets the share t/r. The height
// of thread j is S_j, the sum of its shares; its running time A_j is the sum of
// the intervals; its width is P_j = A_j/S_j, the harmonic mean of r weighted by
// time. All heights add up to the time in which at least one thread ran.
package bottle

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Box is a thread, or a group of threads, in a bottle graph.
type Box struct {
	Name      string
	Kind      string
	Pool      string   // the pool of the threads
	Threads   int      // number of threads in the box
	HeightNs  float64  // S: share of the time, nanoseconds
	RunningNs units.Ns // A: time on a CPU, exact
	Width     float64  // P = A/S: threads running at once, itself included
}

// Graph is the bottle graph of a window of time.
type Graph struct {
	From, To units.MonoNs
	By       By       // how threads are grouped into boxes; "": not at all
	Runnable bool     // threads that wait for a CPU count as running: see CountRunnable
	Boxes    []Box    // widest first; boxes of the same width by name
	BusyNs   units.Ns // time with at least one thread running: the sum of the heights
	// UnknownNs is the time, summed over threads, without a record of whether they
	// ran.
	UnknownNs units.Ns
}

// RunningNs is the running time of all boxes: the area of the graph.
func (g *Graph) RunningNs() units.Ns {
	var sum units.Ns
	for _, b := range g.Boxes {
		sum += b.RunningNs
	}
	return sum
}

// HeightNs is the sum of the heights of the boxes of a kind, in nanoseconds; "" is
// all kinds.
func (g *Graph) HeightNs(kind string) float64 {
	sum := 0.0
	for _, b := range g.Boxes {
		if kind == "" || b.Kind == kind {
			sum += b.HeightNs
		}
	}
	return sum
}

// By is how threads are grouped into boxes.
type By string

// The groupings.
const (
	ByThread By = "thread"
	ByPool   By = "pool"
	ByKind   By = "kind"
)

// Group returns the graph with a box for each pool or kind: heights and running
// times are sums, the width is their quotient.
func (g *Graph) Group(by By) *Graph {
	if by == ByThread {
		return g
	}
	out := &Graph{From: g.From, To: g.To, By: by, Runnable: g.Runnable, BusyNs: g.BusyNs, UnknownNs: g.UnknownNs}
	index := map[[2]string]int{}
	for _, b := range g.Boxes {
		key := [2]string{b.Kind, b.Kind}
		if by == ByPool {
			key[1] = b.Pool
		}
		i, ok := index[key]
		if !ok {
			i = len(out.Boxes)
			index[key] = i
			out.Boxes = append(out.Boxes, Box{Name: key[1], Kind: b.Kind, Pool: key[1]})
		}
		out.Boxes[i].add(b)
	}
	out.order()
	return out
}

// Plus is the box of the threads of both.
func (b Box) Plus(o Box) Box {
	b.add(o)
	return b
}

func (b *Box) add(o Box) {
	b.Threads += o.Threads
	b.HeightNs += o.HeightNs
	b.RunningNs += o.RunningNs
	if b.HeightNs > 0 {
		b.Width = float64(b.RunningNs) / b.HeightNs
	}
}

// order sorts boxes as they are stacked.
func (g *Graph) order() {
	slices.SortStableFunc(g.Boxes, func(a, b Box) int {
		return cmp.Or(cmp.Compare(b.Width, a.Width), cmp.Compare(a.Name, b.Name))
	})
}

// Windows divides from..to into windows of a length; the last may be shorter.
// every <= 0 is one window.
func Windows(from, to units.MonoNs, every units.Ns) []activity.Span {
	if every <= 0 || units.Ns(to-from) <= every {
		return []activity.Span{{From: from, To: to}}
	}
	var out []activity.Span
	for at := from; at < to; at += units.MonoNs(every) {
		out = append(out, activity.Span{From: at, To: min(at+units.MonoNs(every), to)})
	}
	return out
}
