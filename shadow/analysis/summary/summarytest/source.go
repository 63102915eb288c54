// Package summarytest makes up sessions for tests. They never change.
package summarytest

import (
	"math"
	"math/rand/v2"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Hostile are names that a program could give to its classes and threads to
// break a page, a table or a terminal.
var Hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(2)>`, `'); alert(3); //`,
	"bell\a and \x1b[31mred\x1b[0m and nul\x00", "line\nbreak\r\n", "bad utf-8 \xff\xfe", "\u202eright to left",
	`</svg></style></title><script>alert(4)</script>`, `{{.JVM}} ${x} %s`, "",
}

const (
	start = units.MonoNs(5_000_000_000)
	end   = units.MonoNs(17_000_000_000)
)

// Writer builds a source by hand.
type Writer struct {
	Src   summary.Source
	chunk session.Chunk
	next  uint64
	per   map[uint32]*session.ClassCounts
}

// NewWriter makes a source of a session of 12 s without events.
func NewWriter() *Writer {
	w := &Writer{per: map[uint32]*session.ClassCounts{}}
	w.Src.Manifest = store.Manifest{
		Session: "host-4711-1700000000", StartNs: start, EndNs: end, DurationNs: units.Ns(end - start),
		WallUnixNs: 1_700_000_000_000_000_000, Ended: store.EndedExit, Metrics: []string{"wall", "cpu"},
		JVM: store.JVM{
			PID: 4711, Host: "host", Version: "17.0.15+6", Name: "OpenJDK 64-Bit Server VM", MainClass: "com.acme.render.Main",
			GC: "G1", CPUs: 4, AgentVersion: "1.0", Clock: "tsc", CPUClock: "user page",
		},
		NotAvailable: map[string]string{"instructions": "no hardware counters on this machine"},
	}
	w.Src.Executions = func(_ store.Columns, f func(int, *session.Chunk) error) error { return f(0, &w.chunk) }
	w.Src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) {
		var out []session.ClassCounts
		for _, c := range w.Src.Classes {
			if n := w.per[c.ID]; n != nil {
				out = append(out, *n)
			}
		}
		return out, session.ClassCounts{}, nil
	}
	return w
}

// Class adds a class with so many tasks created and never executed.
func (w *Writer) Class(name string, kinds units.Kinds, created, never uint64) uint32 {
	id := uint32(len(w.Src.Classes) + 1)
	c := session.Class{ID: id, Name: name, Kinds: kinds}
	w.Src.Classes = append(w.Src.Classes, c)
	w.per[id] = &session.ClassCounts{Class: &c, Created: created, NeverExecuted: never}
	return id
}

// Thread adds a thread.
func (w *Writer) Thread(name, kind string, cpu units.Ns) uint32 {
	id := uint32(len(w.Src.Threads) + 1)
	w.Src.Threads = append(w.Src.Threads, session.Thread{
		ID: id, JavaID: int64(id) + 20, Name: name, Kind: kind, CPU: cpu, Class: "java.lang.Thread",
	})
	return id
}

// Execution is an execution to add; Start counts from the session's start. A
// Wall of units.NotMeasured is an execution that was still running.
type Execution struct {
	Class, Thread                uint32
	Start                        units.MonoNs
	Wall, CPU, SelfWall, SelfCPU units.Ns
	Depth                        uint16
	Flags                        wire.ExecutionFlags
}

// Add adds an execution.
func (w *Writer) Add(e Execution) {
	w.next++
	c := &w.chunk
	outer := uint64(0)
	if e.Depth > 0 {
		outer = w.next + 1
	}
	stop := units.MonoNs(0)
	if e.Wall.Measured() {
		stop = start + e.Start + units.MonoNs(e.Wall)
	}
	c.TaskID, c.OuterTaskID = append(c.TaskID, w.next), append(c.OuterTaskID, outer)
	c.Class, c.Thread = append(c.Class, e.Class), append(c.Thread, e.Thread)
	c.Depth, c.Flags = append(c.Depth, e.Depth), append(c.Flags, uint16(e.Flags))
	c.StartNs, c.EndNs = append(c.StartNs, start+e.Start), append(c.EndNs, stop)
	c.WallNs, c.CPUNs = append(c.WallNs, e.Wall), append(c.CPUNs, e.CPU)
	c.SelfWallNs, c.SelfCPUNs = append(c.SelfWallNs, e.SelfWall), append(c.SelfCPUNs, e.SelfCPU)
}

// Pause adds a collection pause.
func (w *Writer) Pause(at units.MonoNs, long units.Ns) {
	w.Src.Pauses = append(w.Src.Pauses, session.Pause{StartNs: start + at, EndNs: start + at + units.MonoNs(long)})
}

// Program is a session of a made-up renderer: a pool of four threads, fine and
// coarse tasks, wrappers, pauses and a few losses.
func Program() summary.Source {
	w := NewWriter()
	rng := rand.New(rand.NewPCG(7, 11))
	tile := w.Class("com.acme.render.TileRenderer$RenderTask", units.KindCallable, 420, 20)
	ray := w.Class("com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", units.KindRunnable|units.KindHidden, 9_000, 0)
	future := w.Class("java.util.concurrent.FutureTask", units.KindRunnable|units.KindJDK, 420, 20)
	worker := w.Class("java.util.concurrent.ThreadPoolExecutor$Worker", units.KindRunnable|units.KindJDK, 4, 0)
	thread := w.Class("java.lang.Thread", units.KindRunnable|units.KindThread|units.KindJDK, 4, 0)
	w.Class("com.acme.audit.NeverScheduledHousekeeping", units.KindRunnable, 3, 3)
	w.Thread("main", "main", 410e6)
	for i := range 4 {
		t := w.Thread("pool-1-thread-"+string(rune('1'+i)), "application", units.Ns(6e9+float64(i)*4e8))
		w.worker(rng, t, tile, ray, future)
		w.Add(Execution{Class: worker, Thread: t, Start: 30e6, Wall: 11.5e9, CPU: 6.5e9, SelfWall: 3e9, SelfCPU: 20e6, Depth: 1})
		w.Add(Execution{Class: thread, Thread: t, Start: 29e6, Wall: 11.6e9, CPU: 6.5e9, SelfWall: 1e5, SelfCPU: 8e4})
	}
	w.Add(Execution{Class: tile, Thread: 2, Start: 11.8e9, Wall: units.NotMeasured, CPU: units.NotMeasured,
		SelfWall: units.NotMeasured, SelfCPU: units.NotMeasured, Depth: 3, Flags: wire.Running})
	w.Src.Threads = append(w.Src.Threads,
		session.Thread{OSID: 4713, Name: "GC Thread#0", Kind: "gc", CPU: 380e6},
		session.Thread{OSID: 4720, Name: "C2 CompilerThre", Kind: "compiler", CPU: 1.9e9},
		session.Thread{OSID: 4721, Name: "VM Thread", Kind: "vm", CPU: 55e6})
	for i := range 46 {
		w.Pause(units.MonoNs(100e6+float64(i)*250e6), units.Ns(3e6+9e6*rng.Float64()*rng.Float64()))
	}
	w.Src.Manifest.Lost = store.Lost{Events: 120, Batches: 1, Reported: 20, InGaps: 100, ByReason: map[string]uint64{"ring full": 20}}
	w.Src.Manifest.Refusals = []store.Refusal{{Reason: "class file version not known", Count: 2, Sample: "com.acme.gen.Proxy$7"}}
	return w.Src
}

// worker fills one thread of the pool with tiles, each inside a FutureTask and
// with rays inside.
func (w *Writer) worker(rng *rand.Rand, t, tile, ray, future uint32) {
	at := 40e6
	for range 100 {
		wall := 4e6 * math.Exp(1.1*rng.NormFloat64())
		inner := 0.0
		for range 22 {
			r := 1500 * math.Exp(0.8*rng.NormFloat64())
			w.Add(Execution{Class: ray, Thread: t, Start: units.MonoNs(at + 1000 + inner), Wall: units.Ns(r), CPU: units.Ns(0.95 * r),
				SelfWall: units.Ns(r), SelfCPU: units.Ns(0.95 * r), Depth: 4})
			inner += r
		}
		wall += inner
		var flags wire.ExecutionFlags
		if rng.IntN(50) == 0 {
			flags = wire.Threw
		}
		w.Add(Execution{Class: tile, Thread: t, Start: units.MonoNs(at + 500), Wall: units.Ns(wall), CPU: units.Ns(0.9 * wall),
			SelfWall: units.Ns(wall - inner), SelfCPU: units.Ns(0.9*wall - 0.95*inner), Depth: 3, Flags: flags})
		w.Add(Execution{Class: future, Thread: t, Start: units.MonoNs(at), Wall: units.Ns(wall + 900), CPU: units.Ns(0.9*wall + 850),
			SelfWall: 900, SelfCPU: 850, Depth: 2})
		at += wall + 2e6*rng.ExpFloat64()*20
		if at > 11e9 {
			return
		}
	}
}
