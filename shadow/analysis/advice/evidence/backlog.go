package evidence

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// backlogs finds the classes of the program whose tasks nobody submitted, as the actions of a cleaner, and that one thread runs which others
// make them for and which is busy with them: if they are made faster than it runs them, they pile up.
func (a *advisor) backlogs(t advice.Thresholds) ([]advice.Backlog, error) {
	of := map[uint32]*backlog{}
	for id, c := range a.classes {
		class := a.s.ClassByID(id)
		if c.direct < c.units || c.summarised > 0 || c.inside > 0 || c.recorded < t.BacklogTasks || len(c.pools) != 1 || class == nil || unit.IsJDK(class.Name, class.Kinds) {
			continue
		}
		p := a.pools[most(c.pools)]
		if p == nil || len(p.workers) != 1 {
			continue
		}
		for thread, w := range p.workers {
			if units.Ns(w.to-w.from) >= t.PoolTime {
				of[id] = &backlog{thread: thread}
			}
		}
	}
	if len(of) == 0 {
		return nil, nil
	}
	if err := a.readBacklogs(of); err != nil {
		return nil, err
	}
	var list []advice.Backlog
	for id, b := range of {
		x, ok := b.sum()
		if thread := a.s.ThreadByID(b.thread); ok && x.Busy >= t.Busy && thread != nil {
			x.Class, x.Thread = a.className(id), thread.Name
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(x, y advice.Backlog) int {
		return cmp.Or(cmp.Compare(y.Most, x.Most), cmp.Compare(x.Class, y.Class))
	})
	return list, nil
}

// finalizer is the CPU time of the thread that runs finalize().
func (a *advisor) finalizer() units.Ns {
	for i := range a.s.Threads {
		if t := &a.s.Threads[i]; t.Name == "Finalizer" && t.Group == "system" && t.CPU.Measured() {
			return t.CPU
		}
	}
	return 0
}

// backlog is when the tasks of a class were made and run.
type backlog struct {
	thread      uint32
	made, begun []units.MonoNs
	ended       []units.MonoNs
	own         int64 // made by the thread that runs them
}

func (a *advisor) readBacklogs(of map[uint32]*backlog) error {
	err := a.s.Creations(func(c *session.CreationChunk) error {
		for i, class := range c.Class {
			if b := of[class]; b != nil && wire.CreationFlags(c.Flags[i])&(wire.Withdrawn|wire.Failed) == 0 {
				b.made = append(b.made, units.MonoNs(c.AtNs[i]))
				if c.Thread[i] == b.thread {
					b.own++
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("creations: %w", err)
	}
	return a.u.Each(func(x *unit.Unit) error {
		if b := of[x.Class]; b != nil {
			b.begun, b.ended = append(b.begun, x.Start), append(b.ended, x.End)
		}
		return nil
	})
}

// sum says how many were made and not begun at most; not ok: hardly any, or the thread makes them itself.
func (b *backlog) sum() (x advice.Backlog, ok bool) {
	slices.Sort(b.made)
	slices.Sort(b.begun)
	slices.Sort(b.ended)
	n := int64(len(b.begun))
	x = advice.Backlog{Made: max(int64(len(b.made)), n), Run: n} // of some, the creation may not be recorded
	x.Busy = b.busy()
	begun := 0
	for i, at := range b.made {
		for begun < len(b.begun) && b.begun[begun] <= at {
			begun++
		}
		x.Most = max(x.Most, int64(i+1-begun))
	}
	return x, len(b.made) > 0 && len(b.begun) > 0 && b.own < x.Made/2 && 10*x.Most >= x.Made
}

// shortGap is the longest time between two tasks in which the thread has not run out of them: others have a turn on its CPU.
const shortGap units.Ns = 4_000_000

// busy is the share of the time from the first task to the last one in which there was something to run.
func (b *backlog) busy() float64 {
	n := min(len(b.begun), len(b.ended))
	if n == 0 {
		return 0
	}
	idle := units.Ns(0)
	for i := 1; i < n; i++ {
		if gap := units.Ns(b.begun[i] - b.ended[i-1]); gap > shortGap {
			idle += gap
		}
	}
	return 1 - float64(idle)/float64(max(1, b.ended[n-1]-b.begun[0]))
}
