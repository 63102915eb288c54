package replay

import (
	"fmt"
	"math/rand"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// maker makes the batches of one JVM: a main thread creates and submits tasks of three classes, four threads of a pool
// execute them.
type maker struct {
	session, process string
	rng              *rand.Rand
	seq, tasks       uint64
	now              func() int64 // of the machine's monotonic clock, ns
	last             int64        // end of the batch before
}

const (
	workers = 4
	classes = 3
	// noPID is beyond the greatest number of a process: nobody looks for this JVM's threads.
	noPID = 1 << 22
)

func newMaker(i int) *maker {
	return &maker{session: Session(i), process: fmt.Sprintf("replay%d", i), rng: rand.New(rand.NewSource(int64(i))), now: monotonic}
}

func monotonic() int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // every Linux has it
	return t.Nano()
}

func pair(at int64) wire.ClockPair {
	return wire.ClockPair{Ticks: units.Ticks(at), Mono: units.MonoNs(at)}
}

// batch makes one of n tasks that end now.
func (m *maker) batch(n int, last bool) *wire.Batch {
	at := m.now()
	if m.last == 0 {
		m.last = at - int64(time.Second)
	}
	m.seq++
	b := &wire.Batch{Version: wire.Version, Session: m.session, Process: m.process, Seq: m.seq, Clock: pair(at), Last: last}
	if m.seq == 1 {
		m.describe(b, at)
	}
	step := (at - m.last) / int64(n+1)
	for k := range n {
		m.task(b, m.last+int64(k)*step, step)
	}
	m.last = at
	b.Totals.Executions, b.Totals.Creations, b.Totals.Submissions, b.Totals.Classes = m.tasks, m.tasks, m.tasks, classes
	return b
}

// describe says whose the batches are; at is now.
func (m *maker) describe(b *wire.Batch, at int64) {
	b.Hello = &wire.Hello{PID: noPID, Host: "replay", JVMVersion: "25", MainClass: "com.acme.Main", GC: "G1", CPUs: 2, ClockName: "monotonic",
		WallUnixNs: time.Now().UnixNano() - (at - m.last), StartClock: pair(m.last), Metrics: []string{"wall", "cpu"}, Detail: "all"}
	for c := range uint32(classes) {
		b.Classes = append(b.Classes, wire.Class{ID: c + 1, Name: fmt.Sprintf("com.acme.Task%d", c)})
		b.Sites = append(b.Sites, wire.Site{ID: c + 1, Class: "com.acme.Main", Method: "submit", File: "Main.java", Line: int32(10 * (c + 1))})
	}
	b.Executors = []wire.Executor{{ID: 1, Class: "java.util.concurrent.ThreadPoolExecutor", Name: "pool"}}
	for t := range uint32(workers + 1) {
		b.Threads = append(b.Threads, wire.Thread{ID: t + 1, Name: fmt.Sprintf("pool-1-thread-%d", t)})
	}
}

// task adds one that is created at a moment of a step of that length.
func (m *maker) task(b *wire.Batch, at, step int64) {
	m.tasks++
	class := 1 + uint32(m.rng.Intn(classes))
	waits := m.rng.Int63n(max(step/4, 1))
	runs := m.rng.Int63n(max(step/2, 1))
	created, submitted := units.Ticks(at), units.Ticks(at+step/8)
	start := submitted + units.Ticks(waits)
	b.Creations = append(b.Creations, wire.Creation{TaskID: m.tasks, Class: class, Thread: 1, At: created, Site: class})
	b.Submissions = append(b.Submissions, wire.Submission{TaskID: m.tasks, Class: class, Thread: 1, Executor: 1, Site: class, At: submitted})
	b.Executions = append(b.Executions, wire.Execution{TaskID: m.tasks, Class: class, Thread: 2 + uint32(m.tasks%workers), Start: start,
		End: start + units.Ticks(runs), CPU: units.Ns(runs), Submitted: submitted, Site: class})
}
