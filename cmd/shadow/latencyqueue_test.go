package main

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// request is a task: submitted, started and ended, nanoseconds since the session's start.
type request struct{ submitted, start, end units.Ns }

// requestSession stores requests as the tasks of com.acme.Request.
func requestSession(t *testing.T, requests []request) string {
	t.Helper()
	return requestSessionIn(t, t.TempDir(), "G1", requests)
}

// requestSessionIn makes the session root/run-N of a JVM with this collector.
func requestSessionIn(t *testing.T, root, collector string, requests []request) string {
	t.Helper()
	runs, err := filepath.Glob(root + "/run-*")
	if err != nil {
		t.Fatal(err)
	}
	name := "run-" + strconv.Itoa(len(runs)+1)
	w, err := store.OpenWriter(root, name, name)
	if err != nil {
		t.Fatal(err)
	}
	const from = units.MonoNs(1_000 * ms)
	end := from
	p := &store.Part{Range: store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "com.acme.Request", Kinds: "runnable"}}, Executors: []store.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor"}},
		Threads: []store.Thread{{ID: 1, JavaID: 1, Name: "main", Group: "main"}, {ID: 2, JavaID: 20, Name: "pool-1-thread-1", Group: "main"}},
	}
	for i, r := range requests {
		id := uint64(i + 1)
		x := store.Execution{TaskID: id, Class: 1, Thread: 2, StartNs: from + units.MonoNs(r.start), EndNs: from + units.MonoNs(r.end), SubmittedNs: from + units.MonoNs(r.submitted),
			WallNs: r.end - r.start, SelfWallNs: r.end - r.start, CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured}
		p.Executions = append(p.Executions, x)
		p.Submissions = append(p.Submissions, store.Submission{TaskID: id, Class: 1, Thread: 1, Executor: 1, AtNs: x.SubmittedNs})
		end = max(end, x.EndNs)
	}
	w.Manifest = store.Manifest{Session: name, StartNs: from, EndNs: end, JVM: store.JVM{PID: 42, GC: collector, CPUs: 2}, Metrics: []string{"wall"},
		Produced: store.Counts{Executions: uint64(len(requests))}, Ended: store.EndedExit}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// openLoop are requests that arrive at random (exponential distances) and are served one after the other, each in
// the same time: a queue M/D/1.
func openLoop(n int, load float64, service units.Ns, seed uint64) []request {
	rng := rand.New(rand.NewPCG(seed, 1))
	out := make([]request, n)
	at, free := 0.0, units.Ns(0)
	for i := range out {
		at += rng.ExpFloat64() * float64(service) / load
		r := request{submitted: units.Ns(at)}
		r.start = max(r.submitted, free)
		r.end = r.start + service
		free, out[i] = r.end, r
	}
	return out
}

// waitsAtMost is the share of requests of an M/D/1 queue that wait at most t services (Erlang, 1909).
func waitsAtMost(t, load float64) float64 {
	sum, factorial := 0.0, 1.0
	for k := 0; float64(k) <= t; k++ {
		if k > 0 {
			factorial *= float64(k)
		}
		x := load * (t - float64(k))
		sum += math.Pow(-x, float64(k)) / factorial * math.Exp(x)
	}
	return (1 - load) * sum
}

// responseOf is the percentile of the response time of an M/D/1 queue, in services.
func responseOf(percentile, load float64) float64 {
	lo, hi := 0.0, 30.0
	for range 60 {
		if mid := (lo + hi) / 2; waitsAtMost(mid, load) < percentile/100 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + 1
}

// TestLatencyOfAQueue holds response times against the theory of the queue M/D/1: the mean by Pollaczek and Khinchine, percentiles
// by Erlang, within 2 %.
func TestLatencyOfAQueue(t *testing.T) {
	const service = units.Ns(100 * us)
	for _, load := range []float64{0.3, 0.5, 0.7} {
		dir := requestSession(t, openLoop(300_000, load, service, 7))
		rows := latencies(t, dir, "--class", "com.acme.Request", "--metered", "none")
		within := func(what string, got, want float64) {
			if math.Abs(got-want) > 0.02*want {
				t.Errorf("load %g: %s is %.0f ns, by theory %.0f", load, what, got, want)
			}
		}
		r := rows["response"]
		if r.Count != 300_000 || r.RelativeError != 0 || r.MeanNs == nil {
			t.Fatalf("response: %+v", r)
		}
		within("the mean", *r.MeanNs, float64(service)*(1+load/(2*(1-load))))
		for name, p := range map[string]float64{"50": 50, "90": 90, "99": 99} {
			within("p"+name, float64(r.Percentiles[name]), float64(service)*responseOf(p, load))
		}
		simple := rows["simple"]
		within("the mean of service", *simple.MeanNs, float64(service))
		within("the longest service", float64(*simple.MaxNs), float64(service))
	}
}

// meteredBy is metered latency by its definition: for each event look through all others for those that start no further than half
// a window away. It would start where it would if these had equal distances.
func meteredBy(events []request, window float64) []units.Ns {
	slices.SortStableFunc(events, func(a, b request) int { return int(a.start - b.start) })
	var out []units.Ns
	for i, e := range events {
		first, last := i, i
		for k := range events {
			if math.Abs(float64(events[k].start-e.start)) <= window/2 {
				first, last = min(first, k), max(last, k)
			}
		}
		start := float64(e.start)
		if last > first {
			step := float64(events[last].start-events[first].start) / float64(last-first)
			start = min(start, float64(events[first].start)+float64(i-first)*step)
		}
		out = append(out, units.Ns(math.Round(float64(e.end)-start)))
	}
	slices.Sort(out)
	return out
}

// TestMeteredOfTheVerb holds what shadow latency prints against the definition, on random streams with bursts and stalls.
func TestMeteredOfTheVerb(t *testing.T) {
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 9))
		var events []request
		at := units.Ns(0)
		for range 1500 {
			switch rng.IntN(100) {
			case 0:
				at += units.Ns(80 * ms * rng.Float64()) // everything stands still
			case 1, 2, 3:
			default:
				at += units.Ns(rng.ExpFloat64() * ms / 2)
			}
			events = append(events, request{at, at, at + units.Ns(rng.ExpFloat64()*ms)})
		}
		rows := latencies(t, requestSession(t, events), "--class", "com.acme.Request", "--metered", "1ms,10ms,100ms,whole")
		for name, window := range map[string]float64{"1ms": ms, "10ms": 10 * ms, "100ms": 100 * ms, "whole": math.Inf(1)} {
			want, r := meteredBy(events, window), rows["metered "+name]
			for p, of := range map[string]float64{"50": 0.5, "90": 0.9, "99": 0.99, "99.9": 0.999} {
				exact := want[int(math.Ceil(of*float64(len(want))))-1]
				if d := r.Percentiles[p] - exact; d < -2 || d > 2 {
					t.Errorf("seed %d, window %s: p%s is %d, by definition %d", seed, name, p, r.Percentiles[p], exact)
				}
			}
			if d := *r.MaxNs - want[len(want)-1]; d < -2 || d > 2 || r.Count != int64(len(want)) {
				t.Errorf("seed %d, window %s: max %d of %d, by definition %d", seed, name, *r.MaxNs, r.Count, want[len(want)-1])
			}
		}
	}
}

// TestLatencyCompared: repeated runs are one row of the comparison with the percentiles of all their tasks, and sessions are named by
// their collectors where these differ.
func TestLatencyCompared(t *testing.T) {
	of := func(service units.Ns) []request {
		var out []request
		for i := range 100 {
			start := units.Ns(i) * 10 * ms
			out = append(out, request{start, start, start + service})
		}
		return out
	}
	root := t.TempDir()
	place := func(name, collector string, service units.Ns) string {
		return requestSessionIn(t, filepath.Join(root, name), collector, of(service))
	}
	a1, a2, b := place("a", "G1", ms), place("a", "G1", 3*ms), place("b", "ZGC", 5*ms)
	code, out, errs := shadow(t, nil, "latency", a1, a2, b, "--class", "com.acme.Request", "--metered", "none")
	if code != 0 {
		t.Fatal(errs)
	}
	_, comparison, _ := strings.Cut(out, "\n\n")
	lines := strings.Split(strings.TrimSpace(comparison), "\n")
	if len(lines) != 3 || strings.Join(strings.Fields(lines[1])[:6], " ") != "G1 2 1.00 ms 3.00 ms" || strings.Join(strings.Fields(lines[2])[:4], " ") != "ZGC 1 5.00 ms" {
		t.Errorf("the comparison is\n%s", comparison)
	}
	// Of one collector they are named by their folders; a run alone is compared with nothing.
	c := place("c", "G1", ms)
	_, out, _ = shadow(t, nil, "latency", a1, a2, c, "--class", "com.acme.Request", "--format", "csv")
	if !strings.HasSuffix(strings.Split(out, "\n")[1], ",a") || !strings.HasSuffix(strings.TrimSpace(out), ",c") {
		t.Errorf("named otherwise than by folder:\n%s", out)
	}
	if _, out, _ = shadow(t, nil, "latency", a1, a2, "--class", "com.acme.Request"); strings.Contains(out, "compared") {
		t.Errorf("one configuration is compared:\n%s", out)
	}
}
