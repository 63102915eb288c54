package live

import (
	"fmt"
	"strconv"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// Thresholds of the rules that only the live view has. Those that it shares with reports have the thresholds of
// shadow/analysis/advice. They are judgements, not measurements.
const (
	queueGrows     = 1.2 // times as long as growSpan ago
	queueLeast     = 20  // tasks, and queuePerWorker for each worker
	queuePerWorker = 4
	growSpan       = 5 // looks, of which two make a trend
	stuckAfter     = 10 * second
	throwShare     = 0.05
	throwLeast     = 20 // tasks that ended
	rejectedWithin = 30 * second
)

// look applies all rules to the last minute.
func (j *jvm) look() []advice.Finding {
	var list []advice.Finding
	if j.state() == "silent" {
		return []advice.Finding{j.silent()} // nothing else is known of now
	}
	pools := j.poolStates()
	for i := range pools {
		p := &pools[i]
		list = appendFound(list, j.stuck(p), j.growing(p), rejecting(p))
	}
	list = append(list, j.adviceRules(pools)...)
	for _, f := range j.allClasses() {
		list = appendFound(list, j.throws(f), j.growingClass(f))
	}
	if n := j.recentLost(); n > 0 {
		list = append(list, adviceOf(&advice.Facts{LostEvents: n})...)
	}
	return list
}

func appendFound(list []advice.Finding, more ...*advice.Finding) []advice.Finding {
	for _, x := range more {
		if x != nil {
			list = append(list, *x)
		}
	}
	return list
}

// poolState is an executor at a look.
type poolState struct {
	flow    *flow
	label   string
	workers int
	last    int64 // newest second
	all     window
}

func (j *jvm) poolStates() []poolState {
	workers := j.workers()
	var list []poolState
	for id, f := range j.executorFlows {
		f.history[f.looks%len(f.history)] = f.waiting
		f.looks++
		if id <= 0 {
			continue
		}
		list = append(list, poolState{flow: f, label: j.executorLabel(id), workers: workers[id], last: j.last(), all: f.sum(j.last() + 1)})
	}
	return list
}

// ago is how many tasks waited so many looks ago; ok is false if there was none then.
func (f *flow) ago(looks int) (n int64, ok bool) {
	if f.looks <= looks || looks >= len(f.history) {
		return 0, false
	}
	return f.history[(f.looks-1-looks)%len(f.history)], true
}

// grows reports whether more and more tasks wait: over two spans in a row.
func (f *flow) grows(least int64) bool {
	before, ok := f.ago(growSpan)
	long, ok2 := f.ago(2 * growSpan)
	now, _ := f.ago(0)
	return ok && ok2 && now >= least && float64(now) >= queueGrows*float64(before) && before > long
}

const lookSpan = growSpan * int64(evaluateEvery)

func (j *jvm) growing(p *poolState) *advice.Finding {
	f := p.flow
	if !f.grows(int64(max(queueLeast, queuePerWorker*p.workers))) {
		return nil
	}
	before, _ := f.ago(growSpan)
	return &advice.Finding{Rule: "queue-grows", Kind: advice.Advice, Executor: p.label, Title: "The queue of " + p.label + " grows",
		Text: fmt.Sprintf("%s for %s, %s more than %s ago: in the last %s, %s submitted and %s began. Submit less, make the tasks shorter, or give the executor more threads if they mostly wait. A bounded queue fails early instead of running out of memory.",
			text.Plural(f.waiting, "task waits", "tasks wait"), p.label, units.FormatCount(f.waiting-before), units.FormatNs(units.Ns(lookSpan)), units.FormatNs(j.windowSpan()),
			text.Plural(int64(p.all.submitted), "task was", "tasks were"), units.FormatCount(int64(p.all.started)))}
}

// growingClass is about a class of which only counts are known.
func (j *jvm) growingClass(f *flow) *advice.Finding {
	f.history[f.looks%len(f.history)] = 0
	if j.now < f.byCount {
		f.history[f.looks%len(f.history)] = max(0, f.counted-f.open)
	}
	f.looks++
	if j.now >= f.byCount || !f.grows(queueLeast) {
		return nil
	}
	now, _ := f.ago(0)
	before, _ := f.ago(growSpan)
	return &advice.Finding{Rule: "queue-grows", Kind: advice.Advice, Class: f.name, Title: "More and more tasks of " + f.name + " wait",
		Text: fmt.Sprintf("%s, %s more than %s ago, by the counts of submissions and executions. Submit less, or make the tasks shorter.",
			text.Plural(now, "task waits", "tasks wait"), units.FormatCount(now-before), units.FormatNs(units.Ns(lookSpan)))}
}

// stuck: tasks wait, and none has begun or ended for long.
func (j *jvm) stuck(p *poolState) *advice.Finding {
	oldest := j.oldestOf(p.flow)
	if p.flow.waiting == 0 || oldest < 0 || j.now-oldest < stuckAfter || p.flow.finishedSince(j.now-stuckAfter, j.now) > 0 || p.flow.lastStart > j.now-stuckAfter {
		return nil
	}
	since := max(p.flow.lastStart, p.flow.lastEnd, j.since)
	s := fmt.Sprintf("No task of %s has begun or ended for %s, while %s, the first for %s.", p.label, units.FormatNs(units.Ns(j.now-since)),
		text.Plural(p.flow.waiting, "waits", "wait"), units.FormatNs(units.Ns(j.now-oldest)))
	for _, o := range j.longestRunning(maxOpen) {
		if o.Executor == p.label {
			s += fmt.Sprintf(" %s has run %s for %s.", o.Thread, o.Class, units.FormatNs(units.Ns(o.AgeNs)))
			break
		}
	}
	return &advice.Finding{Rule: "no-progress", Kind: advice.Advice, Executor: p.label, Title: p.label + " makes no progress",
		Text: s + " Take a thread dump (jstack " + strconv.Itoa(j.progress.JVM.PID) + "): its threads may wait for one another, for a lock, or for something outside."}
}

// oldestOf is when the first task was submitted that still waits; -1: none.
func (j *jvm) oldestOf(f *flow) int64 {
	for i := j.pending.oldest; i >= 0; i = j.pending.slots[i].newer {
		if j.pending.slots[i].pool == f {
			return j.pending.slots[i].at
		}
	}
	return -1
}

// finishedSince counts the tasks that ended in the seconds from from up to to.
func (f *flow) finishedSince(from, to int64) (n uint64) {
	for s := max(from/second, f.newest-sparkRing+1, 0); s <= min(to/second, f.newest); s++ {
		n += uint64(f.spark[s%sparkRing])
	}
	return n
}

func rejecting(p *poolState) *advice.Finding {
	n := uint32(0)
	for i := range p.flow.window {
		if w := &p.flow.window[i]; w.epoch > (p.last*second-rejectedWithin)/second/windowSeconds {
			n += w.rejected
		}
	}
	if n == 0 {
		return nil
	}
	return &advice.Finding{Rule: "rejected", Kind: advice.Advice, Executor: p.label, Title: p.label + " rejects tasks",
		Text: fmt.Sprintf("%s in the last minute, of %s submitted: its queue is full, or it is shut down. Submit less, give it more room or threads, or let the submitter run what finds no room (CallerRunsPolicy).",
			text.Plural(int64(p.all.rejected), "task was rejected", "tasks were rejected"), units.FormatCount(int64(p.all.submitted)))}
}

func (j *jvm) throws(f *flow) *advice.Finding {
	w := f.sum(j.last() + 1)
	if w.finished < throwLeast || float64(w.threw) < throwShare*float64(w.finished) {
		return nil
	}
	return &advice.Finding{Rule: "tasks-throw", Kind: advice.Advice, Class: f.name, Title: "Tasks of " + f.name + " fail",
		Text: fmt.Sprintf("%s of the tasks that ended in the last minute ended by an exception (%s of %s). A future keeps it until somebody asks: look at its get() or join().",
			units.FormatPercent(float64(w.threw)/float64(w.finished)), units.FormatCount(int64(w.threw)), units.FormatCount(int64(w.finished)))}
}

func (j *jvm) silent() advice.Finding {
	lag := j.live.o.Now().Sub(j.came).Round(time.Second)
	return advice.Finding{Rule: "silent", Kind: advice.Caution, Title: "Nothing comes from this JVM",
		Text: fmt.Sprintf("The last batch came %s ago; the agent sends one at least every four seconds. The JVM or its machine is stopped, cut off from the bus, or gone.", units.FormatNs(units.Ns(lag)))}
}

// recentLost counts the events lost in the last minute.
func (j *jvm) recentLost() (n uint64) {
	for s := max(0, j.head-sparkSeconds); s <= j.head; s++ {
		if b := j.at(s); b != nil {
			n += b.lost
		}
	}
	return n
}

// windowSpan is the time that the windows of flows cover.
func (j *jvm) windowSpan() units.Ns {
	from := max(0, (j.now/second/windowSeconds-windows+1)*windowSeconds*second, j.since)
	return units.Ns(max(1, j.now-from))
}
