package live

import (
	"cmp"
	"slices"

	"stackagent/granularity/unit"
	"stackagent/internal/wire"
)

// openReport is what threads were executing when the agent last looked.
type openReport struct {
	known bool
	at    int64
	list  []openTask
	more  uint64 // threads that are not in list
}

// openTask is a task that had not ended.
type openTask struct {
	thread     uint32
	task       uint64
	start      int64
	flow, pool *flow
	site       uint32
}

// maxOpen bounds them.
const maxOpen = 1024

// opened takes a report. It comes after the executions of its batch: what it lists ends later.
func (j *jvm) opened(r *wire.RunningReport) {
	for _, f := range j.classFlows {
		f.open = 0
	}
	for _, f := range j.executorFlows {
		f.open = 0
	}
	if j.restOfClasses != nil {
		j.restOfClasses.open = 0
	}
	j.opens.known, j.opens.at, j.opens.more = true, j.ns(r.At), r.More
	j.opens.list = j.opens.list[:0]
	for i := range r.Threads {
		j.openOn(&r.Threads[i])
	}
}

// openOn finds the task of a thread: its outermost execution that is neither a loop nor a wrapper.
func (j *jvm) openOn(x *wire.RunningThread) {
	at := -1
	for i := range x.Executions {
		role := j.class(x.Executions[i].Class).role
		switch role {
		case unit.Loop:
			j.learnLoop(x, i)
		case unit.Internal:
			return
		case unit.Task, unit.Library, unit.Platform:
			at = i
		}
		if role == unit.Task {
			break
		}
	}
	if at < 0 || len(j.opens.list) >= maxOpen {
		return
	}
	e := &x.Executions[at]
	t := j.threads[x.Thread]
	start, f := j.ns(e.Start), j.flowOf(e.Class, e.TaskID)
	pool := j.executorFlow(0)
	if t != nil && t.executor != 0 {
		pool = j.executorFlow(t.executor)
	}
	o := openTask{thread: x.Thread, task: e.TaskID, start: start, flow: f, pool: pool}
	if t != nil && t.open != (opened{e.TaskID, e.Start}) && t.before != (opened{e.TaskID, e.Start}) {
		if s, ok := j.pending.take(e.TaskID); ok {
			j.left(&s)
			t.site = s.site
			if t.executor == 0 {
				o.pool = s.pool
			}
		} else {
			t.site = 0
		}
		j.began(f, o.pool, start)
		t.before, t.open = t.open, opened{e.TaskID, e.Start}
	}
	if t != nil {
		o.site = t.site
	}
	f.open++
	o.pool.open++
	j.opens.list = append(j.opens.list, o)
}

// learnLoop keeps what tells tasks that ran in the loop of a thread from those inside others.
func (j *jvm) learnLoop(x *wire.RunningThread, i int) {
	if t := j.threads[x.Thread]; t != nil {
		t.loop = x.Executions[i].TaskID
	}
}

// longestRunning are the first n that began. Of tasks with a thread of their own it is known when they were submitted.
func (j *jvm) longestRunning(n int) []Open {
	list := slices.Clone(j.opens.list)
	slices.SortFunc(list, func(a, b openTask) int { return cmp.Compare(a.start, b.start) })
	out := []Open{}
	for _, o := range list[:min(n, len(list))] {
		out = append(out, Open{Task: taskID(o.task), Class: o.flow.name, Executor: j.executorLabel(o.pool.key.executor), Thread: j.threadLabel(o.thread),
			Site: j.siteTitle(o.site), SinceNs: float64(o.start), AgeNs: float64(max(0, j.opens.at-o.start))})
	}
	if j.alone > 0 {
		out = append(out, j.oldestSlots(n, true)...)
		slices.SortStableFunc(out, func(a, b Open) int { return cmp.Compare(a.SinceNs, b.SinceNs) })
		out = out[:min(n, len(out))]
	}
	return out
}

// longestQueued are the first n that were submitted.
func (j *jvm) longestQueued(n int) []Open { return j.oldestSlots(n, false) }

// oldestSlots are the first n submissions, of tasks with a thread of their own or of the others.
func (j *jvm) oldestSlots(n int, alone bool) []Open {
	out := []Open{}
	for i := j.pending.oldest; i >= 0 && len(out) < n; i = j.pending.slots[i].newer {
		s := &j.pending.slots[i]
		if s.alone != alone {
			continue
		}
		o := Open{Task: taskID(s.task), Class: s.flow.name, Executor: j.executorLabel(s.pool.key.executor),
			Site: j.siteTitle(s.site), SinceNs: float64(s.at), AgeNs: float64(max(0, j.now-s.at))}
		if !alone { // which thread runs it is not known
			o.Thread = j.threadLabel(s.thread)
		}
		out = append(out, o)
	}
	return out
}

// threadLabel is a thread's name; "": it is not known.
func (j *jvm) threadLabel(id uint32) string {
	if t := j.threads[id]; t != nil {
		return t.label()
	}
	return ""
}
