package main

import (
	"path/filepath"
	"testing"

	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// tortureSession writes a session with rows in every table, in parts of two
// ranges, with counters, the process's account and a scheduling record, sealed
// as a run does. Sessions of other seeds have the same names and other figures.
func tortureSession(t testing.TB, root string, seed int) string {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tt := t.(*testing.T)
	dir := makeSummarised(tt, root)
	w, err := store.OpenWriter(root, "s1", "s1")
	must(err)
	const from = units.MonoNs(1_000 * ms)
	p := &store.Part{Range: store.Range{From: 3, To: 4},
		Frames:      []store.Frame{{ID: 1, Class: "a.Main", Method: "main", File: "Main.java", Line: 3}, {ID: 2, Class: "a.Job", Method: "run"}},
		Contexts:    []store.Context{{ID: 1, Kind: store.ContextExecution, Class: 1, Frames: []uint32{2, 1}}, {ID: 2, Kind: store.ContextSubmission, Class: 2, Cut: true, Frames: []uint32{1}}},
		ContextSums: []store.ContextSum{{ID: 1, Count: uint64(2 + seed), SelfWallNs: 7000, Measured: 2, SelfCPUNs: 5000}, {ID: 2, Count: 3}},
		SiteSums:    []store.SiteSum{{Class: 1, Thread: 2, Kind: "creation", Site: 1, Count: uint64(1000 - seed)}},
		Sites:       []store.Site{{ID: 1, Class: "a.Main", Method: "main", File: "Main.java", Line: 3}, {ID: 2, Class: "a.Main", Method: "other"}},
		Executors:   []store.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor", Name: "pool"}},
		VirtualThreads: []store.VirtualThread{{Thread: 0, Class: 1, AtNs: int64(from) + ms, Threads: uint64(5 + seed), Mounts: 9, Changes: 2, First: 2, Last: 2,
			Pins: 1, PinnedNs: 3 * ms, AwayNs: 4 * ms, MostMounts: 3, MostPinnedNs: 3 * ms, MostAwayNs: 2 * ms}},
		Pauses: []store.Pause{{StartNs: int64(from) + 80*ms, EndNs: int64(from) + 83*ms + int64(seed)*ms}},
	}
	for i := range uint64(40 + seed) {
		id, at := 100+i, from+units.MonoNs(i)*ms
		p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: 1, Thread: 1, AtNs: at, Site: 1})
		p.Constructions = append(p.Constructions, store.Construction{TaskID: id, Class: 1, Thread: 1, WallNs: 3 * us, CPUNs: 2 * us})
		p.Submissions = append(p.Submissions, store.Submission{TaskID: id, Class: 1, Thread: 1, Executor: 1, Site: 2, AtNs: at + us})
		p.Executions = append(p.Executions, store.Execution{TaskID: id, Class: 1, Thread: 2, StartNs: at + 2*us, EndNs: at + 402*us, SubmittedNs: at + us, Site: 1,
			WallNs: 400 * us, SelfWallNs: 400 * us, CPUNs: units.Ns(300+seed) * us, SelfCPUNs: units.Ns(300+seed) * us})
	}
	w.Manifest.Contexts = &store.ContextSampling{Every: 10, Taken: 5 + uint64(seed)}
	w.Manifest.Submissions, w.Manifest.Constructions = &store.RecordAccount{Produced: 40}, &store.RecordAccount{Produced: 40}
	must(w.Commit(p))
	must(w.Close())
	must(hpc.File{Version: hpc.FileVersion, PID: 42, NotAvailable: map[hpc.Event]string{hpc.Cycles: "none here"},
		Threads: []hpc.ThreadTotals{{TID: 101, Name: "pool-1-thread-1", Before: units.NotMeasured, Counts: map[hpc.Event]*hpc.Total{
			hpc.ContextSwitches: {Counted: uint64(1234 + seed)}, hpc.PageFaults: {Counted: 7}}}}}.Write(dir))
	must(hpc.Usage{Version: hpc.UsageFileVersion, Wall: 100 * ms, User: units.Ns(90+seed) * ms, System: 5 * ms}.Write(dir))
	tortureRecord(t, dir, seed)
	must(store.SealBeside(dir, store.BesideFiles()...))
	return dir
}

func tortureRecord(t testing.TB, dir string, seed int) {
	t.Helper()
	const from = units.MonoNs(1_000 * ms)
	w, err := sched.Create(filepath.Join(dir, sched.Folder), sched.Record{Source: "ebpf", PID: 42})
	if err != nil {
		t.Fatal(err)
	}
	for i := range units.MonoNs(2) {
		at := from + i*50*ms
		part := sched.Part{From: at, To: at + 50*ms, GC: []sched.GCSample{{At: at, Collector: "G1", Cause: "x", Invocations: int64(i)}},
			Slices: []sched.Slice{{Thread: 0, State: sched.Running, From: at, To: at + 20*ms + units.MonoNs(seed)*ms}, {Thread: 1, State: sched.Running, From: at, To: at + 40*ms}},
			Threads: []sched.ThreadRow{
				{Index: 0, Thread: sched.Thread{TID: 100, Name: "java", First: from, Last: at + 50*ms, CPU: units.NotMeasured}},
				{Index: 1, Thread: sched.Thread{TID: 101, Name: "pool-1-thread-1", First: from, Last: at + 50*ms, CPU: units.NotMeasured}},
			}}
		if err := w.Write(&part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(nil); err != nil {
		t.Fatal(err)
	}
}
