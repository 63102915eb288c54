package tgp

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// ErrCycle is a trace in which executions enclose one another in a circle.
var ErrCycle = errors.New("no program can do that, so the trace is damaged")

// Aggregated is what Aggregate makes of a trace.
type Aggregated struct {
	Tasks       []Task  // executions not merged into another, in the order of the trace, with the work merged into them
	Merged      []int64 // parallel to Tasks: the number of executions merged into each
	Executions  int64   // rows of the trace that are executions
	NotExecuted int64   // rows left out: tasks never executed
	Missing     int64   // nested executions whose outer task is not in the trace; they stand alone
}

// Aggregate merges nested executions into their outer ones, recursively: if
// the outer task is no thread, or if it is a thread and the nested task was not
// submitted and was created and executed by the same thread. A sum is not measured
// if one of its granularities is not.
func Aggregate(t *Trace) (*Aggregated, error) {
	outer, missing := Outers(t)
	a := &Aggregated{Missing: missing}
	into := make([]int32, len(t.Tasks)) // the row that takes the work, found so far
	for i := range t.Tasks {
		into[i] = None
		if o := outer[i]; o != None && merges(t, &t.Tasks[i], &t.Tasks[o]) {
			into[i] = o
		}
	}
	order, closed := outermostFirst(into)
	if len(closed) > 0 {
		return nil, fmt.Errorf("task %d is nested in itself, through its outer tasks: %w", t.Tasks[closed[0]].ID, ErrCycle)
	}
	for _, i := range order {
		if o := into[i]; o != None && into[o] != None {
			into[i] = into[o]
		}
	}
	index := make([]int32, len(t.Tasks))
	for i := range t.Tasks {
		if !t.Tasks[i].Executed() {
			a.NotExecuted++
			continue
		}
		a.Executions++
		if into[i] == None {
			index[i] = int32(len(a.Tasks))
			a.Tasks, a.Merged = append(a.Tasks, t.Tasks[i]), append(a.Merged, 0)
		}
	}
	for i, root := range into {
		if root != None {
			to := &a.Tasks[index[root]]
			to.Granularity = add(to.Granularity, t.Tasks[i].Granularity)
			a.Merged[index[root]]++
		}
	}
	return a, nil
}

// merges is the rule of the aggregation.
func merges(t *Trace, nested, outer *Task) bool {
	if outer.Flags&IsThread == 0 {
		return true
	}
	return nested.Executor == None && nested.Creator != None && nested.Runner != None &&
		t.Threads[nested.Creator].ID == t.Threads[nested.Runner].ID
}

func add(a, b int64) int64 {
	if a == None || b == None {
		return None
	}
	return a + b
}

// outermostFirst orders the rows so that each stands after the one that outer has for it. It does not recurse: chains can be
// as long as the trace. Rows in a circle are freed where it closes: outer is None there, and closed has the row reached again.
func outermostFirst(outer []int32) (order, closed []int32) {
	const (
		unseen = iota
		onPath
		done
	)
	state := make([]uint8, len(outer))
	order = make([]int32, 0, len(outer))
	var path []int32
	for i := range outer {
		path = path[:0]
		for at := int32(i); at != None && state[at] == unseen; at = outer[at] {
			state[at] = onPath
			path = append(path, at)
			if o := outer[at]; o != None && state[o] == onPath {
				outer[at] = None
				closed = append(closed, o)
			}
		}
		for _, at := range slices.Backward(path) {
			state[at] = done
			order = append(order, at)
		}
	}
	return order, closed
}

// Outers finds the row of the outer execution of each row, None if there is
// none; missing counts nested rows whose outer task is not in the trace. An
// identity hash code can name several tasks, and a task can run several times: of
// several rows the one that encloses the nested row most closely wins, if possible
// on the same thread; if none encloses it, the last.
func Outers(t *Trace) (outer []int32, missing int64) {
	byID := make([]int32, 0, len(t.Tasks))
	for i := range t.Tasks {
		if t.Tasks[i].Executed() {
			byID = append(byID, int32(i))
		}
	}
	// By entry within an id, so that the last that has begun is the closest.
	slices.SortStableFunc(byID, func(a, b int32) int {
		x, y := &t.Tasks[a], &t.Tasks[b]
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Entry, y.Entry))
	})
	outer = make([]int32, len(t.Tasks))
	for i := range t.Tasks {
		outer[i] = None
		n := &t.Tasks[i]
		if !n.Executed() || n.Outer == 0 {
			continue
		}
		from, _ := slices.BinarySearchFunc(byID, n.Outer, func(r int32, id int64) int { return cmp.Compare(t.Tasks[r].ID, id) })
		to := from
		for to < len(byID) && t.Tasks[byID[to]].ID == n.Outer {
			to++
		}
		if outer[i] = closest(t, byID[from:to], int32(i)); outer[i] == None {
			missing++
		}
	}
	return outer, missing
}

// closest picks the outer of row i among candidates in the order of entry.
func closest(t *Trace, candidates []int32, i int32) int32 {
	elsewhere, last := int32(None), int32(None)
	n := &t.Tasks[i]
	for _, c := range slices.Backward(candidates) {
		if c == i {
			continue
		}
		last = max(last, c)
		o := &t.Tasks[c]
		switch encloses := o.Entry <= n.Entry && (o.Exit == None || n.Exit != None && o.Exit >= n.Exit); {
		case !encloses:
		case o.Runner == n.Runner:
			return c
		case elsewhere == None:
			elsewhere = c
		}
	}
	if elsewhere != None {
		return elsewhere
	}
	return last
}
