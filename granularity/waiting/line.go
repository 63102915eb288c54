package waiting

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/heap"
	"stackagent/internal/units"
)

// Use is what a Line calls. A function may be nil.
type Use struct {
	// Unit: a unit has ended; t adds up to its length.
	Unit func(u *Unit, t *Times)
	// Waited: d nanoseconds of a wait have passed as part, inside u; nil: inside none. It is called for each unit
	// around the wait.
	Waited func(u *Unit, w *Wait, part Part, d units.Ns)
}

// Line is the time of one thread. Waits and units are in the order of From.
type Line struct {
	use    Use
	pauses []activity.Span
	waits  []Wait
	units  []Unit
	open   heap.Heap[openUnit]
	at     units.MonoNs
	sum    Times
	idle   bool // the thread has nothing to do as long as no wait says otherwise
}

// NewLine begins the time of a thread at from. Pauses are in order and apart.
func NewLine(from units.MonoNs, pauses []activity.Span, waits []Wait, work []Unit, use Use) *Line {
	first, _ := slices.BinarySearchFunc(pauses, from, func(p activity.Span, at units.MonoNs) int { return cmp.Compare(p.To, at) })
	return &Line{use: use, pauses: pauses[first:], waits: waits, units: work, at: from}
}

// Times are those from the begin of the line to the latest slice.
func (l *Line) Times() Times { return l.sum }

// Wait is the wait in which the thread is at the end of the latest slice, or which has just ended; nil: none.
func (l *Line) Wait() *Wait {
	if len(l.waits) == 0 || l.waits[0].From >= l.at {
		return nil
	}
	return &l.waits[0]
}

// Add says what the thread did in a slice. Nothing is known of the time since the slice before it.
func (l *Line) Add(s activity.Slice) {
	l.advance(s.From, activity.Unknown)
	l.advance(s.To, s.State)
}

// AddIdle says the same of a slice in which the thread has nothing to do, if it is in a wait for what nothing else says.
func (l *Line) AddIdle(s activity.Slice) {
	l.advance(s.From, activity.Unknown)
	l.idle = true
	l.advance(s.To, s.State)
	l.idle = false
}

// Close ends the line at to. Units that reach beyond it end, too: nothing is known of the rest.
func (l *Line) Close(to units.MonoNs) {
	l.advance(to, activity.Unknown)
	l.settle()
	for len(l.open) > 0 {
		l.end()
	}
	for i := range l.units {
		u := &l.units[i]
		l.ended(u, &Times{Unknown: units.Ns(max(u.To-u.From, 0))})
	}
	l.units, l.waits = nil, nil
}

func (l *Line) advance(to units.MonoNs, state activity.ThreadState) {
	for l.at < to {
		l.settle()
		next := min(to, l.next())
		l.pass(next, state)
	}
}

// settle ends and begins what ends and begins before or now.
func (l *Line) settle() {
	for len(l.pauses) > 0 && l.pauses[0].To <= l.at {
		l.pauses = l.pauses[1:]
	}
	for len(l.waits) > 0 && l.waits[0].To <= l.at {
		l.waits = l.waits[1:]
	}
	for len(l.open) > 0 && l.open[0].unit.To <= l.at {
		l.end()
	}
	for len(l.units) > 0 && l.units[0].From <= l.at {
		u := &l.units[0]
		l.units = l.units[1:]
		l.open.Push(openUnit{u, l.sum})
		for l.open[0].unit.To <= l.at {
			l.end()
			if len(l.open) == 0 {
				break
			}
		}
	}
}

// next is when something begins or ends next.
func (l *Line) next() units.MonoNs {
	next := units.MonoNs(math.MaxInt64)
	after := func(at units.MonoNs) {
		if at > l.at {
			next = min(next, at)
		}
	}
	if len(l.pauses) > 0 {
		after(l.pauses[0].From)
		after(l.pauses[0].To)
	}
	if len(l.waits) > 0 {
		after(l.waits[0].From)
		after(l.waits[0].Ready)
		after(l.waits[0].To)
	}
	if len(l.units) > 0 {
		after(l.units[0].From)
	}
	if len(l.open) > 0 {
		after(l.open[0].unit.To)
	}
	return next
}

// pass moves to the moment to; nothing begins or ends on the way.
func (l *Line) pass(to units.MonoNs, state activity.ThreadState) {
	var w *Wait
	if len(l.waits) > 0 && l.waits[0].From <= l.at {
		w = &l.waits[0]
	}
	pause := len(l.pauses) > 0 && l.pauses[0].From <= l.at
	part := partOf(state, w, w != nil && l.at >= w.Ready, pause)
	if part == Unnamed && l.idle {
		part = Idle
	}
	d := units.Ns(to - l.at)
	l.sum[part] += d
	l.at = to
	if w == nil || l.use.Waited == nil {
		return
	}
	for i := range l.open {
		l.use.Waited(l.open[i].unit, w, part, d)
	}
	if len(l.open) == 0 {
		l.use.Waited(nil, w, part, d)
	}
}

// end ends the open unit that ends first.
func (l *Line) end() {
	o := l.open.Pop()
	t := l.sum
	for i := range t {
		t[i] -= o.before[i]
	}
	t[Unknown] += units.Ns(max(o.unit.To-o.unit.From, 0)) - t.Sum() // before the line began
	l.ended(o.unit, &t)
}

func (l *Line) ended(u *Unit, t *Times) {
	if u.CPU.Measured() {
		t.Ran(u.CPU)
	}
	if l.use.Unit != nil {
		l.use.Unit(u, t)
	}
}

// openUnit is a unit that has not ended, with the times of the line when it began.
type openUnit struct {
	unit   *Unit
	before Times
}

// Before reports whether o ends before p.
func (o openUnit) Before(p openUnit) bool { return o.unit.To < p.unit.To }
