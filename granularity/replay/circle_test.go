package replay_test

import (
	"errors"
	"testing"

	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
)

// turns is a server with one worker and its client, which by chance waited for one another: the second task for a lock that the client
// had after the answer of the first one. If the second task is submitted first, each of them waits for the other. There are so
// many other waits for events. joins: the task waits for the end of another unit of the circle instead.
func turns(t *testing.T, others int, joins bool) *graph.Graph {
	t.Helper()
	var b graph.Builder
	e := b.Executor(graph.Executor{Name: "loop", Workers: 1})
	lock := b.Resource(graph.Event, "lock", 1)
	main := b.Unit("main", 0)
	client := b.Unit("client", 0)
	first, second := b.Unit("task", e), b.Unit("task", e)
	b.Do(main, graph.Submit, client)
	b.Do(main, graph.Submit, second)
	b.Compute(main, 10)
	b.Do(main, graph.Submit, first)
	b.Do(main, graph.Join, client)
	b.Do(client, graph.Join, first)
	b.Do(client, graph.Signal, lock)
	b.Compute(client, 5)
	b.Compute(first, 20)
	if joins {
		b.Do(second, graph.Join, client)
	} else {
		b.Do(second, graph.Await, lock)
	}
	b.Compute(second, 20)
	for range others {
		event := b.Resource(graph.Event, "other", 1)
		b.Do(main, graph.Signal, event)
		b.Do(main, graph.Await, event)
	}
	g, err := b.Graph(2)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestCircle: a wait for a lock that units take in another order than recorded does not hold the replay up, if such waits are few. Units
// that wait for each other's ends are stuck.
func TestCircle(t *testing.T) {
	g := turns(t, 20, false)
	s, err := replay.Run(g)
	if err != nil {
		t.Fatal(err)
	}
	// The second task goes on when nothing else can, at 10, until 30; then the first one until 50, and the client until 55.
	if n, _ := g.Length(s); n != 55 {
		t.Errorf("it takes %d, want 55", n)
	}
	for name, g := range map[string]*graph.Graph{"few others": turns(t, 10, false), "ends": turns(t, 1000, true)} {
		if _, err := replay.Run(g); !errors.Is(err, replay.ErrStuck) {
			t.Errorf("%s: %v, want %v", name, err, replay.ErrStuck)
		}
	}
}
