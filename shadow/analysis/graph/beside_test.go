package graph

import (
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// besideJIT is a pool of one worker on two processors: main submits ten jobs of 10 ms at once and waits for the last one. A compiler's thread
// computes meanwhile, from 1 ms until then.
func besideJIT(until units.MonoNs) *recording {
	r := &recording{Span: activity.Span{From: 0, To: 101 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}}
	worker := &threadOf{id: 2, name: "worker", worker: true, pieces: []piece{awaits(0, 1, activity.Futex, 1, "")}}
	for i := range units.MonoNs(10) {
		r.units = append(r.units, unitOf{id: uint64(i + 1), class: named("Job"), thread: 2, start: (1 + 10*i) * ms, end: (11 + 10*i) * ms, submitted: 1 * ms, submitter: 1, executor: 5})
		worker.units, worker.pieces = append(worker.units, uint32(i)), append(worker.pieces, run(1+10*i, 11+10*i))
	}
	r.threads = map[uint32]*threadOf{1: {id: 1, name: "main", pieces: []piece{run(0, 1), awaits(1, 101, activity.Futex, 2, "Latch")}}, 2: worker}
	r.beside = []*threadOf{{name: "C2 CompilerThread", worker: true, pieces: []piece{run(1, until)}}}
	return r
}

// TestBeside: what the JVM's own threads compute, they compute with the change, too. By hand, for a second worker:
func TestBeside(t *testing.T) {
	for _, c := range []struct {
		until, least, most units.MonoNs
	}{
		{1, 51, 51}, // no compiler: 100 ms of jobs on two processors
		{7, 51, 57}, // 6 ms more on two processors: 54 ms
		{101, 0, 0}, // three threads share two processors until the jobs are done at 76 ms, or the compiler's work holds them up until 101 ms
	} {
		g, err := assembled(besideJIT(c.until))
		if err != nil {
			t.Fatal(err)
		}
		recorded, last := g.Length(g.Recorded)
		if recorded != 101*ms || g.Classes[g.Graph.Units[last].Class] != "main" {
			t.Errorf("the run took %v and ended with unit %d", recorded, last)
		}
		pool := uint32(0)
		for i, e := range g.Executors {
			if e.Name == "pool" {
				pool = uint32(i)
			}
		}
		p, err := replay.Predict(g.Graph, recorded, replay.Change{Pool: map[uint32]int{pool: 2}})
		if err != nil {
			t.Fatal(err)
		}
		if off := p.Replayed - recorded; off < -3*ms || off > 3*ms {
			t.Errorf("compiler until %d ms: the replay without the change takes %v", c.until, p.Replayed)
		}
		if c.most == 0 {
			if p.Why == nil || !strings.Contains(p.Why.Error(), "the JVM's own threads") {
				t.Errorf("the compiler has a processor all the time: %v, predicted %v; want cannot tell", p.Why, p.Expected())
			}
			continue
		}
		if n := units.MonoNs(p.Expected()) / ms; p.Why != nil || n < c.least || n > c.most {
			t.Errorf("compiler until %d ms: predicted %v (%v), by hand %d to %d ms", c.until, p.Expected(), p.Why, c.least, c.most)
		}
	}
}

// TestBesideIdle: jobs that sleep for 9.9 of their 10 ms, and a thread of the JVM that computes for 0.1 ms every 3 ms. What is left for it to do at the
// end holds nobody up: two workers take 51 ms.
func TestBesideIdle(t *testing.T) {
	r := besideJIT(1)
	w := r.threads[2]
	w.pieces = w.pieces[:1]
	for i := range units.MonoNs(10) {
		from := (1 + 10*i) * ms
		w.pieces = append(w.pieces, piece{Span: activity.Span{From: from, To: from + ms/10}, state: activity.Running, run: ms / 10},
			piece{Span: activity.Span{From: from + ms/10, To: from + 10*ms}, state: activity.Sleeping})
	}
	jvm := r.beside[0]
	jvm.pieces = nil
	for from := units.MonoNs(0); from < 100*ms; from += 3 * ms {
		jvm.pieces = append(jvm.pieces, piece{Span: activity.Span{From: from, To: from + ms/10}, state: activity.Running, run: ms / 10})
	}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	recorded, _ := g.Length(g.Recorded)
	for i, e := range g.Executors {
		if e.Name != "pool" {
			continue
		}
		p, err := replay.Predict(g.Graph, recorded, replay.Change{Pool: map[uint32]int{uint32(i): 2}})
		if n := p.Expected() / ms; err != nil || p.Why != nil || n < 51 || n > 52 {
			t.Errorf("predicted %v (%v, %v), by hand 51 ms", p.Expected(), p.Why, err)
		}
	}
}

// TestNobodyJoinsThem: main, which waits for its jobs, is not taken to wait for what the JVM does because of main.
func TestNobodyJoinsThem(t *testing.T) {
	r := besideJIT(7)
	r.beside[0].pieces = []piece{run(0, 7)}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range g.Steps {
		if s.Kind == graph.Join && g.Graph.Units[s.On].Beside {
			t.Errorf("%s joins %s", g.Classes[s.Class], g.Classes[g.Graph.Units[s.On].Class])
		}
	}
}
