package graph

import (
	"cmp"

	"stackagent/internal/units"
)

// A task runs at a fixed rate if the times at which its periods were due lie on a line to within offLine, and it was late for some of them
// or they fit better than a fixed time after the one before.
const (
	offLine   = units.MonoNs(1_000_000)
	fewestDue = 3
)

// fixRates finds when the periods of tasks at a fixed rate were due. Agents of earlier versions record when a period is due only
// if that lies in the future as the one before ends; where it is over already, it follows from the others, which are as far apart as each other.
func (r *reader) fixRates() error {
	for _, of := range r.byTask.lists {
		if len(of) >= fewestDue {
			r.fixRate(of)
		}
	}
	return nil
}

func (r *reader) fixRate(of []uint32) {
	first, last, late := -1, -1, false
	dues := make([]units.MonoNs, len(of)) // 0: not known
	for k, n := range of {
		u := &r.rec.units[n]
		switch {
		case u.due == 0:
			return
		case !u.late:
			dues[k] = u.due
		case u.lateBy != 0 && k > 0:
			dues[k] = u.submitted - units.MonoNs(u.lateBy)
		}
		if late = late || u.late; dues[k] == 0 {
			continue
		}
		if last = k; first < 0 {
			first = k
		}
	}
	if last-first < 1 {
		return
	}
	period := float64(dues[last]-dues[first]) / float64(last-first)
	dueOf := func(k int) units.MonoNs { return dues[first] + units.MonoNs(float64(k-first)*period) }
	off, least, most := units.MonoNs(0), units.MonoNs(-1), units.MonoNs(0) // from the line; between the end of a period and the next one's due time
	for k, n := range of {
		if dues[k] == 0 {
			continue
		}
		off = max(off, dues[k]-dueOf(k), dueOf(k)-dues[k])
		if k > 0 && !r.rec.units[n].late {
			after := dues[k] - r.rec.units[of[k-1]].end
			if most = max(most, after); least < 0 || after < least {
				least = after
			}
		}
	}
	if off > offLine || !late && off > most-least {
		return
	}
	for k, n := range of[1:] {
		u := &r.rec.units[n]
		u.fixed, u.due = true, min(dueOf(k+1), u.start)
	}
}

// queueAgain finds who queued the later periods of a java.util.Timer's tasks: nothing is submitted then, its thread queues a task again as it
// begins to run it.
func (r *reader) queueAgain() error {
	for _, of := range r.byTask.lists {
		for k := 1; k < len(of); k++ {
			before, u := &r.rec.units[of[k-1]], &r.rec.units[of[k]]
			if u.submitter != 0 || u.due == 0 || u.thread != before.thread {
				continue
			}
			u.submitter, u.again = u.thread, true
			u.submitted = min(max(u.submitted, before.start+1), u.start) // inside the unit
			u.executor, u.site = cmp.Or(u.executor, before.executor), before.site
		}
	}
	return nil
}
