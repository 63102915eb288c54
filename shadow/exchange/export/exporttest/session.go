// Package exporttest makes up a small session of known numbers for tests of exports.
package exporttest

import (
	"fmt"

	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// The session has two classes: Outer runs for 10 ms from 100 ms on and was queued for 5 ms; two executions of Inner begin
// with it and 5 ms later, of 2 ms each; a third, on a virtual thread, was still running at the end. It has a pause of 1 ms,
// a wait of 3 ms and 7 summarised executions of Inner, of 70 µs in all.
const (
	Outer, Inner = "com.acme.Outer", "com.acme.Outer$$Lambda -> com.acme.Outer.inner"
	Ms           = units.MonoNs(1_000_000)
	Start, End   = 50 * Ms, 200 * Ms
	WallUnixNs   = 1_700_000_000_000_000_000
)

// Traces and spans of the session of Traced: the submission of Outer is in the first, and so are Outer and the first Inner; the second Inner makes the
// second one current. The traces of the Inner that still ran are none: their ids are hostile.
var (
	Traces      = [2]string{"0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"}
	Spans       = [2]string{"b7ad6b7169203331", "00f067aa0ba902b7"}
	hostileIDs  = []string{"", "0", "\x1b[2J<script>", "zaf7651916cd43dd8448eb211c80319c", "00000000000000000000000000000000", "0af7651916cd43dd8448eb211c80319c0af7651916cd43dd"}
	runningTask = uint64(4)
)

// Write writes the session into root and gives its folder.
func Write(root string) (string, error) { return write(root, nil) }

// Traced writes the session with traces.
func Traced(root string) (string, error) {
	rows := []store.TaskTrace{
		{TaskID: 1, Kind: store.TraceSubmission, AtNs: int64(95 * Ms), TraceID: Traces[0], SpanID: Spans[0]},
		{TaskID: 3, Kind: store.TraceExecution, AtNs: int64(106 * Ms), TraceID: Traces[1], SpanID: Spans[1]},
	}
	for _, id := range hostileIDs {
		rows = append(rows, store.TaskTrace{TaskID: runningTask, Kind: store.TraceExecution, AtNs: int64(151 * Ms), TraceID: id, SpanID: Spans[0]})
	}
	rows = append(rows, store.TaskTrace{TaskID: runningTask, Kind: store.TraceExecution, AtNs: int64(151 * Ms), TraceID: Traces[0], SpanID: "\x00" + Spans[0]},
		store.TaskTrace{TaskID: runningTask, Kind: "\x1b]0;x", AtNs: int64(151 * Ms), TraceID: Traces[0], SpanID: Spans[0]})
	return write(root, rows)
}

// Labels of the session.
var Labels = label.Labels{Service: "shop", Version: "1.4", Env: "test", Instance: "shop-7", Free: map[string]string{"team": "it's a"}}

func write(root string, traces []store.TaskTrace) (string, error) {
	w, err := store.OpenWriter(root, "known", "known")
	if err != nil {
		return "", fmt.Errorf("writing a session: %w", err)
	}
	w.Manifest = store.Manifest{Session: "known", WallUnixNs: WallUnixNs, StartNs: Start, EndNs: End, DurationNs: units.Ns(End - Start), Ended: store.EndedExit,
		Metrics: []string{"wall", "cpu"}, JVM: store.JVM{PID: 4711, Version: "25", Name: "OpenJDK", MainClass: "com.acme.Main", GC: "G1", CPUs: 4},
		Labels:   Labels,
		Produced: store.Counts{Executions: 11}, Submissions: &store.RecordAccount{Produced: 1}, Waits: &store.WaitRecording{}}
	if traces != nil {
		w.Manifest.Traces = &store.RecordAccount{Produced: uint64(len(traces))}
	}
	run := func(task, outer uint64, class, thread uint32, depth uint16, at units.MonoNs, wall units.Ns) store.Execution {
		return store.Execution{TaskID: task, OuterTaskID: outer, Class: class, Thread: thread, Depth: depth, StartNs: at, EndNs: at + units.MonoNs(wall),
			WallNs: wall, CPUNs: wall / 2, SelfWallNs: wall, SelfCPUNs: wall / 2}
	}
	outer := run(1, 0, 1, 1, 0, 100*Ms, 10e6)
	outer.SubmittedNs, outer.SelfWallNs, outer.SelfCPUNs, outer.Flags = 95*Ms, 6e6, 3e6, uint16(wire.Threw)
	running := run(4, 0, 2, 3, 0, 150*Ms, 0)
	running.EndNs, running.WallNs, running.SelfWallNs, running.CPUNs, running.SelfCPUNs, running.Flags = 0, units.NotMeasured, units.NotMeasured, units.NotMeasured, units.NotMeasured, uint16(wire.Running)
	p := &store.Part{
		Range:       store.Range{From: 1, To: 1},
		Classes:     []store.Class{{ID: 1, Name: Outer, Kinds: "runnable"}, {ID: 2, Name: Inner, Kinds: "runnable+hidden"}},
		Threads:     []store.Thread{{ID: 1, JavaID: 21, OSID: 5001, Name: "worker", Group: "main"}, {ID: 2, JavaID: 1, OSID: 5000, Name: "main", Group: "main"}, {ID: 3, JavaID: 30, Name: "v", Virtual: true}},
		Executors:   []store.Executor{{ID: 1, Class: "com.acme.Pool"}},
		Sites:       []store.Site{{ID: 1, Class: "com.acme.Main", Method: "start", File: "Main.java", Line: 7}},
		Executions:  []store.Execution{run(2, 1, 2, 1, 1, 100*Ms, 2e6), run(3, 1, 2, 1, 1, 105*Ms, 2e6), outer, running},
		Submissions: []store.Submission{{TaskID: 1, Class: 1, Thread: 2, Executor: 1, Site: 1, AtNs: 95 * Ms}},
		Blockers:    []store.Blocker{{ID: 1, Class: "com.acme.Lock"}},
		Waits:       []store.Wait{{Kind: "monitor", Blocker: 1, Thread: 2, StartNs: int64(101 * Ms), EndNs: int64(104 * Ms), Waker: 1, WakerTask: 1}},
		Pauses:      []store.Pause{{StartNs: int64(120 * Ms), EndNs: int64(121 * Ms), Cause: "G1 Evacuation Pause"}},
		Summaries:   []store.Summary{{ID: 16384, Class: 2, Thread: 1, FromNs: 60 * Ms, ToNs: 70 * Ms, Executions: 7}},
		TaskTraces:  traces,
		Measures:    []store.Measure{{Summary: 16384, Metric: "wall", Count: 7, SumNs: 70_000, MinNs: 10_000, MaxNs: 10_000}},
	}
	if err := w.Commit(p); err != nil {
		return "", fmt.Errorf("writing a session: %w", err)
	}
	return w.Dir(), nil
}
