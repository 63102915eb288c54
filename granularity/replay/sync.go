package replay

import "stackagent/granularity/graph"

// passes reports whether a unit need not wait in its step; else it waits.
func (e *engine) passes(unit int32, s *graph.Step) bool {
	if s.Kind == graph.Join {
		return e.joined(unit, s.On)
	}
	r, by := &e.resources[s.On], e.pc[unit]+1
	of := &e.g.Resources[s.On]
	wait := &r.waiting
	switch s.Kind {
	case graph.Acquire:
		if of.Free {
			return true
		}
		if r.n > 0 {
			r.n--
			return true
		}
	case graph.Put:
		if r.waiting.head != none {
			e.wake(e.pop(&r.waiting), by)
			return true
		}
		if of.N == 0 || r.n < of.N {
			r.n++
			return true
		}
		wait = &r.putting
	case graph.Take:
		if r.n > 0 {
			r.n--
			e.putNext(r, by)
			return true
		}
	case graph.Await:
		if r.n <= 0 || of.Free || e.cannotHold(s) {
			return true
		}
	case graph.Arrive:
		if r.n++; r.n >= of.N {
			r.n = 0
			e.wakeAll(&r.waiting, by)
			return true
		}
	}
	e.push(wait, unit)
	e.mayLeave(unit)
	return false
}

// cannotHold reports whether nothing is known of a wait but who ended it, and that unit has not started. Such waits are usually for locks inside the JVM, and it cannot hold one yet.
func (e *engine) cannotHold(s *graph.Step) bool {
	if s.Wait != 0 {
		return false
	}
	by := e.causesOf().signal[s.On]
	return by != none && e.s.Start[e.owner(uint32(by))].At == graph.Never
}

// putNext lets the first that waits for room in the queue put its element.
func (e *engine) putNext(r *resource, by uint32) {
	if r.putting.head != none {
		r.n++
		e.wake(e.pop(&r.putting), by)
	}
}

func (e *engine) wakeAll(l *list, by uint32) {
	for l.head != none {
		e.wake(e.pop(l), by)
	}
}

// joined reports whether unit on has ended; else unit waits for it, and may leave its worker.
func (e *engine) joined(unit int32, on uint32) bool {
	if e.done[on] {
		return true
	}
	e.push(&e.joins[on], unit)
	e.mayLeave(unit)
	return false
}

// effect does a step that takes no time.
func (e *engine) effect(unit int32, s *graph.Step) {
	by := e.pc[unit] + 1
	switch s.Kind {
	case graph.Submit:
		e.submit(int32(s.On), by)
	case graph.Release:
		r := &e.resources[s.On]
		switch {
		case e.g.Resources[s.On].Free:
		case r.waiting.head != none:
			e.wake(e.pop(&r.waiting), by)
		default:
			r.n++
		}
	case graph.Signal:
		r := &e.resources[s.On]
		if r.n--; r.n <= 0 {
			e.wakeAll(&r.waiting, by)
		}
	}
}
