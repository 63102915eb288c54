package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

func ptr(n int64) *int64 { return &n }

// write stores parts as a session named name below root.
func write(t testing.TB, root, name string, produced store.Counts, parts ...*store.Part) string {
	t.Helper()
	w, err := store.OpenWriter(root, name, name)
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.Produced = produced
	for _, p := range parts {
		if err := w.Commit(p); err != nil {
			t.Fatal(err)
		}
	}
	return w.Dir()
}

// small is a session with one of everything: task 1 runs once and holds task 2,
// task 3 runs three times (in parts out of order), 4 is never executed, the
// construction of 5 fails, the creation of 6 was not seen, 7 still runs.
func small() []*store.Part {
	made := func(id uint64, class uint32, flags wire.CreationFlags, at units.MonoNs) store.Creation {
		return store.Creation{TaskID: id, Class: class, Thread: 1, Flags: uint16(flags), AtNs: at}
	}
	ran := func(id, outer uint64, class, thread uint32, flags wire.ExecutionFlags, start, end units.MonoNs) store.Execution {
		return store.Execution{
			TaskID: id, OuterTaskID: outer, Class: class, Thread: thread, Flags: uint16(flags), StartNs: start, EndNs: end,
			WallNs: units.Ns(end - start), SelfWallNs: units.Ns(end - start), CPUNs: units.NotMeasured, SelfCPUNs: units.NotMeasured,
		}
	}
	running := ran(7, 0, 2, 2, wire.Running, 900, 900)
	running.EndNs, running.WallNs, running.SelfWallNs = 0, units.NotMeasured, units.NotMeasured
	return []*store.Part{
		{
			Range: store.Range{From: 1, To: 2},
			Classes: []store.Class{
				{ID: 1, Name: "a.Job", Kinds: "runnable", Loader: "app"},
				{ID: 2, Name: "a.Worker", Kinds: "thread+runnable"},
			},
			Threads: []store.Thread{
				{ID: 1, JavaID: 1, OSID: 50, Name: "main", Group: "main"},
				{ID: 2, JavaID: 20, OSID: 51, Name: "w", Group: "main", StartNs: ptr(90)},
				{ID: 3, JavaID: 9, OSID: 52, Name: "C2 CompilerThread0", Group: "system", Daemon: true},
			},
			Creations: []store.Creation{
				made(1, 1, 0, 100), made(2, 1, 0, 110), made(3, 1, 0, 120), made(4, 1, 0, 130),
				made(5, 1, 0, 140), made(5, 1, wire.Failed, 141), made(7, 2, 0, 150),
			},
			Executions: []store.Execution{
				ran(2, 1, 1, 1, wire.Threw, 210, 220), ran(1, 0, 1, 1, 0, 200, 300), ran(3, 0, 1, 2, 0, 500, 510),
			},
			Pauses: []store.Pause{{StartNs: 400, EndNs: 420}},
		},
		{
			Range:      store.Range{From: 3, To: 3},
			Threads:    []store.Thread{{ID: 2, JavaID: 20, OSID: 51, Name: "w-renamed", Group: "main", StartNs: ptr(90), EndNs: ptr(950), CPUNs: ptr(77)}},
			Executions: []store.Execution{ran(3, 0, 1, 2, 0, 400, 410), ran(3, 0, 1, 1, 0, 400, 409), ran(6, 0, 9, 2, wire.CreationUnseen, 600, 700), running},
			Pauses:     []store.Pause{{StartNs: 350, EndNs: 360}, {StartNs: 390, EndNs: 395, Cause: units.Profiler}, {StartNs: 370, EndNs: 380, Cause: units.Profiler}},
			OSThreads: []store.OSThread{
				{OSID: 50, Name: "java", CPUNs: ptr(5000)}, {OSID: 60, Name: "GC Thread#0", CPUNs: ptr(6000)},
				{OSID: 59, Name: "VM Thread"}, {OSID: 61, Name: "java", CPUNs: ptr(1)},
			},
		},
	}
}

func openSmall(t *testing.T) *Session {
	t.Helper()
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{Executions: 7, Creations: 7}, small()...))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestThreadsClassesPauses(t *testing.T) {
	s := openSmall(t)
	var got []string
	for _, x := range s.Threads {
		got = append(got, fmt.Sprintf("%s %s %d", x.Label(), x.Kind, x.CPU))
	}
	none := fmt.Sprint(int64(units.NotMeasured))
	want := []string{
		"main#1 main 5000", "w-renamed#20 application 77", "C2 CompilerThread0#9 compiler " + none,
		"VM Thread@59 vm " + none, "GC Thread#0@60 gc 6000", "java@61 other 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("threads:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if c := s.ClassByID(2); c == nil || c.Kinds != units.KindThread|units.KindRunnable || s.ClassByID(9) != nil {
		t.Errorf("class 2: %+v, class 9: %+v", c, s.ClassByID(9))
	}
	if !slices.Equal(s.Pauses, []Pause{{StartNs: 350, EndNs: 360}, {StartNs: 400, EndNs: 420}}) {
		t.Errorf("pauses: %v", s.Pauses)
	}
	if !slices.Equal(s.Own, []Pause{{StartNs: 370, EndNs: 380, Cause: units.Profiler}, {StartNs: 390, EndNs: 395, Cause: units.Profiler}}) {
		t.Errorf("the profiler's own: %v", s.Own)
	}
	if len(s.Warnings) != 0 || s.Manifest.Lost.Events != 0 {
		t.Errorf("warnings %q, lost %+v", s.Warnings, s.Manifest.Lost)
	}
}

func TestCounts(t *testing.T) {
	s := openSmall(t)
	all, sum, err := s.Counts()
	if err != nil {
		t.Fatal(err)
	}
	want := []ClassCounts{
		{Created: 4, Failed: 1, Executions: 5, Threw: 1, Distinct: 3, NeverExecuted: 1},
		{Created: 1, Executions: 1, Running: 1, Distinct: 1},
		{Executions: 1, Distinct: 1},
	}
	total := ClassCounts{Created: 5, Failed: 1, Executions: 7, Running: 1, Threw: 1, Distinct: 5, NeverExecuted: 1}
	for i, id := range []uint32{1, 2, 9} {
		if i >= len(all) || all[i].Class.ID != id {
			t.Fatalf("classes: %+v", all)
		}
		all[i].Class = nil
	}
	if !slices.Equal(all, want) || sum != total {
		t.Errorf("got %+v\nsum %+v\nwant %+v\nsum %+v", all, sum, want, total)
	}
}

func TestTasks(t *testing.T) {
	s := openSmall(t)
	var got []string
	err := s.Tasks(func(x *Task) error {
		creator, thread := "-", "-"
		if x.CreatorThread != nil {
			creator = x.CreatorThread.Name
		}
		if x.Thread != nil {
			thread = x.Thread.Name
		}
		got = append(got, fmt.Sprintf("%d.%d %s outer %d made %d by %s ran %d-%d on %s threw %v running %v",
			x.TaskID, x.Execution, x.Class.Name, x.OuterTaskID, x.CreatedNs, creator, x.StartNs, x.EndNs, thread, x.Threw, x.Running))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2.1 a.Job outer 1 made 110 by main ran 210-220 on main threw true running false",
		"1.1 a.Job outer 0 made 100 by main ran 200-300 on main threw false running false",
		"3.3 a.Job outer 0 made 120 by main ran 500-510 on w-renamed threw false running false",
		"3.1 a.Job outer 0 made 120 by main ran 400-410 on w-renamed threw false running false",
		"3.2 a.Job outer 0 made 120 by main ran 400-409 on main threw false running false",
		"6.1 unknown class 9 outer 0 made 0 by - ran 600-700 on w-renamed threw false running false",
		"7.1 a.Worker outer 0 made 150 by main ran 900-0 on w-renamed threw false running true",
		"4.0 a.Job outer 0 made 130 by main ran 0-0 on - threw false running false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	enough := errors.New("enough")
	if err := s.Tasks(func(*Task) error { return enough }); err != enough {
		t.Errorf("the caller's error came back as %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	os.WriteFile(file, nil, 0o600)
	empty, several, single := filepath.Join(root, "empty"), filepath.Join(root, "several"), filepath.Join(root, "single")
	os.Mkdir(empty, 0o700)
	write(t, several, "one", store.Counts{})
	write(t, single, "only", store.Counts{}, small()...)
	write(t, several, "two", store.Counts{}, small()[0])
	os.WriteFile(filepath.Join(several, "one", store.ManifestName), []byte(`{"format":"stackagent session","version":7,"session":"one"}`), 0o600)
	for _, c := range []struct {
		dir  string
		want error
		text string
	}{
		{filepath.Join(root, "none"), os.ErrNotExist, "none"},
		{file, store.ErrNoSession, "it is a file"},
		{empty, store.ErrNoSession, "no manifest.json"},
		{several, store.ErrNoSession, filepath.Join(several, "one") + ", " + filepath.Join(several, "two")},
		{filepath.Join(several, "one"), store.ErrNewerVersion, "update"},
	} {
		if _, err := Open(c.dir); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v; want %v with %q", c.dir, err, c.want, c.text)
		}
	}
	if s, err := Open(single); err != nil || s.Manifest.Session != "only" {
		t.Errorf("a folder with one session: %v", err)
	}
}

func TestDamageIsCountedAsLost(t *testing.T) {
	for _, how := range []string{"gone", "cut", "flipped"} {
		t.Run(how, func(t *testing.T) {
			dir := write(t, t.TempDir(), "s", store.Counts{Executions: 7, Creations: 7}, small()...)
			path := filepath.Join(dir, store.PartName(store.Executions, 3, 3))
			data, _ := os.ReadFile(path)
			switch how {
			case "gone":
				os.Remove(path)
			case "cut":
				os.WriteFile(path, data[:len(data)-9], 0o600)
			case "flipped":
				for i := range data[4:400] {
					data[4+i] ^= 0xff
				}
				os.WriteFile(path, data, 0o600)
			}
			if s, err := Open(dir); err == nil {
				err = s.Executions(func(*Chunk) error { return nil })
				if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), "--damaged") {
					t.Errorf("reading it gives the error %v", err)
				}
			} else if !errors.Is(err, store.ErrDamaged) {
				t.Error(err)
			}
			s, err := OpenDamaged(dir)
			if err != nil {
				t.Fatal(err)
			}
			if s.Manifest.NotAvailable[Totals] == "" || s.Manifest.Balance.State != store.BalanceUnknown {
				t.Errorf("its totals are not marked: %v, %+v", s.Manifest.NotAvailable, s.Manifest.Balance)
			}
			for range 2 { // reading twice must not count twice
				rows := 0
				if err := s.Executions(func(c *Chunk) error { rows += c.Len(); return nil }); err != nil || rows != 3 {
					t.Errorf("%d rows, %v; want the 3 of the good part", rows, err)
				}
			}
			if s.Manifest.Lost.Events != 4 || len(s.Warnings) == 0 || !strings.Contains(strings.Join(s.Warnings, "\n"), "executions") {
				t.Errorf("lost %+v, warnings %q; want 4 rows", s.Manifest.Lost, s.Warnings)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	for _, c := range [][3]string{
		{"G1 Conc#0", "", KindGC}, {"ParGC Thread#1", "", KindGC}, {"ZWorker#0", "", KindGC}, {"Shenandoah GC T", "", KindGC},
		{"C2 CompilerThre", "", KindCompiler}, {"C1 CompilerThre", "", KindCompiler},
		{"VM Periodic Tas", "", KindVM}, {"Signal Dispatch", "", KindVM}, {"java", "", KindOther}, {"VMware", "", KindOther},
	} {
		if got := ServiceKind(c[0]); got != c[2] {
			t.Errorf("%q: %s, want %s", c[0], got, c[2])
		}
	}
	for _, c := range [][3]string{
		{"main", "main", KindMain}, {"main", "pool", KindApplication}, {"pool-1-thread-1", "main", KindApplication},
		{"GC Thread#0", "main", KindApplication}, {"C1 CompilerThread0", "system", KindCompiler},
		{"Reference Handler", "system", KindVM}, {"Common-Cleaner", "InnocuousThreadGroup", KindVM}, {"DestroyJavaVM", "main", KindVM},
	} {
		if got := JavaKind(c[0], c[1]); got != c[2] {
			t.Errorf("%q in %q: %s, want %s", c[0], c[1], got, c[2])
		}
	}
}

// TestTimer: the thread that ends the sleep of virtual threads is none of the program's, and a carrier that it wakes has slept.
func TestTimer(t *testing.T) {
	for _, c := range []struct {
		group, name, class string
		want               bool
	}{
		{carrierGroup, "ForkJoinPool-1-delayScheduler", "java.util.concurrent.DelayScheduler", true},
		{carrierGroup, "ForkJoinPool-1-worker-1", "jdk.internal.misc.CarrierThread", false},
		{"InnocuousThreadGroup", "VirtualThread-unparker", "jdk.internal.misc.InnocuousThread", true},
		{"main", "VirtualThread-unparker", "com.acme.Mine", false},
	} {
		th := javaThread(&store.Thread{ID: 1, JavaID: 9, Name: c.name, Group: c.group, Class: c.class})
		if th.delays() != c.want || (th.Kind == KindVM) != c.want {
			t.Errorf("%s of %s: %v, kind %s", c.name, c.group, th.delays(), th.Kind)
		}
	}
	e := &endedWaits{program: []bool{true, false, true}, enders: []ender{ofProgram, timer, ofProgram}}
	for by, want := range map[uint32]activity.ThreadState{1: activity.Sleeping, 2: activity.Futex} {
		if got := e.state(&sched.Slice{State: sched.Futex, Waker: sched.WakerThread(by)}); got != want {
			t.Errorf("woken by %d: %s, want %s", by, got, want)
		}
	}
}

// Ids as the agent gives them out: blocks per thread. Memory must stay at some
// ten bytes a task.
func BenchmarkTasks(b *testing.B) {
	const parts, per = 8, 250_000
	var all []*store.Part
	for p := range parts {
		x := &store.Part{Range: store.Range{From: uint64(p + 1), To: uint64(p + 1)}}
		for i := range per {
			id := uint64(i%4+1)<<32 | uint64(p*per/4+i/4)
			at := units.MonoNs(p*per + i)
			x.Creations = append(x.Creations, store.Creation{TaskID: id, Class: 1, Thread: 1, AtNs: at})
			x.Executions = append(x.Executions, store.Execution{TaskID: id, Class: 1, Thread: 1, StartNs: at, EndNs: at + 1, WallNs: 1, SelfWallNs: 1})
		}
		all = append(all, x)
	}
	s, err := Open(write(b, b.TempDir(), "s", store.Counts{}, all...))
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		rows := 0
		if err := s.Tasks(func(*Task) error { rows++; return nil }); err != nil || rows != parts*per {
			b.Fatalf("%d rows, %v", rows, err)
		}
	}
	b.ReportMetric(parts*per*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtasks/s")
}

// The creation of a service thread that the JVM takes back is no task, in
// whatever order the two records come.
func TestWithdrawnIsNoTask(t *testing.T) {
	made := func(id uint64, class uint32, flags wire.CreationFlags) store.Creation {
		return store.Creation{TaskID: id, Class: class, Thread: 1, Flags: uint16(flags), AtNs: 5}
	}
	part := &store.Part{
		Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "a.Job"}},
		Creations: []store.Creation{made(1, 1, 0), made(1, 0, wire.Withdrawn), made(2, 0, wire.Withdrawn), made(2, 1, 0), made(3, 1, 0)},
	}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{Creations: 5}, part))
	if err != nil {
		t.Fatal(err)
	}
	byClass, sum, err := s.Counts()
	if err != nil || len(byClass) != 1 || sum.Created != 1 || sum.NeverExecuted != 1 || sum.Failed != 0 {
		t.Errorf("counts %+v of %d classes, %v; want one task created, never executed", sum, len(byClass), err)
	}
	var ids []uint64
	if err := s.Tasks(func(x *Task) error { ids = append(ids, x.TaskID); return nil }); err != nil || !slices.Equal(ids, []uint64{3}) {
		t.Errorf("tasks %v, %v; want task 3 only", ids, err)
	}
}
