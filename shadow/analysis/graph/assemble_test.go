package graph

import (
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/critical"
	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

const ms = 1_000_000

// names are those of all recordings of the tests.
var names graph.Names

func named(name string) uint32 { return names.Number(name) }

// naming gives a recording the names of all.
func naming(r *recording) *recording {
	r.names = &names
	return r
}

func assembled(r *recording) (*Session, error) { return assemble(naming(r)) }

// note is the number of what was recorded of a wait.
func (r *recording) note(w waitInfo) uint32 {
	r.waits = append(r.waits, w)
	return uint32(len(r.waits))
}

func run(from, to units.MonoNs) piece {
	s := activity.Span{From: from * ms, To: to * ms}
	return piece{Span: s, state: activity.Running, run: s.Len()}
}

func awaits(from, to units.MonoNs, state activity.ThreadState, by uint32, class string) piece {
	return piece{Span: activity.Span{From: from * ms, To: to * ms}, state: state, by: by, class: named(class)}
}

// A main thread submits two jobs to a worker, at 10 and 11 ms, and waits for the second: it runs 0-12, waits until the
// worker ends its wait at 72, and runs until 80. The worker takes the first job at 13, sleeps 13-30 in it, computes 30-40,
// takes the second job at 41 and computes until 72.
func recorded() *recording {
	r := &recording{Span: activity.Span{From: 0, To: 80 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}}
	r.units = []unitOf{
		{id: 1, class: named("First"), thread: 2, start: 13 * ms, end: 40 * ms, submitted: 10 * ms, submitter: 1, executor: 5},
		{id: 2, class: named("Second"), thread: 2, start: 41 * ms, end: 72 * ms, submitted: 11 * ms, submitter: 1, executor: 5, site: named("Main.main:7")},
	}
	r.threads = map[uint32]*threadOf{
		1: {id: 1, name: "main", pieces: []piece{run(0, 12), awaits(12, 72, activity.Futex, 2, "Latch"), run(72, 80)}},
		2: {id: 2, name: "worker", worker: true, units: []uint32{0, 1}, pieces: []piece{
			awaits(5, 13, activity.Futex, 1, ""), awaits(13, 30, activity.Sleeping, 0, ""), run(30, 40), run(40, 72)}},
	}
	return r
}

func TestTheGraphOfARecording(t *testing.T) {
	g, err := assembled(recorded())
	if err != nil {
		t.Fatal(err)
	}
	type sum struct{ class, kind string }
	got := map[sum]units.Ns{}
	path := g.Path(-1, 0)
	for _, p := range path {
		got[sum{p.Class, p.Kind}] += p.Len() / ms
		if p.Class == "Second" && p.Kind == "compute" && (p.Thread != "worker" || p.Site != "Main.main:7") {
			t.Errorf("the second job on the path: %+v", p)
		}
	}
	// main 0-10, where it submits; 3 ms until the worker took the job; its sleep and computing; 1 ms; the second job;
	// the rest of main. 10 + 3 + 17 + 10 + 1 + 31 + 8 = 80
	want := map[sum]units.Ns{{"main", "compute"}: 18, {"First", "queue"}: 3, {"First", "sleep"}: 17, {"First", "compute"}: 10,
		{"Second", "queue"}: 1, {"Second", "compute"}: 31}
	for k, n := range want {
		if got[k] != n {
			t.Errorf("%v: %d ms on the path, by hand %d", k, got[k], n)
		}
	}
	if len(got) != len(want) {
		t.Errorf("on the path: %v", got)
	}
	unit, from, err := g.Slowest("Second")
	if err != nil || from != 11*ms {
		t.Errorf("the second job is unit %d, submitted at %d (%v)", unit, from, err)
	}
	if _, _, err := g.Slowest("Third"); err == nil {
		t.Error("a class without a unit has a slowest one")
	}
}

func TestTheReplayOfARecording(t *testing.T) {
	g, err := assembled(recorded())
	if err != nil {
		t.Fatal(err)
	}
	pool := uint32(1)
	for _, c := range []struct {
		name   string
		change replay.Change
		want   units.Ns
	}{
		{"as it was", replay.Change{}, 80},
		// The second job is taken 1 ms after its submission at 11: it ends at 43. main asked for the first one, too, which
		// ends at 40. 43 + 8
		{"two workers", replay.Change{Pool: map[uint32]int{pool: 2}}, 51},
		// 13 + (17 + 10)/2 = 26.5, + 1 + 31 + 8
		{"first twice as fast", replay.Change{Faster: map[uint32]float64{classOf(g, "First"): 2}}, 66},
	} {
		p, err := replay.Predict(g.Graph, 80*ms, c.change)
		if err != nil || p.Predicted/ms != c.want {
			t.Errorf("%s: %+v (%v), by hand %d ms", c.name, p, err, c.want)
		}
	}
}

// classOf is the number of a class.
func classOf(s *Session, class string) uint32 {
	for i, c := range s.Classes {
		if c == class {
			return uint32(i)
		}
	}
	return 0
}

// What a thread waits for while its own unit has no end in the wait's neighbourhood is an event, by the class of the lock.
func TestAnEvent(t *testing.T) {
	r := recorded()
	r.units = r.units[:1]
	r.units[0].end = 72 * ms
	r.threads[2].units = []uint32{0}
	r.threads[1].pieces = []piece{run(0, 12), awaits(12, 35, activity.Futex, 2, "Lock"), run(35, 80)}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	// 12 + 45: main does not wait for the lock, and ends at 57; the job ends at 72.
	p, err := replay.Predict(g.Graph, 80*ms, replay.Change{Free: map[uint32]bool{classOf(g, "Lock"): true}})
	if err != nil || p.Replayed != 80*ms || p.Predicted != 72*ms {
		t.Errorf("%+v (%v), by hand 80 ms and 72 ms without the lock", p, err)
	}
}

// TestTooManySteps: a thread that submits a thousand units is given up soon after the limit of steps.
func TestTooManySteps(t *testing.T) {
	a := newAssembly(naming(aThousandUnits()), 100)
	if _, err := a.run(); !errors.Is(err, graph.ErrTooLarge) || a.n > 105 {
		t.Errorf("%d steps, at most 100: %v", a.n, err)
	}
	a = newAssembly(naming(aThousandUnits()), 10_000)
	if g, err := a.run(); err != nil || len(g.Steps) > 10_000 {
		t.Errorf("at most 10,000 steps: %v", err)
	}
}

func aThousandUnits() *recording {
	r := recorded()
	r.units, r.threads[2].units = nil, nil
	for i := range 1000 {
		at := units.MonoNs(13*ms + i)
		r.units = append(r.units, unitOf{class: named("Job"), thread: 2, start: at, end: at + 1, submitted: units.MonoNs(ms + i), submitter: 1, executor: 5})
		r.threads[2].units = append(r.threads[2].units, uint32(i))
	}
	return r
}

// Whatever is recorded, the path adds up, and nothing panics: threads that wake themselves, units that overlap or have
// no thread's time, submissions after the start.
func TestAnyRecording(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		r := &recording{Span: activity.Span{From: 0, To: 100 * ms}, cpus: rng.IntN(3), threads: map[uint32]*threadOf{}, executors: map[uint32]executorOf{2: {name: "fj", forkJoin: true}}}
		for id := range uint32(4) {
			th := &threadOf{id: id, name: "t", worker: rng.IntN(2) == 0}
			for at := rng.Int64N(20); at < 100 && rng.IntN(12) > 0; {
				to := at + 1 + rng.Int64N(15)
				p := awaits(units.MonoNs(at), units.MonoNs(to), activity.ThreadState(rng.IntN(int(activity.NStates))), rng.Uint32N(6), "")
				if p.state == activity.Running {
					p.run = p.Len() - units.Ns(rng.Int64N(ms))
				}
				th.pieces = append(th.pieces, p)
				at = to + rng.Int64N(3)
			}
			r.threads[id] = th
		}
		for range rng.IntN(12) {
			u := unitOf{class: named(string('a' + rune(rng.IntN(3)))), thread: rng.Uint32N(4), start: units.MonoNs(rng.Int64N(90)) * ms, executor: rng.Uint32N(3), inline: rng.IntN(5) == 0,
				submitter: rng.Uint32N(5), body: rng.IntN(6) == 0, busy: rng.Float64()}
			u.end = u.start + units.MonoNs(1+rng.Int64N(40*ms))
			u.submitted = units.MonoNs(rng.Int64N(100)) * ms
			u.due = units.MonoNs(rng.Int64N(2)) * 50 * ms
			r.threads[u.thread].units = append(r.threads[u.thread].units, uint32(len(r.units)))
			r.units = append(r.units, u)
		}
		g, err := assembled(r)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		length, last := g.Length(g.Recorded)
		var sum units.Ns
		for _, p := range critical.Path(g.Graph, g.Recorded, max(last, 0), 0, length) {
			sum += p.Len()
		}
		if last >= 0 && sum != length {
			t.Errorf("seed %d: the path adds up to %d, not %d", seed, sum, length)
		}
		if _, err := replay.Predict(g.Graph, length, replay.Change{}); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestUnexplained: without submissions nothing says why the second job started at 41 ms and not before: it is on the path from then
// on, until it ends main's wait at 72 ms. So 41 of 80 ms are not explained, and nobody asked for a delay.
func TestUnexplained(t *testing.T) {
	r := recorded()
	for i := range r.units {
		r.units[i].submitted, r.units[i].submitter = 0, 0
	}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range g.Path(-1, 0) {
		if p.What == critical.Delay {
			t.Errorf("nobody asked for a delay: %+v", p)
		}
	}
	if got, want := g.Unexplained(), 41.0/80; math.Abs(got-want) > 0.001 {
		t.Errorf("%.4f of the path is not known, by hand %.4f", got, want)
	}
}

// TestCalled: a task that main calls, and did not submit, is main's time: main computes 0-10 and 70-80 ms, the task 10-20 and 60-70 ms,
// and sleeps in between.
func TestCalled(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 80 * ms}, cpus: 2, executors: map[uint32]executorOf{},
		units: []unitOf{{id: 1, class: named("Command"), thread: 1, start: 10 * ms, end: 70 * ms}},
		threads: map[uint32]*threadOf{1: {id: 1, name: "main", units: []uint32{0}, pieces: []piece{
			run(0, 20), awaits(20, 60, activity.Sleeping, 0, ""), run(60, 80)}}}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]units.Ns{}
	for _, p := range g.Path(-1, 0) {
		got[p.Class+" "+p.Kind] += p.Len() / ms
	}
	want := map[string]units.Ns{"main compute": 20, "Command compute": 20, "Command sleep": 40}
	if !maps.Equal(got, want) {
		t.Errorf("on the path: %v, by hand %v", got, want)
	}
}

// TestStarted: a thread that main started at 10 ms, and that runs a job which main submitted, has its start on the path: main 0-10 ms,
// 2 ms until the thread runs, the job 12-40 ms, the rest of main. The time before is no longer not known.
func TestStarted(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 50 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "per task"}},
		units: []unitOf{{id: 1, class: named("Job"), thread: 2, start: 12 * ms, end: 40 * ms, submitted: 9 * ms, submitter: 1, executor: 5}},
		threads: map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 10), awaits(10, 40, activity.Futex, 2, "Future"), run(40, 50)}},
			2: {id: 2, name: "thread", start: started{at: 10 * ms, by: 1, site: named("Main.main:3")}, units: []uint32{0}, pieces: []piece{run(12, 41)}}}}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]units.Ns{}
	for _, p := range g.Path(-1, 0) {
		got[p.Class+" "+p.Kind] += p.Len() / ms
	}
	if want := map[string]units.Ns{"main compute": 20, "thread queue": 2, "Job compute": 28}; !maps.Equal(got, want) || g.Unexplained() != 0 {
		t.Errorf("on the path: %v, by hand %v; %.3f not known", got, want, g.Unexplained())
	}
}

// TestWoken: a worker that was idle took 3 ms to wake up for the first job. The second job came from the first one, 1 ms after its
// end, and did not wake anybody up.
func TestWoken(t *testing.T) {
	g, err := assembled(recorded())
	if err != nil {
		t.Fatal(err)
	}
	type late struct{ wake, latency units.Ns }
	got := map[uint64]late{}
	for n, id := range g.Units {
		if u := &g.Graph.Units[n]; id.ID != 0 {
			got[id.ID] = late{u.Wake / ms, u.Latency / ms}
		}
	}
	if want := map[uint64]late{1: {3, 0}, 2: {0, 1}}; !maps.Equal(got, want) {
		t.Errorf("ms to wake up, and from the unit before: %v, by hand %v", got, want)
	}
}

// TestOnBehalf: a job ends at 60 ms; its worker then wakes an idle one, which is ready for 5 ms, and ends main's wait at 66 ms as it
// ends. A worker that is preempted for 4 ms after its job ends it later, too. Main waits for the job.
func TestOnBehalf(t *testing.T) {
	for name, threads := range map[string]map[uint32]*threadOf{
		"an idle worker": {
			1: {id: 1, name: "main", pieces: []piece{run(0, 10), awaits(10, 66, activity.Futex, 3, "condition"), run(66, 80)}},
			2: {id: 2, name: "worker", worker: true, units: []uint32{0}, pieces: []piece{awaits(5, 10, activity.Futex, 1, ""), run(10, 61)}},
			3: {id: 3, name: "idle", worker: true, pieces: []piece{awaits(5, 60, activity.Futex, 2, ""), {Span: activity.Span{From: 60 * ms, To: 66 * ms}, state: activity.Running, run: ms / 4}}},
		},
		"a preempted worker": {
			1: {id: 1, name: "main", pieces: []piece{run(0, 10), awaits(10, 65, activity.Futex, 2, "condition"), run(65, 80)}},
			2: {id: 2, name: "worker", worker: true, units: []uint32{0}, pieces: []piece{awaits(5, 10, activity.Futex, 1, ""), run(10, 60),
				{Span: activity.Span{From: 60 * ms, To: 65 * ms}, state: activity.Running, run: ms / 4}}},
		},
	} {
		r := &recording{Span: activity.Span{From: 0, To: 80 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}, threads: threads,
			units: []unitOf{{id: 1, class: named("Job"), thread: 2, start: 10 * ms, end: 60 * ms, submitted: 9 * ms, submitter: 1, executor: 5}}}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Unexplained(); got != 0 {
			t.Errorf("%s: %.3f of the path is not known: %+v", name, got, g.Path(-1, 0))
		}
		half, err := replay.Predict(g.Graph, 80*ms, replay.Change{Faster: map[uint32]float64{classOf(g, "Job"): 2}})
		if err != nil || half.Replayed != 80*ms || half.Predicted != 55*ms {
			t.Errorf("%s: %+v (%v), by hand 80 ms, and 55 ms if the job takes half as long", name, half, err)
		}
	}
}

// TestSlowEnd: a job of a worker ends at 60 ms. The worker ends main's wait at 63 ms: it is still at the end of its job, though the JVM held it up for a
// millisecond, unless another thread let it go on in between.
func TestSlowEnd(t *testing.T) {
	for by, want := range map[uint32]units.Ns{0: 50, 3: 0} {
		r := &recording{Span: activity.Span{From: 0, To: 80 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}, threads: map[uint32]*threadOf{
			1: {id: 1, name: "main", pieces: []piece{run(0, 10), awaits(10, 63, activity.Futex, 2, "condition"), run(63, 80)}},
			2: {id: 2, name: "worker", worker: true, units: []uint32{0}, pieces: []piece{awaits(5, 10, activity.Futex, 1, ""), run(10, 61), awaits(61, 62, activity.Futex, by, ""), run(62, 64)}},
			3: {id: 3, name: "other", worker: true, pieces: []piece{run(0, 80)}}},
			units: []unitOf{{id: 1, class: named("Job"), thread: 2, start: 10 * ms, end: 60 * ms, submitted: 9 * ms, submitter: 1, executor: 5}}}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		var job units.Ns
		for _, p := range g.Path(-1, 0) {
			if p.Class == "Job" && p.Kind == "compute" {
				job += p.Len() / ms
			}
		}
		if job != want {
			t.Errorf("the worker waited for thread %d: %d ms of the job on the path, by hand %d", by, job, want)
		}
	}
}

// TestReady: a worker is ready for a CPU for 20 ms before it takes a job, and for 10 ms in it: only these are the job's.
func TestReady(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 60 * ms}, cpus: 2, executors: map[uint32]executorOf{5: {name: "pool"}}}
	r.units = []unitOf{{id: 1, class: named("Job"), thread: 2, start: 25 * ms, end: 50 * ms, executor: 5}}
	worker := &threadOf{id: 2, name: "worker", worker: true, units: []uint32{0}}
	for _, s := range []struct {
		from, to units.MonoNs
		state    activity.ThreadState
	}{{0, 20, activity.Runnable}, {20, 30, activity.Running}, {30, 40, activity.Runnable}, {40, 50, activity.Running}} {
		p := piece{Span: activity.Span{From: s.from * ms, To: s.to * ms}, state: s.state}
		if s.state == activity.Running {
			p.run = p.Len()
		}
		worker.add(p)
	}
	r.threads = map[uint32]*threadOf{2: worker}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	run := units.Ns(0)
	for _, x := range g.StepsOf(0) {
		run += x.Len
	}
	if run != 15*ms {
		t.Errorf("the job computes for %v, want 15 ms", run)
	}
	if ready, _ := worker.ready(activity.Span{From: 10 * ms, To: 35 * ms}); ready != 15*ms {
		t.Errorf("the worker was ready for %v between 10 and 35 ms, want 15 ms", ready)
	}
}

// TestLate: the second job is a later period of the first one, which submits it at its end: it was late. main only waits for it. If the
// first job takes half as long, the second one starts 13.5 ms earlier, or when it did: 66.5 ms to 80.
func TestLate(t *testing.T) {
	for again, want := range map[bool]units.Ns{true: 73, false: 66} { // (66.5 + 80)/2; 66.5: it is the first period, or has a delay of 0
		r := recorded()
		u := &r.units[1]
		u.submitted, u.submitter, u.late, u.again = 40*ms-1, 2, true, again
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		p, err := replay.Predict(g.Graph, 80*ms, replay.Change{Faster: map[uint32]float64{classOf(g, "First"): 2}})
		if err != nil || p.Predicted/ms != want {
			t.Errorf("submitted by itself: %v: %+v (%v), by hand %d ms", again, p, err, want)
		}
	}
}

// TestFixedRate: five periods, due each 10 ms from 10 ms on; a job of 35 ms before the second keeps the worker until 47, so that the second to the fourth
// are late, and queued again only as the one before ends. Each is due when the rate says.
func TestFixedRate(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 80 * ms}}
	reader := reader{rec: r, byTask: &byTask{lists: [][]uint32{{0, 1, 2, 3, 4}}}}
	add := func(start, submitted, due units.MonoNs) {
		u := unitOf{id: 1, class: named("Tick"), start: start * ms, end: (start + 1) * ms, submitted: submitted * ms, due: due * ms, late: due == submitted, again: len(r.units) > 0}
		r.units = append(r.units, u)
	}
	add(10, 0, 10)
	add(47, 48, 48) // late: due is when it was queued again
	r.units[1].due, r.units[1].submitted, r.units[1].late = 11*ms, 11*ms, true
	add(48, 48, 48)
	add(49, 49, 49)
	add(51, 50, 50)
	r.units[4].late, r.units[4].submitted = false, 49*ms+500_000
	if err := reader.fixRates(); err != nil {
		t.Fatal(err)
	}
	for k, due := range []units.MonoNs{10, 20, 30, 40, 50} {
		if u := &r.units[k]; u.due != due*ms || u.fixed != (k > 0) {
			t.Errorf("period %d is due at %v, fixed %v; want %v ms", k, u.due, u.fixed, due)
		}
	}
	for k := range r.units[1:] { // all are late, and it is known by how much
		u := &r.units[k+1]
		u.submitted, u.late, u.fixed = u.start, true, false
		u.due, u.lateBy = u.submitted, units.Ns(u.start)-units.Ns(10*(k+2)*ms)
	}
	if err := reader.fixRates(); err != nil {
		t.Fatal(err)
	}
	for k, due := range []units.MonoNs{10, 20, 30, 40, 50} {
		if u := &r.units[k]; u.due != due*ms || u.fixed != (k > 0) {
			t.Errorf("period %d, late as all later ones, is due at %v, fixed %v; want %v ms", k, u.due, u.fixed, due)
		}
	}
	r.units[2].late, r.units[2].due, r.units[2].lateBy = false, 37*ms, 0 // not at a rate
	for k := range r.units {
		r.units[k].fixed = false
	}
	if err := reader.fixRates(); err != nil || r.units[3].fixed {
		t.Errorf("periods that are due at odd times are taken for a fixed rate (%v)", err)
	}
}

// TestNobodyKnowsWhyItStartedThen: a unit was submitted at 10 ms, nobody knows by whom, and started at 13. That its worker was woken
// up for it is only known if it is known to have been idle: it waited at 10 ms, or began after that.
func TestNobodyKnowsWhyItStartedThen(t *testing.T) {
	for name, c := range map[string]struct {
		pieces []piece
		wake   units.Ns
	}{
		"it waited":        {[]piece{awaits(5, 13, activity.Futex, 1, ""), run(13, 40)}, 3},
		"it began later":   {[]piece{run(12, 40)}, 3},
		"it ran something": {[]piece{run(5, 40)}, 0},
		"no record":        {nil, 0},
	} {
		r := recorded()
		r.units, r.threads[2].units, r.threads[2].pieces = r.units[:1], []uint32{0}, c.pieces
		r.units[0].submitter = 0
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		for n := range g.Units {
			if u := &g.Units[n]; u.ID == 1 && (u.Wake != c.wake*ms || u.Delay+u.Wake != 13*ms) {
				t.Errorf("%s: due at %d, %d ns to wake up; by hand %d ms", name, u.Delay, u.Wake, c.wake)
			}
		}
	}
}

// TestTook: the worker ended the first job at 40 ms and took the second at 41. It was on a CPU for half of the time that the record has it running or ready.
func TestTook(t *testing.T) {
	for run, want := range map[units.Ns][2]uint16{31 * ms: {968, 31}, 16 * ms: {500, 500}} {
		r := recorded()
		r.threads[2].pieces[3].run = run
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range g.Units {
			if u := &g.Units[i]; u.ID == 2 && (u.Latency != ms || u.Took != want[0] || u.Waited != want[1]) {
				t.Errorf("%d ns on a CPU of 32 ms: latency %d, took %d, waited %d; by hand %v thousandths", run, u.Latency, u.Took, u.Waited, want)
			}
		}
	}
}

// TestStartingAThread: main starts a thread at 10 ms and waits from 12 to 14 ms until that ends its wait, before it runs anything.
func TestStartingAThread(t *testing.T) {
	for by, want := range map[uint32]bool{1: true, 3: false} {
		r := recorded()
		main, worker := r.threads[1], r.threads[2]
		main.pieces = []piece{run(0, 12), awaits(12, 14, activity.Futex, 2, ""), run(14, 80)}
		worker.start = started{at: 10 * ms, by: by}
		worker.pieces = append([]piece{run(12, 15)}, worker.pieces[1:]...)
		r.units[0].start = 15 * ms
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(g.Steps, func(s graph.Step) bool { return s.Kind == graph.Outside && s.Cause == graph.Thread && s.Len == 2*ms })
		if found != want {
			t.Errorf("started by thread %d: main waits for its start: %v, want %v", by, found, want)
		}
	}
}

// TestMemory: a graph of many short units is made with less than 900 bytes for each, of all that is allocated on the way.
func TestMemory(t *testing.T) {
	const n = 100_000
	r := naming(recorded())
	r.units, r.threads[2].units = make([]unitOf, 0, n), nil
	for i := range units.MonoNs(n) {
		at := 13*ms + 500*i
		r.units = append(r.units, unitOf{class: named("Job"), thread: 2, start: at, end: at + 300, submitted: ms + 100*i, submitter: 1, executor: 5})
		r.threads[2].units = append(r.threads[2].units, uint32(i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	g, err := assemble(r)
	runtime.ReadMemStats(&after)
	if err != nil || len(g.Units) != n+1 {
		t.Fatalf("%d units (%v)", len(g.Units), err)
	}
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 900 {
		t.Errorf("%d bytes for each unit, of %d steps", each, len(g.Steps))
	} else {
		t.Logf("%d bytes for each unit, of %d steps", each, len(g.Steps))
	}
}

// TestStartOfALoop: nobody is known to have submitted the first unit of a worker, but main started its thread. So it is on the path from then on.
func TestStartOfALoop(t *testing.T) {
	r := recorded()
	r.units[0].submitted, r.units[0].submitter = 0, 0
	r.threads[2].start = started{at: 5 * ms, by: 1, site: named("Main.main:3")}
	g, err := assembled(r)
	if err != nil {
		t.Fatal(err)
	}
	first := g.Path(-1, 0)[0]
	if first.Class != "main" || first.Kind != "compute" || first.To != 5*ms {
		t.Errorf("the path begins with %+v; main computes until 5 ms", first)
	}
}

// TestQueueAgain: a Timer's task is submitted once; its later periods are queued again as the one before begins, by the Timer's thread. The
// second was queued at 10 ms and is due at 20; the third starts late and was queued at 40, as the second began.
func TestQueueAgain(t *testing.T) {
	r := &recording{Span: activity.Span{From: 0, To: 80 * ms}}
	r.units = []unitOf{
		{thread: 1, start: 10 * ms, end: 11 * ms, submitted: 1 * ms, due: 10 * ms, submitter: 2, executor: 3},
		{thread: 1, start: 40 * ms, end: 41 * ms, submitted: 10*ms - 1, due: 20 * ms},
		{thread: 1, start: 41 * ms, end: 42 * ms, submitted: 40*ms - 1, due: 40*ms - 1},
		{thread: 4, start: 50 * ms, end: 51 * ms, submitted: 45 * ms, due: 46 * ms}, // on another thread: no period of the Timer
	}
	reader := reader{rec: r, byTask: &byTask{lists: [][]uint32{{0, 1, 2, 3}}}}
	if err := reader.queueAgain(); err != nil {
		t.Fatal(err)
	}
	for k, want := range []unitOf{
		{submitter: 2, submitted: 1 * ms, executor: 3},
		{submitter: 1, submitted: 10*ms + 1, executor: 3, again: true},
		{submitter: 1, submitted: 40*ms + 1, executor: 3, again: true},
		{submitted: 45 * ms},
	} {
		if u := &r.units[k]; u.submitter != want.submitter || u.submitted != want.submitted || u.again != want.again || u.executor != want.executor {
			t.Errorf("period %d: submitted at %v by %d, again %v, in %d; want %+v", k, u.submitted, u.submitter, u.again, u.executor, want)
		}
	}
}

// TestElement: main's wait ended as the second job gave something, 0.3 ms before its end. It is taken for a wait for the job's end, but not if it is
// known to be for an element of a queue.
func TestElement(t *testing.T) {
	for class, joins := range map[string]bool{"": true, "java.util.concurrent.CountDownLatch$Sync": true, "ArrayBlockingQueue": false} {
		r := recorded()
		p := &r.threads[1].pieces[1]
		p.To -= 300_000
		r.threads[1].pieces[2].From -= 300_000
		if class != "" {
			p.wait = r.note(waitInfo{class: class, kind: "park"})
		}
		g, err := assembled(r)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.ContainsFunc(g.Steps, func(s graph.Step) bool { return s.Kind == graph.Join })
		if got != joins {
			t.Errorf("%q: joins %v, want %v", class, got, joins)
		}
	}
}
