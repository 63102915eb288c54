package e2e_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
)

// printedTimes is what a thread of the program prints of itself, nanoseconds of
// CLOCK_MONOTONIC.
type printedTimes struct{ begin, end, cpu float64 }

// bottleGraph is `shadow bottle --format json`.
type bottleGraph struct {
	FromNs  int64 `json:"from_ns"`
	ToNs    int64 `json:"to_ns"`
	Threads []struct {
		Name      string
		HeightNs  float64 `json:"height_ns"`
		RunningNs float64 `json:"running_ns"`
		Width     float64
	}
	BusyNs    float64 `json:"busy_ns"`
	UnknownNs float64 `json:"unknown_ns"`
}

// speedupBar is a bar of `shadow stack --format json`.
type speedupBar struct {
	Threads    int
	Speedup    float64
	Components map[string]float64
	Runs       []struct {
		DurationNs   float64 `json:"duration_ns"`
		GCNs         float64 `json:"gc_ns"`
		SequentialNs float64 `json:"sequential_ns"`
		ParallelNs   float64 `json:"parallel_ns"`
		States       map[string]float64
		ExitedNs     float64 `json:"exited_ns"`
	}
}

// TestScaling holds bottle graphs and speedup stacks of real programs against
// what the programs' own threads say: when they began and ended and what CPU
// time they used. These figures are true however busy the machine is, and by
// either source of the scheduling record.
func TestScaling(t *testing.T) {
	testjvm.Shared(t)
	shapes := map[string][]string{"ebpf": {"turns", "imbalance"}, "perf": {"io"}}
	if full() {
		all := []string{"turns", "imbalance", "even", "pinned", "lock", "sequential", "gc", "sleep", "io"}
		shapes = map[string][]string{"ebpf": all, "perf": all}
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "scale"))
		for source, some := range shapes {
			for _, shape := range some {
				t.Run(jdk.String()+"/"+source+"/"+shape, func(t *testing.T) {
					cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", VM: []string{"-Xmx64m"}, Agent: []string{"--switches", source}}
					testjvm.OneGood(t, func(a *testjvm.Attempt) { scaling(t, a, cmd, shape) })
				})
			}
		}
	}
}

// scaling runs the program in a shape and checks what is reported of it.
func scaling(t *testing.T, a *testjvm.Attempt, cmd testjvm.Command, shape string) {
	// Long enough that edges and ticks are small beside it; the collector's
	// shape has its own measure.
	units := "3000"
	cmd.Args = []string{"2", shape, units}
	switch shape {
	case "gc":
		cmd.Args[2] = "300"
	case "pinned":
		cmd.Wrap, cmd.Args[1] = onOneCPU(t), "even"
	}
	needSource(t, cmd.Agent[1])
	p := cmd.Session(t)
	g, recorded := bottleOf(t, p)
	needRecord(t, recorded)
	own := program(t, p.Stdout)
	p.CheckKernel(t, a)
	checkBottle(t, a, g, own, unsure(t, p))
	checkShape(t, a, shape, barOf(t, p), g, own, p)
}

// onOneCPU are the words before a command that keep it on one of the processors that the test may use.
func onOneCPU(t *testing.T) []string {
	t.Helper()
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		t.Fatal(err)
	}
	for cpu := range 64 * len(set) {
		if set.IsSet(cpu) {
			return []string{"taskset", "-c", strconv.Itoa(cpu)}
		}
	}
	t.Fatal("no processor")
	return nil
}

// needSource skips a test where the machine lacks a source, which the command
// must refuse then, too.
func needSource(t *testing.T, source string) {
	t.Helper()
	for _, f := range sched.Probe() {
		if strings.EqualFold(f.Name, "scheduling by "+source) && f.Available != hpc.Yes {
			t.Skipf("%s: %s", f.Name, f.Detail)
		}
	}
}

// unsure is by how much a thread's running time may differ from the CPU time that
// it was charged with. By eBPF it does not. By perf the sum is right, but how the
// switches and what the machine took are shared between threads is estimated.
func unsure(t *testing.T, p testjvm.Profile) (ns float64) {
	t.Helper()
	r, err := sched.Open(p.Dir)
	if err != nil || r == nil {
		t.Fatalf("scheduling record: %v, %v", r, err)
	}
	if r.Record().Source != "perf" {
		return 0
	}
	for _, th := range r.Record().Threads {
		ns += float64(th.Voluntary+th.Involuntary) * testjvm.SwitchNs
	}
	return ns + float64(p.Stolen)
}

// TestServeSwitches: a shadow that serves records what the scheduler does with a
// JVM that connects, from then to the JVM's end.
func TestServeSwitches(t *testing.T) {
	testjvm.Shared(t)
	testjvm.OneGood(t, func(a *testjvm.Attempt) { serveSwitches(t, a) })
}

func serveSwitches(t *testing.T, a *testjvm.Attempt) {
	t.Helper()
	jdk := testjvm.JDKs(t)[0]
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "scale"))
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	s := serve(t, addr, store)
	cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: []string{"2", "sleep", "3000"},
		VM: []string{agentFlag(t, "bus=nats://"+addr, "tokenfile="+filepath.Join(store, "token"), "session=passing")}}
	before := testjvm.Stolen(t)
	java := start(t, nil, cmd.Java()...)
	out, exit := java.end(t)
	if exit != 0 {
		t.Fatalf("exit %d\n%s", exit, java.stderr.String())
	}
	dir := filepath.Join(store, "passing")
	waitEnded(t, dir)
	s.stop(t)
	g, recorded := bottleOf(t, testjvm.Profile{Dir: dir, Result: testjvm.Result{Stderr: s.stderr.String()}})
	if !recorded {
		t.Skip("no scheduling record on this machine, and the command says so")
	}
	own, seen := program(t, out), 0
	for _, b := range g.Threads {
		name, _, _ := strings.Cut(b.Name, "#")
		w, ok := own[name]
		if !ok || name == "main" {
			continue
		}
		seen++
		// It connected when the threads were at work already.
		if b.RunningNs <= 0 || b.RunningNs > (1+areaTolerance)*w.cpu+edges(name)+float64(testjvm.Stolen(t)-before) {
			a.Errorf("%s was running for %.1f ms, by its own account %.1f ms", b.Name, b.RunningNs/1e6, w.cpu/1e6)
		}
	}
	if seen != 2 || float64(g.ToNs) < own["worker-0"].end || float64(g.FromNs) > own["worker-0"].end {
		a.Errorf("%d of 2 workers in a record of %d to %d, which ends with the program: %+v", seen, g.FromNs, g.ToNs, own)
	}
}

// needRecord ends a test that has no scheduling record: skipped where the machine
// lets nobody see the scheduler, failed where it does.
func needRecord(t *testing.T, recorded bool) {
	t.Helper()
	if recorded {
		return
	}
	var why []string
	for _, f := range sched.Probe() {
		if f.Available == hpc.Yes {
			t.Fatalf("no scheduling record, though this machine allows %s", f.Name)
		}
		why = append(why, fmt.Sprintf("%s: %s", f.Name, f.Detail))
	}
	t.Skip("no scheduling record on this machine: " + strings.Join(why, "; "))
}

// bottleOf asks for the bottle graph; false where the machine lets nobody see
// the scheduler.
func bottleOf(t *testing.T, p testjvm.Profile) (g bottleGraph, recorded bool) {
	t.Helper()
	out, err := exec.Command(testjvm.Shadow(t), "bottle", p.Dir, "--format", "json").Output()
	if exit, ok := err.(*exec.ExitError); ok && strings.Contains(string(exit.Stderr), "no scheduling record") {
		return g, false
	}
	if err != nil {
		t.Fatalf("shadow bottle: %v\n%s", err, p.Stderr)
	}
	if err := json.Unmarshal(out, &g); err != nil {
		t.Fatal(err)
	}
	return g, true
}

func barOf(t *testing.T, p testjvm.Profile) speedupBar {
	t.Helper()
	out, err := exec.Command(testjvm.Shadow(t), "stack", p.Dir, p.Dir, "--threads", "2", "--workers", "worker-*", "--format", "json").Output()
	if err != nil {
		t.Fatalf("shadow stack: %v", err)
	}
	var all struct{ Bars []speedupBar }
	if err := json.Unmarshal(out, &all); err != nil || len(all.Bars) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	return all.Bars[0]
}

// program reads what the threads printed; of main the last line counts.
func program(t *testing.T, stdout string) map[string]printedTimes {
	t.Helper()
	out := map[string]printedTimes{}
	for line := range strings.Lines(stdout) {
		var name string
		var w printedTimes
		if _, err := fmt.Sscan(line, &name, &w.begin, &w.end, &w.cpu); err != nil {
			t.Fatalf("line %q: %v", line, err)
		}
		out[name] = w
	}
	return out
}

// What figures may differ by, beside a thread's edges.
const (
	scaleTolerance = 0.02
	areaTolerance  = 0.01 // areas from the threads' accounts of their CPU time
)

// edges is what a thread does after its account of itself, nanoseconds of CPU
// time: it prints that, and ends; the main thread ends the JVM besides.
func edges(name string) float64 {
	const prints, endsJVM = 3e6, 20e6
	if name == "main" {
		return prints + endsJVM
	}
	return prints
}

func within(got, want, slack float64) bool { return math.Abs(got-want) <= scaleTolerance*want+slack }

// checkBottle: heights add up to the time with a thread running, areas are the
// threads' CPU times by their own account, but for unsure.
func checkBottle(t *testing.T, a *testjvm.Attempt, g bottleGraph, own map[string]printedTimes, unsure float64) {
	t.Helper()
	height, area := 0.0, 0.0
	for _, b := range g.Threads {
		height, area = height+b.HeightNs, area+b.RunningNs
		if math.Abs(b.Width-b.RunningNs/b.HeightNs) > 1e-6*b.Width || b.Width < 1-1e-9 {
			t.Errorf("%+v: the width is not running time by height, or less than 1", b)
		}
		name, _, _ := strings.Cut(b.Name, "#")
		w, ok := own[name]
		// A thread does more than it prints, never less.
		if ok && (b.RunningNs < (1-areaTolerance)*w.cpu-1e6-unsure || b.RunningNs > (1+areaTolerance)*w.cpu+edges(name)+unsure) && g.UnknownNs < 1e6 {
			a.Errorf("%s was running for %.1f ms, by its own account %.1f ms", b.Name, b.RunningNs/1e6, w.cpu/1e6)
		}
	}
	if math.Abs(height-g.BusyNs) > 1 || height > float64(g.ToNs-g.FromNs) || area < height {
		t.Errorf("heights add up to %.0f, some thread was running for %.0f of %d; areas to %.0f", height, g.BusyNs, g.ToNs-g.FromNs, area)
	}
}

// checkShape: what must be in the account whatever the load of the machine.
func checkShape(t *testing.T, a *testjvm.Attempt, shape string, b speedupBar, g bottleGraph, own map[string]printedTimes, p testjvm.Profile) {
	t.Helper()
	r := b.Runs[0]
	sum := b.Speedup
	for _, v := range b.Components {
		sum += v
	}
	if math.Abs(sum-2) > 1e-9 || b.Speedup != 1 {
		t.Errorf("the bar adds up to %v: %+v", sum, b)
	}
	if gc := float64(p.Stats(t).GC.PauseNs); !within(r.GCNs, gc, 1) {
		t.Errorf("stopped for %.2f ms, by the pauses %.2f ms", r.GCNs/1e6, gc/1e6)
	}
	w0, w1 := own["worker-0"], own["worker-1"]
	// Between its last line and its end a thread works a little, which takes as much
	// longer on a busy machine as the work before did.
	last := 10e6 * (1 + r.States["runnable"]/r.States["running"])
	if exited := math.Abs(w0.end - w1.end); !within(r.ExitedNs, exited, last) && r.GCNs == 0 {
		a.Errorf("a thread was gone for %.2f ms, by their own account %.2f ms", r.ExitedNs/1e6, exited/1e6)
	}
	active := r.States["running"] + r.States["runnable"]
	// Of perf's stays off the CPU only those of 10 ms and more have a reason.
	waits := func(state string) float64 { return r.States[state] + r.States["blocked"] }
	switch shape {
	case "turns":
		// One at a time: each moment one of the two waits, or has gone.
		if waits := waits("futex") + r.ExitedNs; waits < (1-scaleTolerance)*r.ParallelNs || active > (1+scaleTolerance)*r.ParallelNs {
			a.Errorf("threads that take turns wait for %.1f ms and are active for %.1f ms of %.1f ms", waits/1e6, active/1e6, r.ParallelNs/1e6)
		}
	case "lock":
		// The same, but that the lock changes hands every 0.3 ms: a tenth of that
		// is the way into the futex and out of it. Who is on this way and finds no
		// CPU is ready to run beside the other.
		if waits := waits("futex") + r.ExitedNs; waits < 0.9*r.ParallelNs-r.States["runnable"] || r.States["running"] > 1.1*r.ParallelNs {
			a.Errorf("threads under one lock wait for %.1f ms and run for %.1f ms of %.1f ms", waits/1e6, r.States["running"]/1e6, r.ParallelNs/1e6)
		}
	case "even", "pinned":
		// Nobody waits for anything but a processor.
		if off := r.States["futex"] + r.States["io"] + r.States["sleeping"] + r.States["blocked"]; off > scaleTolerance*active {
			a.Errorf("threads that only work are off the processor for %.1f ms, active for %.1f ms", off/1e6, active/1e6)
		}
		area := 0.0
		for _, x := range g.Threads {
			area += x.RunningNs
		}
		if shape == "pinned" && area-g.BusyNs > 0.001*g.BusyNs {
			a.Errorf("on one processor threads were running for %.1f ms together, one or more for %.1f ms", area/1e6, g.BusyNs/1e6)
		}
	case "sleep":
		// HotSpot sleeps in a futex: at least 1 ms for each unit of both.
		if slept := waits("futex"); slept < 3000*1e6 {
			a.Errorf("asleep for %.1f ms, want 3000 times 1 ms or more", slept/1e6)
		}
		checkAll(a, "work and sleep", active+waits("futex"), w0, w1)
	case "io":
		// All that the second thread does is to wait for a byte, all that the first
		// does is work: what they do not use the CPU for, nor wait for one, is the
		// second's I/O. perf counts a wait for a CPU after a wake-up as I/O, too.
		life, cpu := w1.end-w1.begin, w1.cpu
		read := waits("io")
		if least := (1-scaleTolerance)*(life-cpu) - r.States["runnable"]; read < least || read > (1+scaleTolerance)*(life+w0.end-w0.begin-w0.cpu) {
			a.Errorf("reading for %.1f ms; the reader lived for %.1f ms, of which %.1f ms on a CPU; runnable %.1f ms", read/1e6, life/1e6, cpu/1e6, r.States["runnable"]/1e6)
		}
		checkAll(a, "work and I/O", active+read, w0, w1)
	case "imbalance":
		// Three to one; but two that share a core's units may be half as fast while
		// both are at work, and one alone is not.
		if w0.cpu < 2*w1.cpu {
			a.Errorf("the program's own threads used %v and %v: not three quarters and one quarter", w0.cpu, w1.cpu)
		}
	case "sequential":
		// While it waits for a processor its sequential part goes on.
		if seq := own["main"].cpu; r.SequentialNs < (1-scaleTolerance)*seq-1e6 {
			a.Errorf("sequential for %.2f ms, the main thread's CPU time is %.2f ms", r.SequentialNs/1e6, seq/1e6)
		}
	case "gc":
		if r.GCNs == 0 {
			t.Error("no collection")
		}
	}
}

// checkAll: the two threads did what they do for all of their lives.
func checkAll(a *testjvm.Attempt, what string, did float64, threads ...printedTimes) {
	a.Helper()
	lives, edge := 0.0, 0.0
	for _, w := range threads {
		lives, edge = lives+w.end-w.begin, edge+edges("worker")
	}
	if did < (1-scaleTolerance)*lives || did > (1+scaleTolerance)*lives+edge {
		a.Errorf("%s of %.1f ms; the threads lived for %.1f ms", what, did/1e6, lives/1e6)
	}
}
