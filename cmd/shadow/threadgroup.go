package main

import (
	"cmp"
	"slices"
	"strconv"

	"stackagent/granularity/bottle"
	"stackagent/internal/units"
)

// groupThreads sums up threads by what they have in common, in the order of
// their running times. What one thread of a group has no measure of, the group
// has none of, either.
func groupThreads(rows []threadRow, by bottle.By) []threadRow {
	if by == bottle.ByThread {
		return rows
	}
	var out []threadRow
	place := map[[2]string]int{}
	for i := range rows {
		r := &rows[i]
		key := [2]string{r.Kind, r.Kind}
		if by == bottle.ByPool {
			key[1] = cmp.Or(r.Pool, r.Thread)
		}
		j, ok := place[key]
		if !ok {
			place[key] = len(out)
			out = append(out, newGroup(r, key[1]))
			continue
		}
		out[j].add(r)
	}
	slices.SortStableFunc(out, func(a, b threadRow) int {
		return cmp.Or(cmp.Compare(b.running(), a.running()), cmp.Compare(orZero(b.CPUNs), orZero(a.CPUNs)))
	})
	return out
}

// newGroup begins a group with its first thread.
func newGroup(r *threadRow, name string) threadRow {
	g := threadRow{Thread: name, Kind: r.Kind, Pool: r.Pool, Threads: 1, grouped: true, Executions: r.Executions, Summarised: r.Summarised,
		CPUNs: clone(r.CPUNs), TaskCPUNs: clone(r.TaskCPUNs), Produced: clone(r.Produced), Times: clone(r.Times), Counters: map[string]counted{}}
	for e, n := range r.Counters {
		g.Counters[e] = n
	}
	if g.Times != nil {
		g.Times.CPUNs = clone(r.Times.CPUNs)
		g.Times.OSID = 0
	}
	return g
}

// add takes a thread into a group.
func (g *threadRow) add(r *threadRow) {
	g.Threads++
	g.Executions += r.Executions
	g.Summarised += r.Summarised
	g.CPUNs = sumIfBoth(g.CPUNs, r.CPUNs)
	if r.TaskCPUNs != nil { // a thread without tasks has none: nothing is missing
		sum := orZero(g.TaskCPUNs) + *r.TaskCPUNs
		g.TaskCPUNs = &sum
	}
	if r.Produced != nil {
		sum := *r.Produced
		if g.Produced != nil {
			sum.Executions, sum.Creations, sum.Lost = sum.Executions+g.Produced.Executions, sum.Creations+g.Produced.Creations, sum.Lost+g.Produced.Lost
		}
		g.Produced = &sum
	}
	for e, n := range g.Counters {
		m, ok := r.Counters[e]
		if !ok {
			delete(g.Counters, e)
			continue
		}
		g.Counters[e] = counted{n.Value + m.Value, n.Estimated || m.Estimated}
	}
	switch {
	case r.Times == nil: // what the agent told of a thread that carried another's number
	case g.Times == nil:
		g.Times = clone(r.Times)
	default:
		g.Times.add(r.Times)
	}
}

// add sums up times of two threads; the stretch is that of both.
func (t *threadTimes) add(o *threadTimes) {
	for i, n := range o.states() {
		*t.stateFields()[i] += n
	}
	t.Voluntary += o.Voluntary
	t.Involuntary += o.Involuntary
	t.CPUNs = sumIfBoth(t.CPUNs, o.CPUNs)
	t.FirstNs, t.LastNs = min(t.FirstNs, o.FirstNs), max(t.LastNs, o.LastNs)
	t.BeginSeen, t.EndSeen = t.BeginSeen && o.BeginSeen, t.EndSeen && o.EndSeen
}

func (t *threadTimes) stateFields() []*units.Ns {
	return []*units.Ns{&t.RunningNs, &t.RunnableNs, &t.FutexNs, &t.IONs, &t.SleepingNs, &t.BlockedNs, &t.UnknownNs}
}

func (r *threadRow) running() units.Ns {
	if r.Times == nil {
		return 0
	}
	return r.Times.RunningNs
}

func sumIfBoth(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := *a + *b
	return &sum
}

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// title is the first column of the table.
func (r *threadRow) title() string {
	if !r.grouped {
		return r.Thread
	}
	return r.Thread + " (" + strconv.Itoa(r.Threads) + ")"
}
