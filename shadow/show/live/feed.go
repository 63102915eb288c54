package live

import (
	"strings"

	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// A task is a unit of work (docs/guide.md), as far as that shows when executions end: an
// execution of a task of the program that was submitted or is the outermost on its thread, the
// wrappers of the JDK and the loops of threads left out. What another task calls plainly is
// part of that one.

// held is an execution that nobody submitted, inside another one: whether it is a task of its
// own shows when that one ends.
type held struct {
	outer      uint64 // 0: none
	counted    bool   // the tasks inside are counted already
	flow       *flow
	own        opened
	start, end int64
	threw      bool
}

// opened is the task that a thread was executing at the last report.
type opened struct {
	task  uint64
	start units.Ticks // as nanoseconds it is another moment with each reading of the clock
}

// ns is a moment on the session's clock.
func (j *jvm) ns(t units.Ticks) int64 { return int64(j.clock.mono(t) - j.start) }

// feed takes a batch.
func (j *jvm) feed(b *wire.Batch) {
	j.describe(b)
	for i := range b.Creations {
		x := &b.Creations[i]
		if c := j.class(x.Class); c.bySite {
			j.rememberSite(c, x.TaskID, x.Site)
		} else if c.role == unit.Loop && len(j.loops) < maxLoops {
			j.loops[x.TaskID] = struct{}{}
		} else if c.lambda && x.Site != 0 {
			c.titled(j.sites[x.Site])
		}
	}
	j.submissions(b.Submissions)
	j.executions(b.Executions)
	for i := range b.Summaries {
		j.summary(&b.Summaries[i])
	}
	for i := range b.Pauses {
		j.pause(&b.Pauses[i])
	}
	if len(b.OS) > 0 {
		j.cpuTimes(b.OS)
	}
	if b.Running != nil {
		j.opened(b.Running)
	}
	if b.Last { // what still ran has ended with the JVM
		j.opened(&wire.RunningReport{At: b.Clock.Ticks})
	}
	j.account(&b.Totals)
	if j.now-j.earlyAt > 10*second {
		clear(j.early)
		j.earlyAt = j.now
	}
}

// describe takes what names things, and the moment of the batch.
func (j *jvm) describe(b *wire.Batch) {
	j.advance(int64(b.Clock.Mono - j.start))
	for i := range b.Classes {
		j.describeClass(&b.Classes[i])
	}
	for i := range b.Sites {
		j.describeSite(&b.Sites[i])
	}
	for i := range b.Executors {
		j.describeExecutor(&b.Executors[i])
	}
}

// describeThreads comes after the executions: a thread that has ended ran some of them.
func (j *jvm) describeThreads(b *wire.Batch, ended bool) {
	for i := range b.Threads {
		if t := &b.Threads[i]; t.End != 0 == ended {
			j.describeThread(t)
		}
	}
}

// account takes the running sums.
func (j *jvm) account(t *wire.Totals) {
	lost := t.LostSubmissions
	for _, l := range t.Lost {
		lost += l.Events
	}
	if b := j.at(j.head); b != nil && lost > j.lost && j.totals.Executions > 0 {
		b.lost += lost - j.lost
	}
	j.lost = max(j.lost, lost)
	j.totals.Executions, j.totals.Scheduling = max(1, t.Executions), t.Scheduling
}

var ownStop = units.GCCauseOf(units.Profiler)

func (j *jvm) pause(p *wire.Pause) {
	from, to := j.ns(p.Start), j.ns(p.End)
	if to < from || p.Cause == ownStop { // no collection
		return
	}
	j.pauses++
	j.pauseNs += to - from
	for at := max(from, (j.head-seriesRing+1)*second, 0); at < to; {
		end := min(to, (at/second+1)*second)
		if b := j.at(at / second); b != nil {
			b.gc += end - at
		}
		at = end
	}
}

func (j *jvm) cpuTimes(list []wire.OSThread) {
	used, since, ok := j.cpu.snapshot(list, j.now)
	if !ok {
		return
	}
	j.spread(since, j.now, func(b *bucket) *float64 { return &b.cpuKnown }, 1)
	for k, ns := range used {
		if ns > 0 {
			j.spread(since, j.now, func(b *bucket) *float64 { return &b.cpu[k] }, float64(ns)/float64(j.now-since))
		}
	}
}

// submissions follows what was submitted.
func (j *jvm) submissions(list []wire.Submission) {
	outer, outerThread := int32(-1), uint32(0) // the slot of the program's submission under way
	for i := range list {
		x := &list[i]
		if x.Thread != outerThread {
			outer, outerThread = -1, x.Thread
		}
		switch {
		case x.Flags&wire.Cancelled != 0:
			if s, ok := j.pending.take(x.TaskID); ok {
				j.left(&s)
				s.flow.cancelled++
			}
		case x.Flags&(wire.Asked|wire.Forgotten) != 0:
		case x.Flags&wire.Inner != 0:
			if x.Flags&(wire.Started|wire.Rejected) == 0 && outer >= 0 {
				j.passesOn(j.pending.slots[outer].pool, x.Executor)
				j.pending.wrap(outer, x.TaskID)
			}
		case x.Flags&wire.Rejected != 0:
			j.rejected(x)
		default:
			outer = j.submitted(x)
		}
	}
}

// submitted takes a submission by the program, and returns its slot.
func (j *jvm) submitted(x *wire.Submission) int32 {
	c := j.class(x.Class)
	if c.role == unit.Loop || c.role == unit.Internal {
		return -1
	}
	if c.bySite && j.siteOf(c, x.TaskID) == 0 {
		j.rememberSite(c, x.TaskID, x.Site)
	}
	if c.lambda && x.Site != 0 {
		c.titled(j.sites[x.Site])
	}
	f, pool := j.flowOf(x.Class, x.TaskID), j.executorFlow(x.Executor)
	at := j.ns(x.At)
	sec := at / second
	f.home = pool
	f.submit(sec, 1)
	pool.submit(sec, 1)
	if b := j.at(sec); b != nil {
		b.submitted++
	}
	// The delay that a task was given is no waiting, and a thread that starts is in no queue.
	if x.Flags&(wire.Scheduled|wire.Started) != 0 {
		return -1
	}
	f.counted++
	if n := j.early[x.TaskID]; n > 0 { // it has begun
		if n == 1 {
			delete(j.early, x.TaskID)
		} else {
			j.early[x.TaskID] = n - 1
		}
		f.counted--
		return -1
	}
	if j.now < f.byCount {
		return -1
	}
	s := slot{task: x.TaskID, at: at, ticks: x.At, flow: f, pool: pool, thread: x.Thread, site: x.Site, alone: j.startsThreads(x.Executor)}
	i := j.pending.submit(s)
	if i >= 0 {
		j.waits(&s, 1)
	}
	return i
}

// left takes note of a slot that has become free.
func (j *jvm) left(s *slot) {
	j.waits(s, -1)
	s.flow.counted--
}

// waits counts a slot that is taken (1) or free again (-1).
func (j *jvm) waits(s *slot, n int64) {
	if s.alone {
		s.flow.alone += n
		s.pool.alone += n
		j.alone += n
		return
	}
	s.flow.waiting += n
	s.pool.waiting += n
}

// startsThreads reports whether an executor starts a thread for each task, so that none waits for a worker.
func (j *jvm) startsThreads(executor uint32) bool {
	e := j.executors[executor]
	return e != nil && strings.HasSuffix(e.Class, "ThreadPerTaskExecutor")
}

func (j *jvm) rejected(x *wire.Submission) {
	c := j.class(x.Class)
	if c.role == unit.Loop || c.role == unit.Internal {
		return
	}
	f, pool := j.flowOf(x.Class, x.TaskID), j.executorFlow(x.Executor)
	sec := j.ns(x.At) / second
	if s, ok := j.pending.last(x.TaskID); ok {
		j.left(&s)
		if x.Executor == 0 {
			pool = s.pool
		}
	} else if j.pending.beyond > 0 {
		j.pending.beyond--
		f.counted--
	}
	f.reject(sec, 1)
	pool.reject(sec, 1)
	if b := j.at(sec); b != nil {
		b.rejected++
	}
}

// thread is the thread of an id, nil if it is not followed: it is virtual, or there are too many.
func (j *jvm) thread(id uint32) *thread {
	if t := j.lastThread; t != nil && t.id == id {
		return t
	}
	t := j.threads[id]
	if t != nil {
		j.lastThread = t
	}
	return t
}

// virtualHeld is how many virtual threads have an execution that is held, at most: a later one takes
// the place of an earlier one.
const virtualHeld = 1024

func (j *jvm) heldOf(t *thread, id uint32) *held {
	if t != nil {
		return &t.held
	}
	if j.virtual == nil {
		j.virtual, j.virtualOf = make([]held, virtualHeld), make([]uint32, virtualHeld)
	}
	i := id % virtualHeld
	if j.virtualOf[i] != id {
		j.virtualOf[i], j.virtual[i] = id, held{}
	}
	return &j.virtual[i]
}

// executions takes executions in the order in which each thread ended them.
func (j *jvm) executions(list []wire.Execution) {
	for i := range list {
		x := &list[i]
		c := j.class(x.Class)
		j.executed++
		if c.role == unit.Loop {
			delete(j.loops, x.TaskID)
			continue
		}
		if c.role == unit.Internal {
			continue
		}
		if x.Flags&wire.Running != 0 || x.End == wire.NoEnd {
			continue // the session ends
		}
		t := j.thread(x.Thread)
		h := j.heldOf(t, x.Thread)
		around := h.outer != 0 && h.outer == x.TaskID
		inLoop := x.OuterTaskID == 0 || t != nil && t.loop == x.OuterTaskID || j.isLoop(t, x.OuterTaskID) || t != nil && t.finds(x)
		start := j.ns(x.Start)
		switch {
		case c.role == unit.Wrapper || c.role == unit.Library || c.role == unit.Platform:
			j.wrapper(x, c, t, h, around, inLoop, start)
		case x.Submitted != 0 || inLoop || c.named:
			j.task(x, t, j.flowOf(x.Class, x.TaskID), start, j.ns(x.End), x.Flags&wire.Threw != 0, true, opened{x.TaskID, x.Start})
			*h = held{outer: x.OuterTaskID, counted: true}
		default:
			*h = held{outer: x.OuterTaskID, flow: j.flowOf(x.Class, x.TaskID), own: opened{x.TaskID, x.Start}, start: start, end: j.ns(x.End), threw: x.Flags&wire.Threw != 0}
		}
		if inLoop {
			h.outer = 0
		}
	}
}

// isLoop reports whether a task is the loop of a thread.
func (j *jvm) isLoop(t *thread, task uint64) bool {
	if _, ok := j.loops[task]; !ok {
		return false
	}
	if t != nil {
		t.loop = task
	}
	return true
}

// finds reports whether an execution shows what is the loop of a worker that was there before the shadow: what two
// tasks that were submitted ran in, with at most a wrapper between them.
func (t *thread) finds(x *wire.Execution) bool {
	if t.executor == 0 || t.loop != 0 || x.Submitted == 0 {
		return false
	}
	if x.OuterTaskID == t.outer[0] || x.OuterTaskID == t.outer[1] {
		t.loop = x.OuterTaskID
		return true
	}
	t.outer = [2]uint64{x.OuterTaskID, t.outer[0]}
	return false
}

// wrapper takes an execution around a task, or one of a library or of the platform without one.
func (j *jvm) wrapper(x *wire.Execution, c *class, t *thread, h *held, around, inLoop bool, start int64) {
	// What the platform runs without a submission is its own.
	submitted := x.Submitted != 0 || inLoop && c.role != unit.Platform
	switch {
	case around && h.counted:
		j.pending.unwrap(x.TaskID)
		h.outer = x.OuterTaskID
	case around && h.flow != nil && submitted:
		j.task(x, t, h.flow, h.start, h.end, h.threw, c.role != unit.Wrapper, h.own)
		*h = held{outer: x.OuterTaskID, counted: true}
	case around && h.flow != nil:
		h.outer = x.OuterTaskID
	case submitted && c.role != unit.Wrapper:
		j.task(x, t, j.flowOf(x.Class, x.TaskID), start, j.ns(x.End), x.Flags&wire.Threw != 0, true, opened{x.TaskID, x.Start})
		*h = held{outer: x.OuterTaskID, counted: true}
	default:
		// What it is around was summarised, or has no record.
		if s, ok := j.pending.take(x.TaskID); ok {
			j.left(&s)
		}
	}
}

// task counts a task that ended. x is its own execution, or the one around it that was submitted; o is its own.
func (j *jvm) task(x *wire.Execution, t *thread, f *flow, start, end int64, threw, own bool, o opened) {
	queue := units.NotMeasured
	if x.Submitted != 0 && x.Submitted <= x.Start {
		queue = units.Ns(j.clock.span(uint64(x.Start - max(x.Submitted, min(x.Due, x.Start)))))
	}
	var pool *flow
	if t != nil && t.executor != 0 {
		pool = j.executorFlow(t.executor)
	}
	if s, ok := j.pending.takeAt(x.TaskID, x.Submitted); ok {
		j.left(&s)
		if pool == nil {
			pool = s.pool
		}
		if !queue.Measured() {
			queue = units.Ns(max(0, start-s.at))
		}
	} else if x.Submitted != 0 && x.Due == 0 && own {
		j.untracked(x.TaskID, f)
	}
	if pool == nil {
		pool = j.executorFlow(0)
	}
	j.ran(t, o, f, pool, start)
	j.count(f, pool, start, end, queue, threw)
}

// untracked takes a task that began and has no slot.
func (j *jvm) untracked(task uint64, f *flow) {
	f.counted--
	switch {
	case j.now < f.byCount:
	case j.pending.beyond > 0:
		j.pending.beyond--
	case len(j.early) < maxPending:
		j.early[task]++
		f.counted++ // until its submission comes
	}
}

// ran counts the begin of a task, unless a report of open executions has.
func (j *jvm) ran(t *thread, o opened, f, pool *flow, start int64) {
	if t != nil && (t.open == o || t.before == o) {
		return
	}
	j.began(f, pool, start)
}

func (j *jvm) began(f, pool *flow, start int64) {
	sec := start / second
	f.start(sec, 1)
	pool.start(sec, 1)
	if b := j.at(sec); b != nil {
		b.started++
	}
}

func (j *jvm) count(f, pool *flow, start, end int64, queue units.Ns, threw bool) {
	f.end(end, end-start, queue, threw)
	pool.end(end, end-start, queue, threw)
	if b := j.at(end / second); b != nil {
		b.finished++
		if threw {
			b.threw++
		}
	}
	j.overlap(start, end, false)
	if queue.Measured() {
		j.queued(start/second, int64(queue))
		j.overlap(start-int64(queue), start, true)
	}
}
