package live

import "stackagent/internal/units"

// slot is a submission whose task has not begun, as far as is known.
type slot struct {
	task, wrapper uint64 // wrapper: the JDK's task around it, 0: none
	at            int64
	ticks         units.Ticks // the same, as the agent says it
	flow, pool    *flow       // class and executor
	thread, site  uint32
	alone         bool  // its executor starts a thread for each task: it runs, or waits for a carrier
	next          int32 // the next submission of the same task, -1: none
	older, newer  int32 // in the order of submissions
}

// pending follows submissions to the start of their tasks. It holds the oldest; of those
// that find no room only the number is known. One task object may wait several times.
type pending struct {
	slots  []slot
	free   []int32
	ends   idTable // by task, or by the task around it
	oldest int32
	newest int32
	beyond uint64 // without a slot
	budget *budget
}

// ends are the first and the last slot of a task.
type ends struct{ first, last int32 }

// The most slots of a JVM. All JVMs together have maxSlots.
const (
	maxPending = 4096
	maxSlots   = 256 << 10
)

func newPending(b *budget) pending {
	return pending{oldest: -1, newest: -1, budget: b}
}

// submit takes a submission and returns its slot; -1: there is no room.
func (p *pending) submit(s slot) int32 {
	var i int32
	switch n := len(p.free); {
	case s.task == 0: // no agent sends that
		p.beyond++
		return -1
	case n > 0:
		i, p.free = p.free[n-1], p.free[:n-1]
	case len(p.slots) < maxPending && p.budget.take():
		i, p.slots = int32(len(p.slots)), append(p.slots, slot{})
	default:
		p.beyond++
		return -1
	}
	s.next, s.older, s.newer, s.wrapper = -1, p.newest, -1, 0
	p.slots[i] = s
	if p.newest >= 0 {
		p.slots[p.newest].newer = i
	} else {
		p.oldest = i
	}
	p.newest = i
	e, again := p.ends.get(s.task)
	if again && p.slots[e.first].task != s.task { // it was known as the task around another
		p.slots[e.first].wrapper, again = 0, false
	}
	if again {
		p.slots[e.last].next = i
		e.last = i
	} else {
		e = ends{i, i}
	}
	p.ends.set(s.task, e)
	return i
}

// first is the first slot of a task that has one.
func (p *pending) first(task uint64) int32 {
	e, _ := p.ends.get(task)
	return e.first
}

// wrap says that the task wrapper is around the submission of slot i.
func (p *pending) wrap(i int32, wrapper uint64) {
	s := &p.slots[i]
	if s.task == 0 || s.wrapper != 0 || wrapper == s.task {
		return
	}
	if _, taken := p.ends.get(wrapper); taken {
		return
	}
	s.wrapper = wrapper
	p.ends.set(wrapper, ends{i, i})
}

// take removes the oldest submission of a task, or of the one that it is around. ok is
// false if there is none; the caller decides whether it was one of those beyond.
func (p *pending) take(task uint64) (s slot, ok bool) {
	e, found := p.ends.get(task)
	if !found {
		return slot{}, false
	}
	i := e.first
	s = p.slots[i]
	if s.task != task { // task is the wrapper
		if p.first(s.task) != i {
			p.unlinkSame(i)
		} else {
			p.shift(s.task, i)
		}
	} else {
		p.shift(task, i)
	}
	p.release(i)
	return s, true
}

// mostSame bounds the search among the submissions of one task.
const mostSame = 512

// takeAt removes the submission of a task at a moment; if it is not there, the oldest.
func (p *pending) takeAt(task uint64, ticks units.Ticks) (s slot, ok bool) {
	e, found := p.ends.get(task)
	if !found {
		return slot{}, false
	}
	before, i := int32(-1), e.first
	for n := 0; i >= 0 && p.slots[i].ticks != ticks; n++ {
		if before, i = i, p.slots[i].next; n == mostSame {
			i = -1
		}
	}
	if i < 0 || before < 0 || p.slots[i].task != task {
		return p.take(task)
	}
	s = p.slots[i]
	p.slots[before].next = s.next
	if e.last == i {
		p.ends.set(task, ends{e.first, before})
	}
	p.release(i)
	return s, true
}

// last removes the newest submission of a task: it was rejected.
func (p *pending) last(task uint64) (s slot, ok bool) {
	e, found := p.ends.get(task)
	if !found || p.slots[e.last].task != task {
		return slot{}, false
	}
	i := e.last
	s = p.slots[i]
	if e.first == i {
		p.ends.remove(task)
	} else {
		p.unlinkSame(i)
	}
	p.release(i)
	return s, true
}

// shift makes the next submission of a task its first.
func (p *pending) shift(task uint64, i int32) {
	if next := p.slots[i].next; next >= 0 {
		e, _ := p.ends.get(task)
		p.ends.set(task, ends{next, e.last})
	} else {
		p.ends.remove(task)
	}
}

// unlinkSame takes slot i, which is not the first, out of those of its task.
func (p *pending) unlinkSame(i int32) {
	task := p.slots[i].task
	e, _ := p.ends.get(task)
	for at := e.first; at >= 0; at = p.slots[at].next {
		if p.slots[at].next == i {
			p.slots[at].next = p.slots[i].next
			if e.last == i {
				e.last = at
				p.ends.set(task, e)
			}
			return
		}
	}
}

func (p *pending) release(i int32) {
	s := &p.slots[i]
	if s.wrapper != 0 {
		p.ends.remove(s.wrapper)
	}
	if s.older >= 0 {
		p.slots[s.older].newer = s.newer
	} else {
		p.oldest = s.newer
	}
	if s.newer >= 0 {
		p.slots[s.newer].older = s.older
	} else {
		p.newest = s.older
	}
	*s = slot{next: -1}
	p.free = append(p.free, i)
}

// len is the number of submissions that wait.
func (p *pending) len() uint64 { return uint64(len(p.slots)-len(p.free)) + p.beyond }

// reset forgets all.
func (p *pending) reset() {
	p.budget.give(len(p.slots))
	*p = newPending(p.budget)
}

// drop forgets the submissions that which selects.
func (p *pending) drop(which func(*slot) bool) {
	for i := p.oldest; i >= 0; {
		s := p.slots[i]
		if which(&s) {
			if p.first(s.task) == i {
				p.shift(s.task, i)
			} else {
				p.unlinkSame(i)
			}
			p.release(i)
		}
		i = s.newer
	}
}

// unwrap forgets the task around a submission that has begun.
func (p *pending) unwrap(wrapper uint64) {
	if e, ok := p.ends.get(wrapper); ok && p.slots[e.first].wrapper == wrapper {
		p.slots[e.first].wrapper = 0
		p.ends.remove(wrapper)
	}
}
