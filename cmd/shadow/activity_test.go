package main

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/show/gcreport"
	"stackagent/shadow/store"
)

// The record of the session that makeSession writes, in milliseconds since its
// start: main alone for 10, then the pool's thread alone for 10, then both for
// 20, then GC alone for 5.
func addRecord(t *testing.T, dir string, perMS units.MonoNs) {
	t.Helper()
	const from = units.MonoNs(1_000 * ms)
	at := func(n units.MonoNs) units.MonoNs { return from + n*perMS }
	r := &sched.Record{Source: "ebpf", PID: 42, From: from, To: at(100), Threads: []sched.Thread{
		{TID: 100, Name: "java", First: from, Last: at(100)},
		{TID: 101, Name: "pool-1-thread-1", First: at(10), Last: at(40), BeginSeen: true, EndSeen: true},
		{TID: 90, Name: "GC Thread#0", First: from, Last: at(100)},
	}, Account: &sched.Account{From: from, To: at(100), CPU: 66 * units.Ns(perMS), Running: 65 * units.Ns(perMS), Estimated: -2 * units.Ns(perMS)}}
	slice := func(th uint32, s sched.State, a, b units.MonoNs) sched.Slice {
		return sched.Slice{Thread: th, State: s, From: at(a), To: at(b)}
	}
	all := []sched.Slice{
		slice(0, sched.Running, 0, 10), slice(2, sched.Futex, 0, 40), slice(0, sched.Futex, 10, 20), slice(1, sched.Running, 10, 40),
		slice(0, sched.Running, 20, 40), slice(0, sched.Futex, 40, 100), slice(2, sched.Running, 40, 45), slice(2, sched.Futex, 45, 100),
	}
	if err := sched.Write(dir, r, all); err != nil {
		t.Fatal(err)
	}
}

func recorded(t *testing.T) string {
	dir := makeSession(t, t.TempDir())
	addRecord(t, dir, ms)
	return dir
}

// TestBottleJSON: the promised names, and nothing that is computed otherwise
// than on paper.
func TestBottleJSON(t *testing.T) {
	code, out, errs := shadow(t, nil, "bottle", recorded(t), "--format", "json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		FromNs  int64 `json:"from_ns"`
		ToNs    int64 `json:"to_ns"`
		Threads []struct {
			Name, Kind string
			HeightNs   float64 `json:"height_ns"`
			RunningNs  int64   `json:"running_ns"`
			Width      float64
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name, kind string
		height     float64
		running    int64
		width      float64
	}{
		{"pool-1-thread-1#31", "application", 20 * ms, 30 * ms, 1.5},
		{"main#1", "main", 20 * ms, 30 * ms, 1.5},
		{"GC Thread#0@90", "gc", 5 * ms, 5 * ms, 1},
	}
	if got.FromNs != 1_000*ms || got.ToNs != 1_100*ms || len(got.Threads) != len(want) {
		t.Fatalf("got %+v", got)
	}
	slices.SortFunc(got.Threads, func(a, b struct {
		Name, Kind string
		HeightNs   float64 `json:"height_ns"`
		RunningNs  int64   `json:"running_ns"`
		Width      float64
	}) int {
		return strings.Compare(b.Name, a.Name)
	})
	for i, w := range want {
		g := got.Threads[i]
		if g.Name != w.name || g.Kind != w.kind || math.Abs(g.HeightNs-w.height) > 1e-3 || g.RunningNs != w.running || math.Abs(g.Width-w.width) > 1e-9 {
			t.Errorf("got %+v, want %+v", g, w)
		}
	}
}

// TestBottleWindows: windows add up to the whole, in every grouping.
func TestBottleWindows(t *testing.T) {
	dir := recorded(t)
	for _, group := range []string{"thread", "pool", "kind"} {
		code, out, errs := shadow(t, nil, "bottle", dir, "--from", "5ms", "--to", "45ms", "--every", "7ms", "--group", group, "--format", "csv")
		if code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		height, running := 0.0, 0.0
		for _, r := range rows[1:] {
			height, running = height+number(t, r[4]), running+number(t, r[5])
		}
		if math.Abs(height-40*ms) > 1 || running != (5+30+20+5)*ms {
			t.Errorf("by %s: heights of %v, running %v\n%s", group, height, running, out)
		}
	}
}

func number(t *testing.T, s string) (v float64) {
	t.Helper()
	if err := json.Unmarshal([]byte(s), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestStackJSON: the components add up to the number of threads.
func TestStackJSON(t *testing.T) {
	base, half := recorded(t), makeSession(t, t.TempDir())
	addRecord(t, half, ms/2)
	code, out, errs := shadow(t, nil, "stack", base, half, "--threads", "2", "--format", "json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	var got struct {
		Bars []struct {
			Threads    int
			Speedup    float64
			Components map[string]float64
			Rest       map[string]float64
		}
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil || len(got.Bars) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	b := got.Bars[0]
	sum, rest := b.Speedup, 0.0
	for _, name := range []string{"gc", "sequential", "synchronization", "imbalance", "io", "oversubscription", "rest"} {
		v, ok := b.Components[name]
		if !ok {
			t.Errorf("no component %s", name)
		}
		sum += v
	}
	for _, v := range b.Rest {
		rest += v
	}
	if b.Threads != 2 || b.Speedup != 2 || math.Abs(sum-2) > 1e-9 || math.Abs(rest-b.Components["rest"]) > 1e-9 {
		t.Errorf("%+v adds up to %v, the rest to %v", b, sum, rest)
	}
}

// TestActivityTables keeps the tables of the verbs.
func TestActivityTables(t *testing.T) {
	dir := recorded(t)
	var text strings.Builder
	for _, args := range [][]string{
		{"bottle", dir}, {"bottle", dir, "--group", "kind", "--every", "20ms", "--to", "50ms"},
		{"stack", dir, dir, "--threads", "1"}, {"gc", dir}, {"gc", dir, "--class", "com.acme.Job"}, {"gc", dir, "--format", "csv"},
	} {
		code, out, errs := shadow(t, nil, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, errs)
		}
		text.WriteString("$ shadow " + strings.ReplaceAll(strings.Join(args, " "), dir, "DIR") + "\n" + out + strings.ReplaceAll(errs, dir, "DIR") + "\n")
	}
	compare(t, "activity", text.String())
}

func TestActivityFigures(t *testing.T) {
	dir, out := recorded(t), t.TempDir()
	for name, args := range map[string][]string{
		"b.svg": {"bottle", dir}, "b.png": {"bottle", dir, "--group", "pool"}, "bs.svg": {"bottle", dir, "--every", "10ms"}, "b.pdf": {"bottle", dir},
		"s.svg": {"stack", dir, dir}, "m.svg": {"gc", dir}, "t.svg": {"report", dir, "--figures", "timeline"},
	} {
		path := filepath.Join(out, name)
		code, _, errs := shadow(t, nil, append(args, "-o", path)...)
		if info, err := os.Stat(path); code != 0 || err != nil || info.Size() < 1000 {
			t.Errorf("%s: exit %d, %v: %s", name, code, err, errs)
		}
	}
}

// TestSnapshot: of a record that is still being written what is stored can be
// seen, and that it is not all.
func TestSnapshot(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	const from = units.MonoNs(1_000 * ms)
	w, err := sched.Create(filepath.Join(dir, sched.Folder), sched.Record{Source: "perf", PID: 42})
	if err != nil {
		t.Fatal(err)
	}
	p := sched.Part{From: from, To: from + 30*ms, Threads: []sched.ThreadRow{{Index: 0, Thread: sched.Thread{TID: 100, Name: "java", First: from, Last: from + 30*ms, CPU: units.NotMeasured}}},
		Slices: []sched.Slice{{Thread: 0, State: sched.Running, From: from, To: from + 20*ms}, {Thread: 0, State: sched.Futex, From: from + 20*ms, To: from + 30*ms}}}
	if err := w.Write(&p); err != nil {
		t.Fatal(err)
	}
	code, out, errs := shadow(t, nil, "bottle", dir)
	if code != 0 || !strings.Contains(out, "20.0 ms") || !strings.Contains(errs, "ends 30.0 ms after the start") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}

// TestWithoutRecord: what needs a record says how to get one; what does not, works.
func TestWithoutRecord(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	for _, verb := range [][]string{{"bottle", dir}, {"stack", dir, dir}} {
		code, _, errs := shadow(t, nil, verb...)
		if code != console.ExitFailure || !strings.Contains(errs, "no scheduling record") || !strings.Contains(errs, "--switches") {
			t.Errorf("%v: exit %d: %s", verb, code, errs)
		}
	}
	code, out, errs := shadow(t, nil, "gc", dir)
	if code != 0 || !strings.Contains(out, "1, stopped 2.00 ms") || !strings.Contains(out, "not available") {
		t.Errorf("gc: exit %d: %s%s", code, out, errs)
	}
}

func TestActivityUsage(t *testing.T) {
	dir := recorded(t)
	for _, args := range [][]string{
		{"bottle"}, {"bottle", dir, "--group", "x"}, {"bottle", dir, "--from", "2s", "--to", "1s"}, {"bottle", dir, "--every", "1ns"},
		{"bottle", dir, "-o", "x.gif"}, {"bottle", dir, "--format", "x"}, {"bottle", dir, "--every", "1us", "--top", "-1"},
		{"stack"}, {"stack", dir, "--threads", "1,2"}, {"stack", dir, dir, "--threads", "1,2"}, {"stack", dir, dir, "--threads", "0"}, {"stack", dir, dir, "--region", "x"},
		{"scale", "--threads", "2", "--repeat", "0", "-o", "x", "--", "java", "{threads}"},
		{"gc", dir, "--class", "[", "x"}, {"gc", dir, "--class", "["}, {"gc", dir, "-o", "mmu"},
	} {
		if code, out, errs := shadow(t, nil, args...); code != console.ExitUsage || out != "" || errs == "" {
			t.Errorf("%v: exit %d, want %d: %s%s", args, code, console.ExitUsage, out, errs)
		}
	}
}

// TestCausesDamaged: samples of the JVM's counters that cannot be read cost the
// causes, not the rest, and the report says so.
func TestCausesDamaged(t *testing.T) {
	dir := recorded(t)
	found, err := filepath.Glob(filepath.Join(dir, sched.Folder, "threads-*"))
	if err != nil || len(found) == 0 {
		t.Fatalf("%v %v", found, err)
	}
	part := strings.Replace(found[0], "threads-", "gc-", 1)
	if err := os.WriteFile(part, []byte("no Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := shadow(t, nil, "gc", dir)
	if code != 1 || out != "" || !strings.Contains(errs, "--damaged") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	code, out, errs = shadow(t, nil, "gc", dir, "--damaged")
	if code != 0 || !strings.Contains(out, "stopped") || !strings.Contains(out+errs, "scheduling record is damaged") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// TestGCWithout: without pauses no figure of a pause is shown, and a collector without
// threads has no work of 0.
func TestGCWithout(t *testing.T) {
	code, out, errs := shadow(t, nil, "gc", recorded(t), "--to", "1ms", "--format", "json")
	var got struct {
		Pauses       map[string]*float64
		Threads      *struct{}
		NotAvailable map[string]string `json:"not_available"`
	}
	if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	for name, v := range got.Pauses {
		if counted := name == "count" || name == "total_ns" || name == "share"; counted != (v != nil) {
			t.Errorf("%s: %v without pauses", name, v)
		}
	}
	if got.Threads != nil || got.NotAvailable["collector threads"] == "" {
		t.Errorf("collector threads that did not run: %+v", got)
	}
}

// TestGCProfiler: every format shows how long the profiler itself stopped the program, apart from the pauses.
func TestGCProfiler(t *testing.T) {
	const from = units.MonoNs(1_000 * ms)
	w, err := store.OpenWriter(t.TempDir(), "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s1", StartNs: from, EndNs: from + 100*ms, Ended: store.EndedExit}
	p := samplePart(from)
	for _, at := range []int64{10, 30} {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: int64(from) + at*ms, EndNs: int64(from) + (at+4)*ms, Cause: units.Profiler})
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string][]string{
		"table": {"by the profiler  8.00 ms of it at most, at 2 safepoints", "1, stopped 2.00 ms"},
		"csv":   {"pauses,1\n", "profiler_stops,2\n", "profiler_stopped_ns,8000000\n"},
		"json":  {`"count": 1,`, `"stops": 2,`, `"stopped_ns": 8000000`},
	} {
		code, out, errs := shadow(t, nil, "gc", w.Dir(), "--format", format)
		for _, x := range want {
			if code != 0 || !strings.Contains(out, x) {
				t.Errorf("%s: exit %d, no %q: %s%s", format, code, x, out, errs)
			}
		}
	}
	if _, out, errs := shadow(t, nil, "stats", w.Dir(), "--format", "json"); !strings.Contains(out, `"profiler_ns": 8000000`) {
		t.Errorf("stats: %s%s", out, errs)
	}
}

// TestWaitedIn: only the collector's threads, only in pauses, only when ready.
func TestWaitedIn(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	const from = units.MonoNs(1_000 * ms)
	at := func(n units.MonoNs) units.MonoNs { return from + n*ms }
	r := &sched.Record{Source: "ebpf", PID: 42, From: from, To: at(100), Threads: []sched.Thread{
		{TID: 90, Name: "GC Thread#0", First: from, Last: at(100)}, {TID: 101, Name: "pool-1-thread-1", First: from, Last: at(100)}}}
	slice := func(th uint32, s sched.State, a, b units.MonoNs) sched.Slice {
		return sched.Slice{Thread: th, State: s, From: at(a), To: at(b)}
	}
	if err := sched.Write(dir, r, []sched.Slice{
		slice(0, sched.Futex, 0, 15), slice(1, sched.Runnable, 0, 100), slice(0, sched.Runnable, 15, 55), slice(0, sched.Running, 55, 100),
	}); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.Activity()
	if err != nil {
		t.Fatal(err)
	}
	pauses := []activity.Span{{From: at(10), To: at(20)}, {From: at(30), To: at(33)}, {From: at(50), To: at(60)}}
	if got, err := gcreport.WaitedIn(a, pauses); err != nil || got != 13*ms {
		t.Errorf("%v, %v; want 5 + 3 + 5 ms", got.Duration(), err)
	}
}
