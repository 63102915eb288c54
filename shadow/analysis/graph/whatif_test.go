package graph

import (
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

func pauseOf(from, to units.MonoNs, why string) session.Pause {
	return session.Pause{StartNs: from * ms, EndNs: to * ms, Cause: why}
}

// stopped is a main thread that computes 0-20 ms, is stopped until 50, for a collection 22-48 that it asked for, computes until 60, is
// stopped for another collection until 65, and computes until 100.
func stopped() *recording {
	r := &recording{Span: activity.Span{From: 0, To: 100 * ms}, cpus: 2, executors: map[uint32]executorOf{},
		pauses: []session.Pause{pauseOf(22, 48, "System.gc()"), pauseOf(60, 65, "Allocation Failure")}}
	r.threads = map[uint32]*threadOf{1: {id: 1, name: "main", pieces: []piece{
		run(0, 20), awaits(20, 50, activity.Stalled, 0, ""), run(50, 60), awaits(60, 65, activity.Stalled, 0, ""), run(65, 100)}}}
	return r
}

func TestPausesGone(t *testing.T) {
	for reason, want := range map[string]units.Ns{"System.gc()": 70, "Allocation Failure": -1, AllPauses: 65} {
		g, err := assembled(stopped())
		if err != nil {
			t.Fatal(err)
		}
		gone, err := g.PausesFor(reason)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Predict(replay.Change{Pauses: gone})
		switch {
		case err != nil:
			t.Fatal(err)
		case want < 0: // the other pauses took 26 % of the run
			if p.Predicted != graph.Never || p.Why == nil || !strings.Contains(p.Why.Error(), "26 %") {
				t.Errorf("%s: %+v", reason, p)
			}
		case p.Predicted != want*ms || p.Why != nil:
			t.Errorf("without pauses for %s: %+v, by hand %d ms", reason, p, want)
		}
	}
	// A collector that computes 12 ms beside the program does not do so without its collections.
	r := stopped()
	r.beside = []*threadOf{{name: "ZWorker#0", worker: true, collector: true, pieces: []piece{run(80, 92)}}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Predict(replay.Change{Pauses: map[uint32]bool{1: true, 2: true}})
	if err != nil || p.Predicted != graph.Never || p.Why == nil || !strings.Contains(p.Why.Error(), "12 %") {
		t.Errorf("with a concurrent collector: %+v (%v)", p, err)
	}
	if _, err := g.PausesFor("Heap Dump Initiated GC"); err == nil {
		t.Error("pauses that nobody had")
	}
}

// TestPausesWithoutASchedulingRecord: a unit that computed all of its time on a CPU, 74 of 100 ms, was stopped for the rest.
func TestPausesWithoutASchedulingRecord(t *testing.T) {
	r := stopped()
	r.pauses = r.pauses[:1]
	r.units = []unitOf{{id: 1, class: named("Job"), thread: 1, start: 0, end: 100 * ms, busy: 1, body: true}}
	r.threads[1].pieces, r.threads[1].units = nil, []uint32{0}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]units.Ns{}
	for _, p := range g.Path(-1, 0) {
		got[p.Kind] += p.Len() / ms
	}
	if got["gc"] != 26 || got["compute"] != 74 {
		t.Errorf("on the path: %v, by hand 26 ms of pauses and 74 ms on a CPU", got)
	}
}

// carried are 4 virtual threads on one carrier: main submits them at 0, and each waits 20 ms. Pinned, they have it one after
// the other: 80 ms.
func carried() *recording {
	r := &recording{Span: activity.Span{From: 0, To: 90 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "per task"}}, carriers: 1,
		pins: pins{all: 80 * ms, recorded: 80 * ms}, threads: map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 1), awaits(1, 80, activity.Futex, 5, "Future"), run(80, 90)}}}}
	for i := range uint32(4) {
		from := units.MonoNs(20 * i)
		p := awaits(from, from+20, activity.Sleeping, 0, "")
		p.pin = true
		r.threads[2+i] = &threadOf{id: 2 + i, name: "virtual", virtual: true, units: []uint32{i}, pieces: []piece{p}}
		r.units = append(r.units, unitOf{id: uint64(i + 1), class: named("Job"), thread: 2 + i, start: from * ms, end: (from + 20) * ms, submitted: 1, submitter: 1, executor: 5, virtual: true})
	}
	return r
}

func TestUnpinned(t *testing.T) {
	g, err := assembled(carried())
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Predict(replay.Change{Unpin: true})
	// All wait at the same time, from 0 to 20 ms, and main goes on for 10.
	if err != nil || p.Replayed/ms != 90 || p.Predicted/ms != 30 {
		t.Errorf("%+v (%v), by hand 90 and 30 ms", p, err)
	}
	r := carried()
	r.pins.recorded = 60 * ms
	if g, err = assembled(r); err != nil {
		t.Fatal(err)
	}
	if p, err := g.Predict(replay.Change{Unpin: true}); err != nil || p.Why == nil || p.Predicted != graph.Never {
		t.Errorf("when a quarter of the time pinned was is not recorded: %+v (%v)", p, err)
	}
}

// TestWorkersThatAreVirtual: virtual threads that run several units each are a pool like any other.
func TestWorkersThatAreVirtual(t *testing.T) {
	r := carried()
	for i := range r.units {
		r.units[i].thread, r.threads[uint32(2+i)].units = 2, nil
	}
	r.threads[2].units = []uint32{0, 1, 2, 3}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range g.Graph.Units {
		if name := g.Executors[u.Executor].Name; g.Classes[u.Class] == "Job" && name != "per task" {
			t.Errorf("a unit of the pool runs on %q", name)
		}
	}
}

// TestOthersHadTheCPUs: main was ready for 30 of 100 ms while others had both CPUs.
func TestOthersHadTheCPUs(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 100 * ms}, cpus: 2, executors: map[uint32]executorOf{},
		threads: map[uint32]*threadOf{1: {id: 1, name: "main", pieces: []piece{run(0, 100)}}}}
	r.threads[1].pieces[0].run, r.threads[1].pieces[0].held = 70*ms, 30*ms
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	p, err := g.Predict(replay.Change{Faster: map[uint32]float64{classOf(g, "main"): 2}})
	if err != nil || p.Why == nil || !strings.Contains(p.Why.Error(), "30 %") {
		t.Errorf("%+v (%v)", p, err)
	}
}

// TestTwoLocks: threads that do not wait for one lock come sooner to another one. How long they have that is known only if it is
// nearly always waited for.
func TestTwoLocks(t *testing.T) {
	for _, c := range []struct {
		from, to units.MonoNs // a wait for the other lock
		why      string
	}{{60, 63, ""}, {60, 80, "threads also waited for B, during 20 % of the run"}, {10, 95, ""}} {
		r := &recording{Span: activity.Span{From: 0, To: 100 * ms}, cpus: 4, executors: map[uint32]executorOf{}}
		a, b := awaits(40, 60, activity.Futex, 3, "A"), awaits(c.from, c.to, activity.Futex, 3, "B")
		a.lock, b.lock = true, true
		r.threads = map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 40), a, run(60, 100)}},
			2: {id: 2, name: "other", pieces: []piece{run(0, c.from), b, run(c.to, 100)}},
			3: {id: 3, name: "owner", pieces: []piece{run(0, 100)}}}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		p, err := g.Predict(replay.Change{Free: map[uint32]bool{classOf(g, "A"): true}})
		if err != nil || (p.Why == nil) != (c.why == "") || p.Why != nil && !strings.Contains(p.Why.Error(), c.why) {
			t.Errorf("waits for the other lock from %d to %d: %+v (%v), want %q", c.from, c.to, p, err, c.why)
		}
	}
}
