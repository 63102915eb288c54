package scaling

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/unit"
)

// tasks is when the application threads ran tasks.
type tasks struct {
	// done is the end of the last task by span and thread, 0: none. On a thread with a
	// loop only tasks inside the loop count: those at the thread's end (cleaners of its
	// buffers) are not the program's work.
	done [][]units.MonoNs
	// mainRan is the main thread's self time in tasks whose classes the application
	// threads run, too; othersRan is the application threads' in all tasks.
	mainRan, othersRan units.Ns
	main               int // index of the main thread, -1: none
	count              int // of application threads
}

// mainShare is the least share of an application thread's mean time in tasks with which
// the main thread counts as one.
const mainShare = 0.1

// includeMain makes the main thread an application thread if it runs such tasks, as the
// caller of a parallel stream, of invoke() or under a CallerRuns policy does.
func (t *tasks) includeMain(workers []bool) {
	if t.main >= 0 && t.count > 0 && float64(t.mainRan)*float64(t.count) >= mainShare*float64(t.othersRan) && t.mainRan > 0 {
		workers[t.main] = true
	}
	if t.main >= 0 && t.count == 0 && t.mainRan > 0 {
		workers[t.main] = true
	}
}

// taskScan is the part of one goroutine.
type taskScan struct {
	last    [2][][]units.MonoNs     // outermost and nested
	loops   []bool                  // by thread
	byClass map[uint32]*[2]units.Ns // class -> self time on the main thread, on workers
}

// readTasks reads the executions once.
func readTasks(s *session.Session, threads []activity.Thread, workers []bool, spans []activity.Span) (*tasks, error) {
	index, t := indexes(s, threads), &tasks{main: -1}
	for i, th := range threads {
		if th.Kind == activity.KindMain {
			t.main = i
		}
		if workers[i] {
			t.count++
		}
	}
	loop := map[uint32]bool{}
	for _, c := range s.Classes {
		loop[c.ID] = unit.IsLoop(c.Name, c.Kinds)
	}
	scans := make([]taskScan, session.Workers())
	for i := range scans {
		scans[i] = taskScan{last: [2][][]units.MonoNs{perSpan(len(spans), len(threads)), perSpan(len(spans), len(threads))},
			loops: make([]bool, len(threads)), byClass: map[uint32]*[2]units.Ns{}}
	}
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionThread|store.ExecutionStart|store.ExecutionEnd|store.ExecutionDepth|store.ExecutionSelfWall,
		func(w int, c *session.Chunk) error {
			for i, class := range c.Class {
				p, ok := index[c.Thread[i]]
				switch {
				case !ok:
				case loop[class]:
					scans[w].loops[p] = true
				case c.EndNs[i] != 0:
					e := execution{c.StartNs[i], c.EndNs[i], c.SelfWallNs[i], min(int(c.Depth[i]), 1)}
					scans[w].add(p, p == t.main, workers[p], class, e, spans)
				}
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("session %s: reading the tasks of its threads: %w", s.Manifest.Session, err)
	}
	t.merge(scans, len(spans), len(threads))
	return t, nil
}

func perSpan(spans, threads int) [][]units.MonoNs {
	out := make([][]units.MonoNs, spans)
	for i := range out {
		out[i] = make([]units.MonoNs, threads)
	}
	return out
}

// execution has the fields that the account needs.
type execution struct {
	from, to units.MonoNs
	self     units.Ns
	nested   int // 0, 1
}

func (t *taskScan) add(p int, main, worker bool, class uint32, e execution, spans []activity.Span) {
	if !main && !worker {
		return
	}
	// The first span that ends after the execution's start.
	first, _ := slices.BinarySearchFunc(spans, e.from, func(s activity.Span, at units.MonoNs) int { return cmp.Compare(s.To, at+1) })
	for i := first; i < len(spans) && spans[i].From < e.to; i++ {
		last := &t.last[e.nested][i][p]
		*last = max(*last, min(e.to, spans[i].To))
	}
	if first == len(spans) || spans[first].From >= e.to || !e.self.Measured() {
		return
	}
	ran := t.byClass[class]
	if ran == nil {
		ran = new([2]units.Ns)
		t.byClass[class] = ran
	}
	if main {
		ran[0] += e.self
	} else {
		ran[1] += e.self
	}
}

func (t *tasks) merge(scans []taskScan, spans, threads int) {
	t.done = perSpan(spans, threads)
	loops := make([]bool, threads)
	for _, s := range scans {
		for p, loop := range s.loops {
			loops[p] = loops[p] || loop
		}
	}
	byClass := map[uint32][2]units.Ns{}
	for _, s := range scans {
		for i := range t.done {
			for p := range t.done[i] {
				t.done[i][p] = max(t.done[i][p], s.last[1][i][p])
				if !loops[p] {
					t.done[i][p] = max(t.done[i][p], s.last[0][i][p])
				}
			}
		}
		for class, ran := range s.byClass {
			sum := byClass[class]
			byClass[class] = [2]units.Ns{sum[0] + ran[0], sum[1] + ran[1]}
		}
	}
	for _, ran := range byClass {
		t.othersRan += ran[1]
		if ran[1] > 0 || t.count == 0 {
			t.mainRan += ran[0]
		}
	}
}

// indexes maps each Java thread of the session to the thread of the scheduling record
// that it ran on.
func indexes(s *session.Session, threads []activity.Thread) map[uint32]int {
	byName := make(map[string]int, len(threads))
	for i, t := range threads {
		byName[t.Name] = i
	}
	out := map[uint32]int{}
	for _, t := range s.Threads {
		if p, ok := byName[t.Label()]; ok && t.ID != 0 {
			out[t.ID] = p
		}
	}
	return out
}
