// Package replay computes what a graph would do: a discrete event simulation with
// list scheduling (Graham, 1969). Work is never left waiting while a worker and a CPU
// are free. Workers take units in their executor's order; runnable units share the
// CPUs evenly, as under the kernel's fair scheduler; locks are passed on in the order
// of the requests. The replay of a graph is deterministic and takes O(log n) a step.
package replay

import (
	"errors"
	"fmt"
	"sort"

	"stackagent/granularity/graph"
	"stackagent/internal/heap"
	"stackagent/internal/units"
)

// ErrStuck is a replay in which units wait for each other for ever, or for something that
// does not come.
var ErrStuck = errors.New("units never end: they wait for each other, or for an event that does not come")

// none ends a list of units.
const none = -1

// list is a FIFO of units, linked by engine.next: a unit waits in one place at a time.
type list struct{ head, tail int32 }

// engine is the state of a replay.
type engine struct {
	g   *graph.Graph
	s   *graph.Schedule
	now units.Ns

	pc     []uint32 // of units: the step that they are in
	worker []int32  // that they hold; none
	done   []bool
	next   []int32
	by     []uint32 // of units that wait to start or for a worker: what made it possible
	joins  []list   // by unit: those that wait for its end

	resources []resource
	pools     []pool
	ready     list // units to go on at now
	timers    heap.Heap[timer]
	cpu       sharedCPU
	unended   int
	notBefore []graph.Moment // by unit: late ones do not start earlier; nil: they may
	causes    *causes        // nil: nobody asked for them
}

type resource struct {
	n       int // permits, elements, count, arrived
	waiting list
	putting list // of a full queue
}

// Run replays a graph, which has passed Check.
func Run(g *graph.Graph) (*graph.Schedule, error) { return run(g, nil) }

func run(g *graph.Graph, notBefore []graph.Moment) (*graph.Schedule, error) {
	e := newEngine(g)
	e.notBefore = notBefore
	e.start()
	for e.unended > 0 {
		for e.ready.head != none {
			e.advance(e.pop(&e.ready))
		}
		if !e.tick() && !e.breakCircle() {
			break
		}
	}
	if e.unended > 0 {
		return e.s, fmt.Errorf("%d of %d %w", e.unended, len(e.g.Units), ErrStuck)
	}
	return e.s, nil
}

func newEngine(g *graph.Graph) *engine {
	n := len(g.Units)
	e := &engine{g: g, s: &graph.Schedule{Start: make([]graph.Moment, n), End: make([]graph.Moment, len(g.Steps))},
		pc: make([]uint32, n), worker: make([]int32, n), done: make([]bool, n), next: make([]int32, n), by: make([]uint32, n), joins: make([]list, n),
		resources: make([]resource, len(g.Resources)), ready: list{none, none}, cpu: sharedCPU{cpus: g.CPUs}, unended: n}
	for i := range g.Units {
		e.s.Start[i].At, e.pc[i], e.worker[i], e.joins[i] = graph.Never, g.Units[i].First, none, list{none, none}
	}
	for i := range e.s.End {
		e.s.End[i].At = graph.Never
	}
	for i, r := range g.Resources {
		e.resources[i] = resource{waiting: list{none, none}, putting: list{none, none}}
		if r.Kind == graph.Lock || r.Kind == graph.Event {
			e.resources[i].n = r.N
		}
	}
	for i := range g.Executors {
		e.pools = append(e.pools, newPool(&g.Executors[i]))
	}
	return e
}

// owner is the unit that a step is in.
func (e *engine) owner(step uint32) int32 {
	return int32(sort.Search(len(e.g.Units), func(i int) bool { return e.g.Units[i].First+e.g.Units[i].N > step }))
}

// start begins the units that nobody submits.
func (e *engine) start() {
	submitted := make([]bool, len(e.g.Units))
	for i := range e.g.Steps {
		if s := &e.g.Steps[i]; s.Kind == graph.Submit {
			submitted[s.On] = true
		}
	}
	for i := range submitted {
		if !submitted[i] {
			e.submit(int32(i), 0)
		}
	}
}

func (e *engine) push(l *list, unit int32) {
	e.next[unit] = none
	if l.head == none {
		l.head = unit
	} else {
		e.next[l.tail] = unit
	}
	l.tail = unit
}

func (e *engine) pop(l *list) int32 {
	unit := l.head
	l.head = e.next[unit]
	return unit
}

// tick goes on to the next time at which something happens.
func (e *engine) tick() bool {
	at, ok := e.cpu.first(e.now)
	if len(e.timers) > 0 && (!ok || e.timers[0].at <= at) {
		at, ok = e.timers[0].at, true
	}
	if !ok {
		return false
	}
	e.cpu.pass(at - e.now)
	e.now = at
	for len(e.timers) > 0 && e.timers[0].at == at {
		e.fire(e.timers.Pop())
	}
	for unit, ended := e.cpu.ended(); ended; unit, ended = e.cpu.ended() {
		e.end(unit, 0)
		e.push(&e.ready, unit)
	}
	return true
}

func (e *engine) fire(t timer) {
	switch t.what {
	case due:
		e.enqueue(t.unit, e.by[t.unit])
	case begin:
		e.s.Start[t.unit] = graph.Moment{At: e.now, By: e.by[t.unit]}
		e.push(&e.ready, t.unit)
	case resume:
		if e.left(t.unit) {
			e.enqueueAgain(t.unit, 0)
			return
		}
		e.end(t.unit, e.by[t.unit])
		e.push(&e.ready, t.unit)
	}
}

// end ends the unit's step.
func (e *engine) end(unit int32, by uint32) {
	e.s.End[e.pc[unit]] = graph.Moment{At: e.now, By: by}
	e.pc[unit]++
}

// advance does the steps of a unit until one takes time.
func (e *engine) advance(unit int32) {
	u := &e.g.Units[unit]
	for e.pc[unit] < u.First+u.N {
		s := &e.g.Steps[e.pc[unit]]
		switch {
		case s.WantsCPU() && s.Len > 0:
			e.cpu.add(unit, s.Len)
			return
		case s.Kind == graph.Outside && s.Len > 0:
			e.by[unit] = 0
			e.timers.Push(timer{e.now + s.Len, unit, resume})
			e.mayLeave(unit)
			return
		case s.Kind.Waits():
			if !e.passes(unit, s) {
				return
			}
		default:
			e.effect(unit, s)
		}
		e.end(unit, 0)
	}
	e.finish(unit)
}

// finish ends a unit: whoever joins it goes on, and so does its worker.
func (e *engine) finish(unit int32) {
	u := &e.g.Units[unit]
	by := e.s.Start[unit].By
	if u.N > 0 {
		by = u.First + u.N
	}
	e.done[unit] = true
	e.unended--
	for l := &e.joins[unit]; l.head != none; {
		e.wake(e.pop(l), by)
	}
	e.leave(unit, by)
}

// wake ends the wait of a unit, by a step.
func (e *engine) wake(unit int32, by uint32) {
	e.by[unit] = by
	s := &e.g.Steps[e.pc[unit]]
	if e.left(unit) {
		e.enqueueAgain(unit, s.Len)
		return
	}
	e.goOn(unit, s.Len)
}

func (e *engine) goOn(unit int32, after units.Ns) {
	if after > 0 {
		e.timers.Push(timer{e.now + after, unit, resume})
		return
	}
	e.end(unit, e.by[unit])
	e.push(&e.ready, unit)
}
