package scaling

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	granularityunit "stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// tasks is which threads ran which tasks in the spans of the region, and when. Threads
// are indexes into the scheduling record.
type tasks struct {
	s       *session.Session
	threads []activity.Thread
	index   map[uint32]int // as in session.Activity
	spans   []activity.Span
	loop    map[uint32]bool // classes whose executions are loops
	pool    map[uint32]bool // the part of them that take tasks: not java.lang.Thread
	mounts  map[uint32]bool // the part of them that carry a virtual thread for a while: the work of a carrier
	wraps   map[uint32]bool // classes around tasks of others
	named   map[uint32]bool // classes of methods that the user named
	starts  map[uint32]bool // classes of threads

	// submitters has, by thread, the classes that it submitted; starters those of
	// threads that it started.
	submitters, starters map[int]map[uint32]bool

	taskScan

	// endsUnknown: a thread's last summarised task ended at a time that the session does
	// not have. endsLate: only that it ended after a span's end is known.
	endsUnknown, endsLate bool
}

// body is what a thread was started for.
type body struct {
	ran   units.Ns
	times []activity.Span
}

// onThread is a class on a thread.
type onThread struct {
	class  uint32
	thread int
}

// readTasks reads submissions, executions and summaries once.
func readTasks(s *session.Session, a *session.Activity, spans []activity.Span) (*tasks, error) {
	t := &tasks{s: s, threads: a.Threads, index: a.Index, spans: spans,
		loop: map[uint32]bool{}, pool: map[uint32]bool{}, mounts: map[uint32]bool{}, wraps: map[uint32]bool{}, named: map[uint32]bool{}, starts: map[uint32]bool{}, submitters: map[int]map[uint32]bool{}, starters: map[int]map[uint32]bool{}}
	for _, c := range s.Classes {
		t.loop[c.ID] = unit.IsLoop(c.Name, c.Kinds)
		t.pool[c.ID] = t.loop[c.ID] && c.Name != "java.lang.Thread"
		t.mounts[c.ID] = unit.IsMount(c.Name)
		t.wraps[c.ID] = granularityunit.IsWrapper(c.Name)
		t.named[c.ID] = c.Kinds&units.KindCustom != 0
		t.starts[c.ID] = c.Kinds&units.KindThread != 0
	}
	if err := t.readSubmissions(); err != nil {
		return nil, err
	}
	if err := t.readExecutions(); err != nil {
		return nil, err
	}
	if err := t.readSummaries(); err != nil {
		return nil, err
	}
	t.dropBodies()
	for key, times := range t.did {
		t.did[key] = merged(times)
	}
	return t, nil
}

// dropBodies leaves the bodies of plain threads out of what drivers did of the workers' tasks, even if they are of the same
// class (a wrapper around every Runnable of a program, say). Other threads have none: the execution next to the loop of
// a pool is a task.
func (t *tasks) dropBodies() {
	for key, b := range t.body {
		if !t.loops[key.thread] || t.pooled[key.thread] {
			t.did[key] = append(t.did[key], b.times...)
			delete(t.body, key)
		}
	}
}

// taskScan is what the executions say, or those of one goroutine.
type taskScan struct {
	// last is the end of the last task by span and thread, 0: none; of outermost and of
	// nested executions. On a thread with a loop only tasks inside the loop count: those
	// at the thread's end (cleaners of its buffers) are not the program's work.
	last    [2][][]units.MonoNs
	loops   []bool // by thread
	loopEnd []units.MonoNs
	pooled  []bool // the loop is that of a pool, not a plain thread's
	// ran is the self time in the region, did the times themselves of threads that
	// submit tasks.
	ran map[onThread]units.Ns
	did map[onThread][]activity.Span
	// body is the part of ran and did in the executions next to the loop of a plain thread: what the thread was started
	// for. Nobody submitted it to a pool.
	body map[onThread]body
}

func (t *tasks) newScan() taskScan {
	return taskScan{last: [2][][]units.MonoNs{perSpan(len(t.spans), len(t.threads)), perSpan(len(t.spans), len(t.threads))},
		loops: make([]bool, len(t.threads)), pooled: make([]bool, len(t.threads)), loopEnd: make([]units.MonoNs, len(t.threads)), ran: map[onThread]units.Ns{}, did: map[onThread][]activity.Span{}, body: map[onThread]body{}}
}

func perSpan(spans, threads int) [][]units.MonoNs {
	out := make([][]units.MonoNs, spans)
	for i := range out {
		out[i] = make([]units.MonoNs, threads)
	}
	return out
}

func (t *tasks) readExecutions() error {
	scans := make([]taskScan, session.Workers())
	for i := range scans {
		scans[i] = t.newScan()
	}
	err := t.s.ScanExecutions(store.ExecutionClass|store.ExecutionThread|store.ExecutionStart|store.ExecutionEnd|store.ExecutionDepth|store.ExecutionSelfWall,
		func(w int, c *session.Chunk) error {
			for i, class := range c.Class {
				p, ok := t.index[c.Thread[i]]
				switch {
				case !ok:
				case t.loop[class]:
					scans[w].loops[p] = true
					scans[w].pooled[p] = scans[w].pooled[p] || t.pool[class]
					scans[w].loopEnd[p] = max(scans[w].loopEnd[p], c.EndNs[i])
					if t.mounts[class] {
						scans[w].carried(t.spans, p, c.StartNs[i], c.EndNs[i])
					}
				case c.EndNs[i] == 0: // the program ended before it
					scans[w].unended(t.spans, p, c.StartNs[i], min(int(c.Depth[i]), 1))
				default:
					e := execution{activity.Span{From: c.StartNs[i], To: c.EndNs[i]}, c.SelfWallNs[i], min(int(c.Depth[i]), 1), c.Depth[i] == 1}
					t.add(&scans[w], onThread{class, p}, e)
				}
			}
			return nil
		})
	if err != nil {
		return fmt.Errorf("session %s: reading the tasks of its threads: %w", t.s.Manifest.Session, err)
	}
	t.taskScan = scans[0]
	for i := range scans[1:] {
		t.merge(&scans[1+i])
	}
	return nil
}

// execution has the fields that the account needs.
type execution struct {
	activity.Span
	self   units.Ns
	nested int  // 0, 1
	next   bool // directly in an outermost execution
}

func (t *tasks) add(scan *taskScan, key onThread, e execution) {
	// The first span that ends after the execution's start.
	first, _ := slices.BinarySearchFunc(t.spans, e.From, func(s activity.Span, at units.MonoNs) int { return cmp.Compare(s.To, at+1) })
	for i := first; i < len(t.spans) && t.spans[i].From < e.To; i++ {
		last := &scan.last[e.nested][i][key.thread]
		*last = max(*last, min(e.To, t.spans[i].To))
	}
	if first == len(t.spans) || t.spans[first].From >= e.To {
		return
	}
	if e.self.Measured() {
		scan.ran[key] += e.self
	}
	if !t.drives(key.thread) {
		return
	}
	if !e.next {
		scan.did[key] = appendTime(scan.did[key], e.Span)
		return
	}
	b := scan.body[key]
	b.times = appendTime(b.times, e.Span)
	b.ran += e.self.OrZero()
	scan.body[key] = b
}

// carried notes that a thread carried a virtual one; to is 0 if the program ended before.
func (scan *taskScan) carried(spans []activity.Span, thread int, from, to units.MonoNs) {
	for i, span := range spans {
		if last := &scan.last[1][i][thread]; from < span.To && to == 0 {
			*last = span.To
		} else if from < span.To && to > span.From {
			*last = max(*last, min(to, span.To))
		}
	}
}

// unended notes an execution that the end of the program cut: it lasts to the end of each span.
func (scan *taskScan) unended(spans []activity.Span, thread int, from units.MonoNs, nested int) {
	for i, span := range spans {
		if from < span.To {
			scan.last[nested][i][thread] = span.To
		}
	}
}

// merge adds another goroutine's part.
func (t *taskScan) merge(s *taskScan) {
	for nested := range s.last {
		for i, ends := range s.last[nested] {
			for p, end := range ends {
				t.last[nested][i][p] = max(t.last[nested][i][p], end)
			}
		}
	}
	for p := range s.loops {
		t.loops[p] = t.loops[p] || s.loops[p]
		t.pooled[p] = t.pooled[p] || s.pooled[p]
		t.loopEnd[p] = max(t.loopEnd[p], s.loopEnd[p])
	}
	for key, ran := range s.ran {
		t.ran[key] += ran
	}
	for key, b := range s.body {
		have := t.body[key]
		t.body[key] = body{have.ran + b.ran, append(have.times, b.times...)}
	}
	for key, times := range s.did {
		t.did[key] = append(t.did[key], times...)
	}
}

// done is when each worker ended its last task in span i.
func (t *tasks) done(i int) []units.MonoNs {
	out := slices.Clone(t.last[1][i])
	for p := range out {
		if !t.loops[p] {
			out[p] = max(out[p], t.last[0][i][p])
		}
	}
	return out
}

// shortBreak is the longest time between two tasks of a thread that counts as part of
// them: taking the next one.
const shortBreak = units.MonoNs(100_000)

// appendTime adds a time that a thread spent in a task, usually right behind the last
// one or around it.
func appendTime(times []activity.Span, s activity.Span) []activity.Span {
	if n := len(times); n > 0 && s.From <= times[n-1].To+shortBreak && s.To >= times[n-1].From-shortBreak {
		times[n-1] = activity.Span{From: min(times[n-1].From, s.From), To: max(times[n-1].To, s.To)}
		return times
	}
	return append(times, s)
}

// merged are the times in order, without overlaps and short breaks.
func merged(times []activity.Span) []activity.Span {
	slices.SortFunc(times, func(a, b activity.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	var out []activity.Span
	for _, s := range times {
		out = appendTime(out, s)
	}
	return out
}
