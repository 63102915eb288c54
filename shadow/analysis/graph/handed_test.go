package graph

import (
	"testing"

	"stackagent/granularity/activity"
	"stackagent/shadow/session"
)

// TestByCaller: what the thread that hands a unit to a ThreadPoolExecutor runs itself is not the work of one of its workers; what was refused, and what never began, is
// known by who submitted it.
func TestByCaller(t *testing.T) {
	for _, queue := range []string{"java.util.concurrent.ArrayBlockingQueue", ""} {
		r := &recording{Span: activity.Span{From: 0, To: 60 * ms}, cpus: 2, refused: map[refusal]int{{1, 5}: 3},
			executors: map[uint32]executorOf{5: {name: "pool", given: &session.Executor{ID: 5, Queue: queue}}},
			left:      map[uint32][]leftTask{1: {{5 * ms, 5}, {45 * ms, 5}}}}
		r.units = []unitOf{
			{id: 1, class: named("Mail"), thread: 2, start: 10 * ms, end: 30 * ms, submitted: 9 * ms, submitter: 1, executor: 5},
			{id: 2, class: named("Mail"), thread: 1, start: 20 * ms, end: 40 * ms, submitted: 20 * ms, submitter: 1, executor: 5},
		}
		r.threads = map[uint32]*threadOf{
			1: {id: 1, name: "main", units: []uint32{1}, pieces: []piece{run(0, 60)}},
			2: {id: 2, name: "worker", worker: true, executor: 5, units: []uint32{0}, pieces: []piece{run(10, 30)}},
		}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		workers, itself, left := 2, uint32(0), 0
		for i := range g.Units {
			u := &g.Units[i]
			if u.Executor != 0 {
				workers = g.Graph.Executors[u.Executor].Workers
			}
			if u.ID == 2 {
				itself = u.Executor
			}
			if u.Left != 0 {
				left++
			}
		}
		if queue != "" && (workers != 1 || itself != 0) || queue == "" && (workers != 2 || itself == 0) {
			t.Errorf("queue %q: the pool has %d workers, and the unit of the caller is in executor %d", queue, workers, itself)
		}
		if n := g.Refused[Refusal{"main", 1}]; n != 3 {
			t.Errorf("%d submissions of the main thread were refused, want 3: %v", n, g.Refused)
		}
		if left != 1 { // the body of the main thread; its unit submitted nothing that never began
			t.Errorf("%d units submitted what never began, want 1", left)
		}
	}
}
