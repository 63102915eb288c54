package scaling

import (
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
)

// A driver is a thread that submits work to the workers' pool and is none of them: the
// main thread, or one that the program started for it. Outside the workers' tasks it is
// the sequential part of the program; in them (a parallel stream, invoke(), a CallerRuns
// policy) it is a worker.

const (
	// driverShare is the least share of the drivers' running time that the threads have to
	// which they submit: a pool that writes a log makes no drivers of its callers.
	driverShare = 0.05
	// starterShare is the most that threads which start others may run to count as drivers, as a share of their lives;
	// startersShare is the most that all of them may run, as a share of what the other workers run.
	starterShare  = 0.1
	startersShare = 0.25
	// slotShare is the least share of an application thread's mean time in tasks with
	// which a driver has a slot.
	slotShare = 0.1
)

// notSubmitted are records about submissions that submit nothing.
const notSubmitted = wire.Rejected | wire.Cancelled | wire.Asked | wire.Forgotten

func (t *tasks) readSubmissions() error {
	err := t.s.Submissions(func(c *session.SubmissionChunk) error {
		for i, class := range c.Class {
			p, ok := t.index[c.Thread[i]]
			switch flags := wire.SubmissionFlags(c.Flags[i]); {
			case !ok || flags&notSubmitted != 0:
			case flags&wire.Started != 0:
				note(t.starters, p, class)
			default:
				note(t.submitters, p, class)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("session %s: reading the submissions of its threads: %w", t.s.Manifest.Session, err)
	}
	err = t.s.Summaries(func(x *session.Summary) error { // who submits is known before the executions are read
		p, ok := t.index[x.Thread]
		switch {
		case !ok || x.Submissions == 0 || x.Virtual():
		case t.starts[x.Class]: // nobody submits a thread but to start it
			note(t.starters, p, x.Class)
		default:
			note(t.submitters, p, x.Class)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("session %s: reading the summaries of its submissions: %w", t.s.Manifest.Session, err)
	}
	return nil
}

func note(to map[int]map[uint32]bool, thread int, class uint32) {
	if to[thread] == nil {
		to[thread] = map[uint32]bool{}
	}
	to[thread][class] = true
}

// drives reports whether a thread may be a driver.
func (t *tasks) drives(p int) bool {
	return t.threads[p].Kind == activity.KindMain || t.submitters[p] != nil || t.starters[p] != nil
}

// drivers chooses the drivers. If the user did not name the workers, a driver is no
// longer one of them.
func (t *tasks) drivers(workers []bool, ran []units.Ns, named bool) []bool {
	out := make([]bool, len(t.threads))
	for p, th := range t.threads {
		switch {
		case th.Kind == activity.KindMain:
			out[p] = true
		case named:
			out[p] = !workers[p] && (t.feeds(p, t.submitters[p], workers) != nil || t.feeds(p, t.starters[p], workers) != nil)
		}
	}
	if named {
		return out
	}
	fed, own := map[int]bool{}, units.Ns(0)
	var found []int
	for p, th := range t.threads {
		if th.Kind != activity.KindApplication || t.pooled[p] {
			continue
		}
		if to := t.feeds(p, t.submitters[p], workers); to != nil {
			found, own = append(found, p), own+ran[p]
			for _, w := range to {
				fed[w] = true
			}
		}
	}
	others := units.Ns(0)
	for w := range fed {
		others += ran[w]
	}
	if float64(others) >= driverShare*float64(own) {
		for _, p := range found {
			out[p], workers[p] = true, false
		}
	}
	t.starting(out, workers, ran)
	return out
}

// starting adds the threads that start others and hardly run themselves: they wait for those. One that computes beside the threads
// that it started, or starts its successor at its end, is a worker as they are.
func (t *tasks) starting(drivers, workers []bool, ran []units.Ns) {
	var found []int
	own, others := units.Ns(0), units.Ns(0)
	for p, th := range t.threads {
		lived := units.Ns(0)
		for _, span := range t.spans {
			lived += activity.Span{From: th.First, To: th.Last}.Cut(span).Len()
		}
		switch {
		case !workers[p] || drivers[p]:
		case t.starters[p] != nil && !t.pooled[p] && float64(ran[p]) <= starterShare*float64(lived):
			found, own = append(found, p), own+ran[p]
		default:
			others += ran[p]
		}
	}
	if float64(own) > startersShare*float64(others) {
		return
	}
	for _, p := range found {
		drivers[p], workers[p] = true, false
	}
}

// feeds are the workers of other pools that ran tasks of these classes, which p
// submitted.
func (t *tasks) feeds(p int, classes map[uint32]bool, workers []bool) (to []int) {
	for key := range t.ran {
		if w := key.thread; classes[key.class] && workers[w] && t.threads[w].Pool != t.threads[p].Pool && (t.pooled[w] || t.submitters[w] == nil) {
			to = append(to, w)
		}
	}
	return to
}

// shared are the classes of tasks that count as the workers': those that they ran; if
// there are no workers, all but the methods that the user named. A wrapper (FutureTask)
// does not count: the task in it does.
func (t *tasks) shared(workers, drivers []bool) map[uint32]bool {
	out, any := map[uint32]bool{}, false
	for p, worker := range workers {
		any = any || worker && !drivers[p]
	}
	for key, ran := range t.ran {
		switch {
		case t.wraps[key.class]:
		case any && workers[key.thread] && !drivers[key.thread] && ran > 0, !any && !t.named[key.class]:
			out[key.class] = true
		}
	}
	return out
}

// shifts are the times, by span and thread, that drivers spent in shared tasks.
func (t *tasks) shifts(drivers []bool, shared map[uint32]bool) [][][]activity.Span {
	all := make([][]activity.Span, len(t.threads))
	for key, times := range t.did {
		if drivers[key.thread] && shared[key.class] {
			all[key.thread] = append(all[key.thread], times...)
		}
	}
	out := make([][][]activity.Span, len(t.spans))
	for i, span := range t.spans {
		out[i] = make([][]activity.Span, len(t.threads))
		for p, times := range all {
			for _, shift := range merged(slices.Clone(times)) {
				if shift = shift.Cut(span); shift.Len() > 0 {
					out[i][p] = append(out[i][p], shift)
				}
			}
		}
	}
	return out
}

// giveSlots makes application threads of the drivers that do a share of the work.
func (t *tasks) giveSlots(workers, drivers []bool, shared map[uint32]bool) {
	count, others, own := 0, units.Ns(0), make([]units.Ns, len(t.threads))
	for p, worker := range workers {
		if worker && !drivers[p] {
			count++
		}
	}
	for key, ran := range t.ran {
		switch p := key.thread; {
		case drivers[p] && shared[key.class]:
			own[p] += ran - t.body[key].ran
		case workers[p]:
			others += ran
		}
	}
	for p, driver := range drivers {
		if driver && own[p] > 0 && float64(own[p])*float64(count) >= slotShare*float64(others) {
			workers[p] = true
		}
	}
}
