package replay

import (
	"slices"

	"stackagent/granularity/graph"
)

// Units that take turns in another order than recorded may wait for one another in a circle that cannot be: one waits for a lock
// that another one had before it, and now takes after it. In such a circle nobody waits for the lock.
const (
	mostReordered = 0.05 // of the waits for events may be dropped
	mostCircles   = 1000
)

// causes are the steps that end what units wait for; none. They are found when they are first asked for.
type causes struct {
	submit []int32 // by unit
	signal []int32 // by resource
	left   int     // waits that may be dropped
}

func (e *engine) causesOf() *causes {
	if e.causes != nil {
		return e.causes
	}
	g := e.g
	c := &causes{submit: slices.Repeat([]int32{none}, len(g.Units)), signal: slices.Repeat([]int32{none}, len(g.Resources))}
	waits := 0
	for i, s := range g.Steps {
		switch s.Kind {
		case graph.Submit:
			c.submit[s.On] = int32(i)
		case graph.Signal:
			c.signal[s.On] = int32(i)
		case graph.Await:
			waits++
		}
	}
	c.left = min(int(mostReordered*float64(waits)), mostCircles)
	e.causes = c
	return c
}

// breakCircle drops a wait for an event that is part of a circle, and reports whether there was one.
func (e *engine) breakCircle() bool {
	if e.causesOf().left == 0 {
		return false
	}
	e.causes.left--
	var way []int32
	seen := map[int32]int{}
	for unit := e.firstLeft(); unit != none; unit = e.waitsFor(unit) {
		if from, again := seen[unit]; again {
			return e.dropWait(way[from:])
		}
		seen[unit], way = len(way), append(way, unit)
	}
	return false
}

// firstLeft is the first unit of the program that has not ended; none: all have.
func (e *engine) firstLeft() int32 {
	for i := range e.done {
		if !e.done[i] && !e.g.Units[i].Beside {
			return int32(i)
		}
	}
	return none
}

// waitsFor is the unit that has to go on before another one can; none: nobody knows.
func (e *engine) waitsFor(unit int32) int32 {
	p := &e.pools[e.g.Units[unit].Executor]
	switch by := e.causes.submit[unit]; {
	case e.s.Start[unit].At == graph.Never && by != none && e.s.End[by].At == graph.Never:
		return e.owner(uint32(by))
	case e.s.Start[unit].At == graph.Never, slices.Contains(p.again, unit), slices.Contains(p.queue.units[p.queue.head:], unit):
		return e.holder(e.g.Units[unit].Executor)
	}
	switch s := &e.g.Steps[e.pc[unit]]; s.Kind {
	case graph.Join:
		return int32(s.On)
	case graph.Await:
		if by := e.causes.signal[s.On]; by != none {
			return e.owner(uint32(by))
		}
	}
	return none
}

// holder is a unit that holds a worker of an executor.
func (e *engine) holder(executor uint32) int32 {
	for i := range e.worker {
		if e.worker[i] != none && e.g.Units[i].Executor == executor {
			return int32(i)
		}
	}
	return none
}

// dropWait lets the first unit of a circle that waits for an event go on.
func (e *engine) dropWait(circle []int32) bool {
	for _, unit := range circle {
		s := &e.g.Steps[e.pc[unit]]
		if e.s.Start[unit].At == graph.Never || s.Kind != graph.Await {
			continue
		}
		if l := &e.resources[s.On].waiting; e.remove(l, unit) {
			e.wake(unit, 0)
			return true
		}
	}
	return false
}

// remove takes a unit out of a list that it may be in.
func (e *engine) remove(l *list, unit int32) (found bool) {
	old := *l
	*l = list{none, none}
	for old.head != none {
		if u := e.pop(&old); u != unit {
			e.push(l, u)
		} else {
			found = true
		}
	}
	return found
}
