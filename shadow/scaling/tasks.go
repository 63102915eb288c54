package scaling

import (
	"fmt"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
)

// tasks is what executions tell of the application threads.
type tasks struct {
	done [][]units.MonoNs // by span and thread: end of the last task, 0: none
	// mainRan is the time the main thread was inside tasks of classes that the
	// application threads run too, and theirs.
	mainRan, othersRan units.Ns
	main               int // the main thread's place, -1: none
	count              int // of application threads
}

// mainShare is the part of an application thread's mean time in tasks from
// which on the main thread counts as one of them.
const mainShare = 0.1

// includeMain makes the main thread an application thread when it runs their
// tasks: the caller of a parallel stream, of invoke() or of a CallerRuns policy.
func (t *tasks) includeMain(workers []bool) {
	if t.main >= 0 && t.count > 0 && float64(t.mainRan)*float64(t.count) >= mainShare*float64(t.othersRan) && t.mainRan > 0 {
		workers[t.main] = true
	}
	if t.main >= 0 && t.count == 0 && t.mainRan > 0 {
		workers[t.main] = true
	}
}

// taskScan gathers in one goroutine.
type taskScan struct {
	last    [][]units.MonoNs
	byClass map[uint32]*[2]units.Ns // class -> time on the main thread, on workers
}

// readTasks reads the executions once.
func readTasks(s *session.Session, threads []activity.Thread, workers []bool, spans []activity.Span) (*tasks, error) {
	place, t := places(s, threads), &tasks{main: -1}
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
		loop[c.ID] = summary.IsLoop(c.Name, c.Kinds)
	}
	scans := make([]taskScan, session.Workers())
	for i := range scans {
		scans[i] = taskScan{last: perSpan(len(spans), len(threads)), byClass: map[uint32]*[2]units.Ns{}}
	}
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionThread|store.ExecutionStart|store.ExecutionEnd|store.ExecutionDepth,
		func(w int, c *session.Chunk) error {
			for i, class := range c.Class {
				if p, ok := place[c.Thread[i]]; ok && !loop[class] && c.EndNs[i] != 0 {
					scans[w].add(p, p == t.main, workers[p], class, c.StartNs[i], c.EndNs[i], spans)
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

func (t *taskScan) add(p int, main, worker bool, class uint32, start, end units.MonoNs, spans []activity.Span) {
	if !main && !worker {
		return
	}
	for i, span := range spans {
		both := activity.Span{From: start, To: end}.Cut(span)
		if both.Len() == 0 {
			continue
		}
		t.last[i][p] = max(t.last[i][p], both.To)
		ran := t.byClass[class]
		if ran == nil {
			ran = new([2]units.Ns)
			t.byClass[class] = ran
		}
		if main {
			ran[0] += both.Len()
		} else {
			ran[1] += both.Len()
		}
	}
}

func (t *tasks) merge(scans []taskScan, spans, threads int) {
	t.done = perSpan(spans, threads)
	byClass := map[uint32][2]units.Ns{}
	for _, s := range scans {
		for i := range s.last {
			for p, at := range s.last[i] {
				t.done[i][p] = max(t.done[i][p], at)
			}
		}
		for class, ran := range s.byClass {
			sum := byClass[class]
			byClass[class] = [2]units.Ns{sum[0] + ran[0], sum[1] + ran[1]}
		}
	}
	for _, ran := range byClass {
		if ran[0] > 0 && (ran[1] > 0 || t.count == 0) {
			t.mainRan += ran[0]
			t.othersRan += ran[1]
		}
	}
}

// places finds the thread of the scheduling record on which the session's Java
// thread ran.
func places(s *session.Session, threads []activity.Thread) map[uint32]int {
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
