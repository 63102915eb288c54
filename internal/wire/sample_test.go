package wire

import (
	"math/rand/v2"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// The numbers of the columns, for ever.
const (
	colTask     = 1
	colOuter    = 2
	colClass    = 3
	colThread   = 4
	colFlags    = 5
	colStart    = 6
	colWall     = 7
	colCPU      = 8
	colChildCPU = 11
	colSite     = 12
	colExecutor = 14
)

// pool makes n executions as a thread pool would: tasks of some microseconds
// one after the other, batches of one thread after another, as rings are drained.
func pool(n int, rng *rand.Rand) []Execution {
	x := make([]Execution, n)
	now := [4]uint64{1e15, 1e15 + 1000, 1e15 + 2000, 1e15 + 3000}
	task := uint64(100_000)
	for i := range x {
		th := i / 500 % 4
		wall := uint64(rng.ExpFloat64()*30_000) + 200 // 10 us at 3 GHz
		start := now[th] + uint64(rng.ExpFloat64()*1500) + 60
		now[th] = start + wall
		task += uint64(rng.IntN(3)) + 1
		x[i] = Execution{
			TaskID: task, OuterTaskID: uint64(th) + 1, Class: 3 + uint32(rng.IntN(2)),
			Thread: uint32(th) + 10, Depth: 1, Start: units.Ticks(start), End: units.Ticks(start + wall),
			CPU: units.Ns(float64(wall)/3) + units.Ns(rng.IntN(30)),
		}
		if rng.IntN(50) == 0 { // was off its CPU for a while
			x[i].End += 3_000_000
			now[th] += 3_000_000
		}
	}
	return x
}

// forkJoin makes the nested executions of a recursive fork/join computation on
// one thread: end order is post-order.
func forkJoin(n int) []Execution {
	var x []Execution
	clock, task := uint64(1e15), uint64(1)
	var run func(level int, outer uint64)
	run = func(level int, outer uint64) {
		task++
		e := Execution{TaskID: task, OuterTaskID: outer, Class: 7, Thread: 12, Depth: uint16(12 - level), Start: units.Ticks(clock)}
		clock += 40
		from := len(x)
		for i := 0; i < 2 && level > 0; i++ {
			run(level-1, e.TaskID)
			clock += 25
		}
		for _, c := range x[from:] {
			if c.OuterTaskID == e.TaskID {
				e.ChildTicks += c.End - c.Start
				e.ChildCPU += c.CPU
			}
		}
		clock += 50
		e.End = units.Ticks(clock)
		e.CPU = units.Ns(float64(e.End-e.Start) / 3)
		x = append(x, e)
	}
	for len(x) < n {
		run(12, 0)
	}
	return x[:n]
}

func created(x []Execution) []Creation {
	c := make([]Creation, len(x))
	for i, e := range x {
		c[i] = Creation{TaskID: e.TaskID, OuterTaskID: e.OuterTaskID, Class: e.Class, Thread: 1, At: e.Start - 5000}
	}
	return c
}

// full has every field set to something.
func full() *Batch {
	return &Batch{
		Version: Version, Session: "host-42.a_b", Process: "42-1f-a0", Seq: 7, Clock: ClockPair{Ticks: 1 << 60, Mono: 123456789},
		Hello: &Hello{PID: 42, Host: "host", JVMVersion: "25.0.3", JVMName: "OpenJDK", JavaHome: "/jdk", MainClass: "Main",
			GC: "G1", CPUs: 2, AgentVersion: "1", ClockName: "tsc", CPUClock: "user page", WallUnixNs: 1.7e18,
			StartClock: ClockPair{Ticks: 9, Mono: -1}, Metrics: []string{"wall", "cpu"},
			NotAvailable: map[string]string{"instructions": "no counters", "alloc": "not measured"}, Detail: "auto"},
		Classes: []Class{{ID: 1, Name: "com.acme.Job$1", Kinds: units.KindRunnable | units.KindHidden, Loader: "app"}, {ID: 1<<32 - 1}},
		Threads: []Thread{{ID: 2, JavaID: 31, OSID: 4711, Name: "wörker", Group: "main", Class: "java.lang.Thread", Daemon: true, Virtual: true, Start: 5, End: 6, CPU: units.NotMeasured,
			Counted: true, Executions: 300, Creations: 20, Lost: 1}},
		OS:       []OSThread{{OSID: 9, Name: "GC Thread#0", CPU: 77, Run: units.NotMeasured}},
		Pauses:   []Pause{{Start: 10, End: 20}},
		Refusals: []Refusal{{Reason: "jsr", Count: 3, Sample: "a.B"}},
		Totals: Totals{Executions: 5, Creations: 4, Classes: 3, Lost: []Loss{{Reason: "ring full", Events: 2}}, LostThreads: 6,
			VirtualExecutions: 3, VirtualCreations: 2, VirtualLost: 1, LostByThread: []ThreadLoss{{Thread: 2, Events: 1}, {Events: 1}}},
		Last: true, ExitNote: "exit 0",
		Executions: []Execution{
			{TaskID: 5, OuterTaskID: 4, Class: 1, Thread: 2, Depth: 1, Flags: Threw, Start: 1000, End: 4000, CPU: 990, ChildTicks: 3, ChildCPU: 1},
			{TaskID: 6, OuterTaskID: 0, Class: 1, Thread: 2, Flags: Running, Start: 5000, End: NoEnd, CPU: units.NotMeasured, ChildCPU: units.NotMeasured},
		},
		Creations: []Creation{{TaskID: 5, OuterTaskID: 1, Class: 1, Thread: 2, Flags: Failed, At: 900}},
		Summaries: []Summary{oneSummary(), {Class: 1<<32 - 1, Thread: 3, From: 9, To: 9, Creations: 1 << 40, Failed: 2, Withdrawn: 1}},
	}
}

// oneSummary has every field set to something.
func oneSummary() Summary {
	return Summary{
		Class: 1, Thread: 2, Flags: SummaryVirtual, From: 1000, To: 5000,
		Executions: 300, First: 299, Threw: 3, Cut: 1, CreationUnseen: 1, Creations: 5, Failed: 4, Withdrawn: 2,
		Measures: []Measure{
			{Metric: MetricWall, Count: 300, Sum: 45000, Min: 100, Max: 1 << 40,
				Buckets: []histogram.Bucket{{Index: 0, Count: 1}, {Index: 100, Count: 298}, {Index: histogram.Buckets - 1, Count: 1}}},
			{Metric: MetricSelfCPU, Count: 1, Sum: 7, Min: 7, Max: 7, Buckets: []histogram.Bucket{{Index: 7, Count: 1}}},
		},
	}
}
