package session

import (
	"strings"

	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// fates is what is known of submissions beside those of the task itself: libraries
// put a task of their own around the one that they are given (FutureTask), and
// that is cancelled, or never run, in its place.
type fates struct {
	complete   bool            // all submissions are recorded
	summarised map[uint32]bool // classes with submissions that are not
	cancelled  *idSet          // the tasks around those that are in it, or they themselves, were
	emptied    *idSet          // cancelled and rejected tasks of the library whose content is known
	inside     bool            // a task that the program submitted may hold another one, and did not run it
}

// readFates reads who was cancelled, and what was in a submission around it: of
// each thread, the first task that a library submits inside that of another
// is around that one.
func (j *join) readFates() error {
	h := j.s.Manifest.Submissions
	j.fates = fates{summarised: map[uint32]bool{}, cancelled: newIDSet(), emptied: newIDSet(), complete: h != nil && h.Lost == 0 && h.InGaps == 0}
	any := false
	for i := range j.submissions {
		x := &j.submissions[i]
		if x.flags&wire.Cancelled != 0 {
			j.fates.cancelled.add(x.id)
		}
		any = any || x.flags&(wire.Cancelled|wire.Rejected) != 0
	}
	if !any {
		return nil
	}
	type submitted struct {
		id   uint64
		open bool // nothing was submitted inside yet
	}
	latest := map[uint32]submitted{} // by thread
	holders := map[uint32]uint64{}   // by thread: the library's task that was cancelled last, if nothing came after it
	refused := map[uint32]uint64{}   // by thread: the library's task that was rejected last, if only what is inside came after it
	return j.s.Submissions(func(c *SubmissionChunk) error {
		for i, id := range c.TaskID {
			flags, thread := wire.SubmissionFlags(c.Flags[i]), c.Thread[i]
			holder, class := holders[thread], j.s.ClassByID(c.Class[i])
			j.readRefused(refused, thread, id, class, flags)
			switch {
			case flags&wire.Cancelled == 0:
				delete(holders, thread)
			case class == nil || !unit.IsWrapper(class.Name):
				if delete(holders, thread); holder != 0 {
					j.fates.emptied.add(holder)
				}
			case !isPart(class):
				holders[thread] = id
			}
			if flags&(wire.Rejected|wire.NoSubmission|wire.Started) != 0 {
				continue
			}
			x := latest[c.Thread[i]]
			switch {
			case flags&wire.Inner == 0:
				latest[c.Thread[i]] = submitted{id, true}
			case x.open && x.id != id:
				latest[c.Thread[i]] = submitted{}
				if j.fates.cancelled.has(id) {
					j.fates.cancelled.add(x.id)
				}
			}
		}
		return nil
	})
}

// readRefused notes the content of a library's task that was rejected: the agent
// records it right behind, as submitted inside and rejected.
func (j *join) readRefused(refused map[uint32]uint64, thread uint32, id uint64, class *Class, flags wire.SubmissionFlags) {
	wrapper := class != nil && unit.IsWrapper(class.Name)
	switch {
	case flags&wire.Inner != 0:
		if holder := refused[thread]; holder != 0 && !wrapper {
			j.fates.emptied.add(holder)
			delete(refused, thread)
		}
	case wrapper && flags&wire.Rejected != 0:
		refused[thread] = id
	default:
		delete(refused, thread)
	}
}

// findHolders reports whether there is a library's task that the program submitted
// over, and that did not run what it holds: then it is not known whose that is.
// The agent records it right behind what is cancelled.
func (j *join) findHolders() {
	for i := range j.creations {
		c := &j.creations[i]
		class := j.s.ClassByID(c.class)
		if class == nil || !unit.IsWrapper(class.Name) {
			continue
		}
		p := j.at(c.id, true)
		bit := uint64(1) << (c.id & 63)
		switch {
		case j.fates.cancelled.has(c.id):
			if j.fates.emptied.has(c.id) {
				continue
			}
		case p.executed&bit != 0 && (p.around&bit != 0 || class.Name != unit.AsyncRun):
			continue // AsyncRun does not run what it holds if somebody else completed the future
		}
		for _, x := range j.of(c.id, p) {
			// What the platform does for itself has no place.
			refused := x.dropped && !j.fates.emptied.has(c.id)
			if (x.stands() || refused) && x.flags&wire.Inner == 0 && (x.site != 0 || len(j.s.Sites()) == 0) {
				j.fates.inside = true
				return
			}
		}
	}
}

// fate fills in the latest submission of a task that was never executed, and
// what became of it.
func (j *join) fate(t *Task, p *page, class uint32) {
	refused := false
	for i, x := range j.of(t.TaskID, p) {
		switch {
		case x.stands():
			j.fill(t, &j.of(t.TaskID, p)[i])
		case x.dropped || x.flags&wire.Rejected != 0:
			refused = true
		}
	}
	switch {
	case j.fates.cancelled.has(t.TaskID):
		t.State = Cancelled
	case t.Submission != nil:
		t.State = NeverRun
	case refused:
		t.State = Rejected
	case j.fates.complete && !j.fates.inside && !j.fates.summarised[class] && !isPart(t.Class):
		t.State = NeverSubmitted
	}
}

// isPart finds the adapters that are a part of a library's task and never submitted
// over themselves.
func isPart(c *Class) bool {
	return c.Kinds&(units.KindRunnable|units.KindForkJoin) == 0 && unit.IsWrapper(c.Name)
}

// Fates counts the tasks of each class that were never executed, by what became
// of them. Memory as for Tasks.
func (s *Session) Fates() (map[uint32]map[TaskState]int64, error) {
	out := map[uint32]map[TaskState]int64{}
	j := newJoin(s)
	j.fatesOnly = true
	err := j.run(func(t *Task) error {
		per := out[t.Class.ID]
		if per == nil {
			per = map[TaskState]int64{}
			out[t.Class.ID] = per
		}
		per[t.State]++
		return nil
	})
	return out, err
}

// Kept are cancelled tasks of a class that were never executed and that their executor has kept.
type Kept struct{ Class, Executor uint32 }

// KeptCancelled counts the cancelled tasks that a ScheduledThreadPoolExecutor keeps in its queue until they are due: it was not
// given setRemoveOnCancelPolicy(true), and as many of the tasks that it was handed, which are around them, have not left its queue.
// Memory as for Tasks; an executor of which the agent has not recorded what it was given keeps none.
func (s *Session) KeptCancelled() (map[Kept]int64, error) {
	keeps := map[uint32]bool{}
	for i := range s.Executors() {
		if e := &s.Executors()[i]; strings.HasSuffix(e.Queue, "$DelayedWorkQueue") && !e.RemovesCancelled {
			keeps[e.ID] = true
		}
	}
	out := map[Kept]int64{}
	if len(keeps) == 0 {
		return out, nil
	}
	queued := map[uint32]int64{} // by executor
	j := newJoin(s)
	j.fatesOnly = true
	err := j.run(func(t *Task) error {
		if t.Submission == nil || t.Submission.Executor == nil || !keeps[t.Submission.Executor.ID] {
			return nil
		}
		executor := t.Submission.Executor.ID
		if t.Submission.Flags&wire.Inner != 0 { // the task around it, which is what is queued
			queued[executor]++
		}
		if t.State == Cancelled {
			out[Kept{t.Class.ID, executor}]++
		}
		return nil
	})
	for k, n := range out {
		out[k] = min(n, queued[k.Executor])
	}
	return out, err
}
