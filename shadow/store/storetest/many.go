package storetest

import (
	"fmt"
	"path/filepath"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Many says how many there are of what a program may have very many of. A session has as many tasks as the
// greatest of these; each has a class, a site, an executor and a thread in turn.
type Many struct {
	Executors int // each passes its tasks on to a pool
	Classes   int // of tasks, each with a class that it waits for
	Sites     int // with a context each
	Threads   int // that run tasks

	Summarised bool // as many tasks more: these have sites, the recorded ones have none
}

// What the ids of a session begin with. The first classes, executors and sites are those of the pool.
const (
	manyStart  = units.MonoNs(1_000_000_000)
	manyWorker = iota // the class of the workers' loops
	manySerial        // of what an executor submits to the pool
	manyFirst         // the first task's
)

// manyStep is how long a task takes with its executor's part; manyRest is how long nothing happens after the last one.
const (
	manyStep = 20 * units.MonoNs(us)
	manyRest = 200 * ms
)

// Write writes such a session to root/name, with a scheduling record, and returns its folder.
func (m Many) Write(root, name string) (string, error) {
	m = Many{max(1, m.Executors), max(1, m.Classes), max(1, m.Sites), max(2, m.Threads), m.Summarised}
	n := max(m.Executors, m.Classes, m.Sites, m.Threads)
	w, err := store.OpenWriter(root, name, name)
	if err != nil {
		return "", fmt.Errorf("writing a session of very many things: %w", err)
	}
	end := manyStart + units.MonoNs(n/m.Threads+2)*manyStep + manyRest
	w.Manifest = store.Manifest{
		Session: name, WallUnixNs: 1_700_000_000_000_000_000, StartNs: manyStart, EndNs: end, DurationNs: units.Ns(end - manyStart),
		Metrics: []string{"wall", "cpu"}, JVM: store.JVM{PID: 1, Host: "host", Version: "17.0.1", Name: "OpenJDK", MainClass: "app.Main", GC: "G1", CPUs: 2},
		Ended: store.EndedExit, Contexts: &store.ContextSampling{Every: 1, Taken: uint64(n)}, Submissions: &store.RecordAccount{Produced: 2 * uint64(n)},
		Waits:    &store.WaitRecording{LimitNs: us, Sources: []string{"park"}},
		Produced: store.Counts{Executions: uint64(2*n + m.Threads), Creations: uint64(2 * n)},
	}
	p := &store.Part{Range: store.Range{From: 1, To: 1}}
	if m.Summarised {
		w.Manifest.Produced.Executions += uint64(n)
		w.Manifest.Submissions.Produced, w.Manifest.Submissions.Summarised = 3*uint64(n), uint64(n)
	}
	m.describe(p)
	for i := range n {
		m.task(p, i)
	}
	m.loops(p, end)
	if err := w.Commit(p); err != nil {
		return "", fmt.Errorf("writing a session of very many things: %w", err)
	}
	return w.Dir(), m.schedule(w.Dir(), n, end)
}

// describe writes what the tasks refer to.
func (m Many) describe(p *store.Part) {
	const pool = "java.util.concurrent.ThreadPoolExecutor"
	p.Classes = []store.Class{{ID: manyWorker, Name: pool + "$Worker", Kinds: "runnable+jdk"}, {ID: manySerial, Name: "app.Serial", Kinds: "runnable"}}
	p.Sites = []store.Site{{ID: manySerial, Class: "app.Serial", Method: "execute", File: "Serial.java", Line: 7, Calls: "execute"}}
	p.Executors = []store.Executor{{ID: manySerial, Class: pool, MadeIn: "app.Main.main", File: "Main.java", Line: 3}}
	p.Threads = []store.Thread{{ID: manySerial, JavaID: 1, OSID: 100, Name: "main", Group: "main", Class: "java.lang.Thread"}}
	for i := range uint32(m.Classes) {
		name := fmt.Sprintf("app.Task%d", i)
		p.Classes = append(p.Classes, store.Class{ID: manyFirst + i, Name: name, Kinds: "runnable"})
		p.Blockers = append(p.Blockers, store.Blocker{ID: 1 + i, Class: fmt.Sprintf("app.Lock%d", i)})
	}
	for i := range uint32(m.Sites) {
		s := store.Site{ID: manyFirst + i, Class: "app.Main", Method: fmt.Sprintf("submit%d", i), File: "Main.java", Line: int32(10 + i), Calls: "execute"}
		p.Sites = append(p.Sites, s)
		p.Frames = append(p.Frames, store.Frame{ID: 1 + i, Class: s.Class, Method: s.Method, File: s.File, Line: s.Line})
		p.Contexts = append(p.Contexts, store.Context{ID: 1 + i, Kind: store.ContextExecution, Class: manyFirst + i%uint32(m.Classes), Frames: []uint32{1 + i, 1}})
	}
	for i := range uint32(m.Executors) {
		p.Executors = append(p.Executors, store.Executor{ID: manyFirst + i, Class: "app.Serial", MadeIn: "app.Main.call", File: "Main.java", Line: 8})
	}
	for i := range m.Threads {
		p.Threads = append(p.Threads, store.Thread{ID: manyFirst + uint32(i), JavaID: int64(20 + i), OSID: int32(101 + i), Name: fmt.Sprintf("worker-%d", i), Group: "main",
			Class: "java.lang.Thread", CPUNs: new(int64(50 * us)), Executor: manySerial})
		p.OSThreads = append(p.OSThreads, store.OSThread{OSID: int32(101 + i), Name: fmt.Sprintf("worker-%d", i), CPUNs: new(int64(50 * us))})
	}
}

// at is when the worker of task i begins with it.
func (m Many) at(i int) units.MonoNs {
	return manyStart + units.MonoNs(i/m.Threads+1)*manyStep + units.MonoNs(i%m.Threads)
}

// task writes task i, which its executor runs inside a task of its own, and a wait of it.
func (m Many) task(p *store.Part, i int) {
	at, task, serial := m.at(i), uint64(2*i+1), uint64(2*i+2)
	thread, class, site := manyFirst+uint32(i%m.Threads), manyFirst+uint32(i%m.Classes), manyFirst+uint32(i%m.Sites)
	before := at - 5*us
	p.Creations = append(p.Creations, store.Creation{TaskID: serial, Class: manySerial, Thread: manySerial, AtNs: before, Site: site})
	if m.Summarised {
		m.summary(p, uint64(i), store.SiteSum{Class: class, Thread: manySerial, Site: site, Count: 1}, at)
		site = 0
	} else {
		p.Creations = append(p.Creations, store.Creation{TaskID: task, Class: class, Thread: manySerial, AtNs: before, Site: site})
	}
	p.Submissions = append(p.Submissions, store.Submission{TaskID: task, Class: class, Thread: manySerial, Executor: manyFirst + uint32(i%m.Executors), Site: site, AtNs: before},
		store.Submission{TaskID: serial, Class: manySerial, Thread: manySerial, Executor: manySerial, Site: manySerial, Flags: uint16(wire.Inner), AtNs: before})
	run := func(task, outer uint64, class uint32, depth uint16, from, wall, self units.Ns) {
		p.Executions = append(p.Executions, store.Execution{TaskID: task, OuterTaskID: outer, Class: class, Thread: thread, Depth: depth, Flags: uint16(wire.First),
			StartNs: at + units.MonoNs(from), EndNs: at + units.MonoNs(from+wall), WallNs: wall, CPUNs: wall, SelfWallNs: self, SelfCPUNs: self, SubmittedNs: before})
	}
	run(task, serial, class, 2, us, 10*us, 10*us)
	run(serial, m.loop(i%m.Threads), manySerial, 1, 0, 12*us, 2*us)
	p.ContextSums = append(p.ContextSums, store.ContextSum{ID: 1 + uint32(i%m.Sites), Count: 1, SelfWallNs: 10 * us, Measured: 1, SelfCPUNs: 10 * us})
	p.Waits = append(p.Waits, store.Wait{Kind: "park", Blocker: 1 + uint32(i%m.Classes), Object: 1 + uint32(i%m.Classes), Thread: thread, StartNs: int64(at) + 2*us, EndNs: int64(at) + 4*us,
		Within: class, Site: site, Waker: manyFirst + uint32((i+1)%m.Threads), WakerClass: class, WakerTask: task, Context: 1 + uint32(i%m.Sites)})
	p.WaitSums = append(p.WaitSums, store.WaitSum{Thread: thread, Kind: "park", Blocker: 1 + uint32(i%m.Classes), Within: class, FromNs: int64(at), ToNs: int64(at) + 12*us, Waits: 2, WaitedNs: us, MaxNs: us})
	if i%20 == 0 {
		p.Pauses = append(p.Pauses, store.Pause{StartNs: int64(at) + 6*us, EndNs: int64(at) + 7*us, Cause: "G1 Evacuation Pause"})
	}
}

// summary writes that task i was created, and that one more like it was submitted and run.
func (m Many) summary(p *store.Part, i uint64, of store.SiteSum, at units.MonoNs) {
	id := 1<<14 + i
	p.Summaries = append(p.Summaries, store.Summary{ID: id, Class: of.Class, Thread: of.Thread, FromNs: at, ToNs: at + 12*us, Executions: 1, First: 1, Creations: 1, Submissions: 1})
	for _, metric := range []string{"wall", "self_wall", "cpu", "self_cpu", "queue"} {
		p.Measures = append(p.Measures, store.Measure{Summary: id, Metric: metric, Count: 1, SumNs: 10 * us, MinNs: 10 * us, MaxNs: 10 * us})
		p.Buckets = append(p.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: 9984, HighestNs: 10047, Count: 1})
	}
	for _, kind := range []string{"creation", "submission"} {
		of.Kind = kind
		p.SiteSums = append(p.SiteSums, of)
	}
}

// loop is the task of a worker's loop.
func (m Many) loop(thread int) uint64 { return 1<<40 + uint64(thread) }

// loops writes the executions around all those of a worker.
func (m Many) loops(p *store.Part, end units.MonoNs) {
	for t := range m.Threads {
		wall := units.Ns(end - manyStart)
		p.Executions = append(p.Executions, store.Execution{TaskID: m.loop(t), Class: manyWorker, Thread: manyFirst + uint32(t), Flags: uint16(wire.First), StartNs: manyStart, EndNs: end,
			WallNs: wall, CPUNs: wall, SelfWallNs: 1, SelfCPUNs: 1})
	}
}

// schedule writes when each thread ran, and a wait that another one ended, for each task.
func (m Many) schedule(dir string, n int, end units.MonoNs) error {
	w, err := sched.Create(filepath.Join(dir, sched.Folder), sched.Record{Source: "ebpf", PID: 1})
	if err != nil {
		return fmt.Errorf("writing a session of very many things: %w", err)
	}
	p := sched.Part{From: manyStart, To: end}
	thread := func(i int, name string) {
		p.Threads = append(p.Threads, sched.ThreadRow{Index: uint32(i), Thread: sched.Thread{TID: int32(100 + i), Name: name, First: manyStart, Last: end, CPU: units.NotMeasured}})
	}
	thread(0, "main")
	for t := range m.Threads {
		thread(1+t, fmt.Sprintf("worker-%d", t))
	}
	for i := range n {
		at, on := m.at(i), uint32(1+i%m.Threads)
		p.Slices = append(p.Slices, sched.Slice{Thread: on, State: sched.Running, From: at, To: at + 2*us},
			sched.Slice{Thread: on, State: sched.Futex, From: at + 2*us, To: at + 4*us, Futex: 1 + uint32(i%m.Classes), Waker: sched.WakerThread(1 + uint32((i+1)%m.Threads))},
			sched.Slice{Thread: on, State: sched.Running, From: at + 4*us, To: at + 12*us})
	}
	if err := w.Write(&p); err != nil {
		return fmt.Errorf("writing a session of very many things: %w", err)
	}
	return w.Close(nil)
}
