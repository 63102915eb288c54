package threads

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/granularity/bottle"
)

// Group sums up threads with the same key, longest running time first. A figure that is unknown for
// one thread is unknown for its group.
func Group(rows []Row, by bottle.By) []Row {
	if by == bottle.ByThread {
		return rows
	}
	var out []Row
	index := map[[2]string]int{}
	for i := range rows {
		r := &rows[i]
		key := [2]string{r.Kind, r.Kind}
		if by == bottle.ByPool {
			key[1] = cmp.Or(r.Pool, r.Name)
		}
		j, ok := index[key]
		if !ok {
			index[key] = len(out)
			out = append(out, newGroup(r, key[1]))
			continue
		}
		out[j].add(r)
	}
	slices.SortStableFunc(out, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.running(), a.running()), cmp.Compare(b.CPU.OrZero(), a.CPU.OrZero()))
	})
	return out
}

// newGroup begins a group with its first thread.
func newGroup(r *Row, name string) Row {
	g := Row{Name: name, Kind: r.Kind, Pool: r.Pool, Threads: 1, grouped: true, Executions: r.Executions, Summarised: r.Summarised,
		CPU: r.CPU, TaskCPU: r.TaskCPU, Produced: clone(r.Produced), Times: clone(r.Times), Counters: map[string]Count{}}
	maps.Copy(g.Counters, r.Counters)
	if g.Times != nil {
		g.Times.OSID = 0
	}
	return g
}

// add adds a thread to a group.
func (g *Row) add(r *Row) {
	g.Threads++
	g.Executions += r.Executions
	g.Summarised += r.Summarised
	g.CPU = g.CPU.Plus(r.CPU)
	if r.TaskCPU.Measured() { // a thread without tasks has none
		g.TaskCPU = g.TaskCPU.OrZero() + r.TaskCPU
	}
	if r.Produced != nil {
		sum := *r.Produced
		if p := g.Produced; p != nil {
			sum = Produced{sum.Executions + p.Executions, sum.Creations + p.Creations, sum.Lost + p.Lost}
		}
		g.Produced = &sum
	}
	for e, n := range g.Counters {
		m, ok := r.Counters[e]
		if !ok {
			delete(g.Counters, e)
			continue
		}
		g.Counters[e] = Count{n.Value + m.Value, n.Estimated || m.Estimated}
	}
	switch {
	case r.Times == nil: // another row has its OS thread
	case g.Times == nil:
		g.Times = clone(r.Times)
	default:
		g.Times.add(r.Times)
	}
}
func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
