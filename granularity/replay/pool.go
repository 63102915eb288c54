package replay

import (
	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// pool is the state of an executor.
type pool struct {
	of    *graph.Executor
	idle  []int32 // workers, the last one is the next to take a unit
	queue deque   // units from outside
	own   []deque // by worker, of a pool whose workers steal
	again []int32 // units that go on after a join, before any new one
}

func newPool(of *graph.Executor) pool {
	p := pool{of: of}
	for w := of.Workers - 1; w >= 0; w-- {
		p.idle = append(p.idle, int32(w))
	}
	if of.Order == graph.Stealing {
		p.own = make([]deque, of.Workers)
	}
	return p
}

// deque is a queue of units that can be taken from both ends.
type deque struct {
	units []int32
	head  int
}

func (d *deque) empty() bool     { return d.head == len(d.units) }
func (d *deque) push(unit int32) { d.units = append(d.units, unit) }

func (d *deque) oldest() int32 {
	unit := d.units[d.head]
	if d.head++; d.head > len(d.units)/2 && d.head > 64 {
		d.units = append(d.units[:0], d.units[d.head:]...)
		d.head = 0
	}
	return unit
}

func (d *deque) newest() int32 {
	unit := d.units[len(d.units)-1]
	d.units = d.units[:len(d.units)-1]
	return unit
}

// take is the next unit for a worker.
func (p *pool) take(worker int32) (int32, bool) {
	if p.own != nil && !p.own[worker].empty() {
		return p.own[worker].newest(), true
	}
	if !p.queue.empty() {
		if p.of.Order == graph.LIFO {
			return p.queue.newest(), true
		}
		return p.queue.oldest(), true
	}
	for i := range p.own {
		victim := &p.own[(int(worker)+i)%len(p.own)]
		if !victim.empty() {
			return victim.oldest(), true
		}
	}
	return none, false
}

// submit submits a unit at the end of a step; 0: it is there from the start.
func (e *engine) submit(unit int32, by uint32) {
	e.by[unit] = by
	d := e.g.Units[unit].Delay
	if e.g.Units[unit].Fixed {
		d = e.g.Units[unit].Due - e.now
	}
	if e.g.Units[unit].Late && int(unit) < len(e.notBefore) {
		d = max(d, e.notBefore[unit].At-e.now)
	}
	if d > 0 {
		e.timers.Push(timer{e.now + d, unit, due})
		return
	}
	e.enqueue(unit, by)
}

// enqueue gives a unit that is due to a worker, or to the queue.
func (e *engine) enqueue(unit int32, by uint32) {
	executor := e.g.Units[unit].Executor
	p := &e.pools[executor]
	if p.of.Workers == 0 {
		e.begin(unit, none, by, e.g.Units[unit].Wake)
		return
	}
	if n := len(p.idle); n > 0 {
		worker := p.idle[n-1]
		p.idle = p.idle[:n-1]
		e.begin(unit, worker, by, e.g.Units[unit].Wake)
		return
	}
	if owner := e.submitter(by, executor); p.own != nil && owner != none {
		p.own[owner].push(unit)
		return
	}
	p.queue.push(unit)
}

// submitter is the worker of the executor in whose unit the step is that submits; none: it is not one of them.
func (e *engine) submitter(by, executor uint32) int32 {
	if by == 0 || e.pools[executor].own == nil {
		return none
	}
	unit := e.owner(by - 1)
	if e.g.Units[unit].Executor != executor {
		return none
	}
	return e.worker[unit]
}

// begin starts a unit on a worker, which has to wake up first. How long the unit waited for a CPU before it started is left out: the replay makes units wait for CPUs itself.
func (e *engine) begin(unit, worker int32, by uint32, wake units.Ns) {
	e.worker[unit], e.by[unit] = worker, by
	u := &e.g.Units[unit]
	if l := u.Latency - u.Latency*units.Ns(u.Waited)/1000 + wake; l > 0 {
		e.timers.Push(timer{e.now + l, unit, begin})
		return
	}
	e.s.Start[unit].At, e.s.Start[unit].By = e.now, by
	e.push(&e.ready, unit)
}

// mayLeave takes the worker from a unit that begins to wait in its step, if its executor's units do not keep theirs.
func (e *engine) mayLeave(unit int32) {
	s, of := &e.g.Steps[e.pc[unit]], e.pools[e.g.Units[unit].Executor].of
	leaves := of.Leaves && !s.Pinned && s.Cause != graph.Collector
	if !leaves && !(of.Helps && e.helped(s)) {
		return
	}
	by := e.pc[unit] // the step before, + 1
	if by == e.g.Units[unit].First {
		by = e.s.Start[unit].By
	}
	e.leave(unit, by)
}

// helped reports whether the worker of a fork/join pool takes other units during a wait: for the end of another unit or what one hands over,
// but not inside a system call, a sleep or a monitor.
func (e *engine) helped(s *graph.Step) bool {
	return (s.Kind == graph.Join || s.Kind == graph.Await) && (s.Wait == 0 || e.g.Waits[s.Wait].Kind == "park")
}

// left reports whether a unit has left its worker in a wait.
func (e *engine) left(unit int32) bool {
	of := e.pools[e.g.Units[unit].Executor].of
	return e.worker[unit] == none && of.Workers > 0
}

// enqueueAgain gives a unit whose wait has ended a worker, with which it goes on after so long, or lets it wait for one.
func (e *engine) enqueueAgain(unit int32, after units.Ns) {
	p := &e.pools[e.g.Units[unit].Executor]
	n := len(p.idle)
	switch {
	case n > 0:
		e.worker[unit] = p.idle[n-1]
		p.idle = p.idle[:n-1]
		e.goOn(unit, after)
	case p.of.Leaves:
		p.queue.push(unit) // behind those that wait for a worker already
	default:
		p.again = append(p.again, unit)
	}
}

// leave takes the worker from a unit, at the end of a step, for the next one.
func (e *engine) leave(unit int32, by uint32) {
	worker := e.worker[unit]
	if worker == none {
		return
	}
	e.worker[unit] = none
	p := &e.pools[e.g.Units[unit].Executor]
	if len(p.again) > 0 {
		next := p.again[0]
		p.again = p.again[1:]
		e.worker[next], e.by[next] = worker, by
		e.goOn(next, 0)
		return
	}
	if next, ok := p.take(worker); ok {
		if e.s.Start[next].At != graph.Never {
			e.worker[next] = worker
			e.goOn(next, 0)
			return
		}
		e.begin(next, worker, by, 0)
		return
	}
	p.idle = append(p.idle, worker)
}
