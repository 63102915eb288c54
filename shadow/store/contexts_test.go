package store

import (
	"reflect"
	"testing"

	"stackagent/internal/units"
)

// handContexts adds rows of calling contexts, one with no frames among them.
func handContexts(p *Part, i int) {
	id := uint32(i)
	p.Frames = []Frame{{ID: id, Class: "a.Main", Method: "go", File: "Main.java", Line: int32(i)}, {ID: 100 + id}}
	p.Contexts = []Context{{ID: id, Kind: ContextExecution, Class: 1, Frames: []uint32{100 + id, 0, id}}, {ID: 100 + id, Kind: ContextCreation, Cut: true}}
	p.ContextSums = []ContextSum{{ID: id, Count: 3, SelfWallNs: 7, Measured: 2, SelfCPUNs: 5}, {ID: id}}
	handVirtual(p, i)
	handWaits(p, i)
	handMonitors(p, i)
}

// handWaits adds a wait of a virtual thread, one of which little is known, and a sum.
func handWaits(p *Part, i int) {
	ready := units.Ns(3 + i)
	p.Blockers = []Blocker{{ID: uint32(i), Class: "a.Lock"}, {ID: 100 + uint32(i), Class: "a.Condition", Lock: "a.Lock"}}
	p.Waits = []Wait{
		{Flags: 2, Kind: "park", Blocker: uint32(i), Thread: 4, StartNs: 10, EndNs: 90, ReadyNs: &ready, Object: 5, Lock: 6, Waker: 7, Holder: 8, Within: 9, Site: 1 << 17, Context: 11},
		{Kind: "monitor", Thread: 4, StartNs: 100, EndNs: 100},
	}
	p.WaitSums = []WaitSum{{Thread: 4, Kind: "park", Flags: 1, Blocker: uint32(i), Within: 3, FromNs: 1, ToNs: 9, Waits: 1 << 40, WaitedNs: 7, MaxNs: 5}}
}

// handMonitors adds a monitor that is read, one that is not, and values.
func handMonitors(p *Part, i int) {
	id := uint32(i)
	p.InsideMonitors = []InsideMonitor{
		{ID: id, Name: "app.calls{method=\"a.B.c\"}", Layer: "application", Unit: "ns", Counter: true, Source: "calls:a.B#c"},
		{ID: 100 + id, Name: "app.field.a.B.d", Layer: "application", Source: "a.B#d", Why: "the class has no such field"},
	}
	p.TaskTraces = []TaskTrace{{TaskID: uint64(i), Kind: TraceSubmission, AtNs: int64(i), TraceID: "0af7651916cd43dd8448eb211c80319c", SpanID: "b7ad6b7169203331"}}
	p.InsideSamples = []InsideSample{{AtNs: int64(i), Value: 2}, {Monitor: id, AtNs: int64(i), Value: -0.1}, {Monitor: id, AtNs: int64(i + 1), Value: 1 << 60}}
}

// handVirtual adds a virtual thread and a group of them whose waiting was not measured.
func handVirtual(p *Part, i int) {
	ready := units.Ns(40 + i)
	p.VirtualThreads = []VirtualThread{
		{Thread: uint32(i), Class: 2, Alive: i%2 == 0, AtNs: int64(1000 * i), Threads: 1, Mounts: 3, Changes: 1, First: 4, Last: 5, Pins: 6,
			PinnedNs: 7, AwayNs: 100, ReadyNs: &ready, MostMounts: 3, MostPinnedNs: 7, MostAwayNs: 100, MostReadyNs: ready},
		{Class: 2, AtNs: int64(1000 * i), Threads: 1 << 40, Mounts: 1 << 41, MostMounts: 9},
	}
}

// Lists of frames survive the writing, and the merging of parts.
func TestContextRows(t *testing.T) {
	w := openWriter(t, t.TempDir())
	trickle(t, w, 1, 9)
	var want Part
	for i := 1; i <= 9; i++ {
		var p Part
		handContexts(&p, i)
		want.Frames, want.Contexts, want.ContextSums = append(want.Frames, p.Frames...), append(want.Contexts, p.Contexts...), append(want.ContextSums, p.ContextSums...)
		want.VirtualThreads = append(want.VirtualThreads, p.VirtualThreads...)
		want.Waits, want.WaitSums, want.Blockers = append(want.Waits, p.Waits...), append(want.WaitSums, p.WaitSums...), append(want.Blockers, p.Blockers...)
		want.TaskTraces = append(want.TaskTraces, p.TaskTraces...)
		want.InsideMonitors, want.InsideSamples = append(want.InsideMonitors, p.InsideMonitors...), append(want.InsideSamples, p.InsideSamples...)
	}
	for _, when := range []string{"written", "merged"} {
		f, err := OpenFolder(w.Dir())
		if err != nil {
			t.Fatal(err)
		}
		var got Part
		f.ReadFrames(func(x *Frame) { got.Frames = append(got.Frames, *x) })
		f.ReadContexts(func(x *Context) {
			if len(x.Frames) == 0 {
				x.Frames = nil
			}
			got.Contexts = append(got.Contexts, *x)
		})
		f.ReadContextSums(func(x *ContextSum) { got.ContextSums = append(got.ContextSums, *x) })
		f.ReadVirtualThreads(func(x *VirtualThread) { got.VirtualThreads = append(got.VirtualThreads, *x) })
		f.ReadWaits(func(x *Wait) { got.Waits = append(got.Waits, *x) })
		f.ReadWaitSums(func(x *WaitSum) { got.WaitSums = append(got.WaitSums, *x) })
		f.ReadBlockers(func(x *Blocker) { got.Blockers = append(got.Blockers, *x) })
		f.ReadInsideMonitors(func(x *InsideMonitor) { got.InsideMonitors = append(got.InsideMonitors, *x) })
		f.ReadTaskTraces(func(x *TaskTrace) { got.TaskTraces = append(got.TaskTraces, *x) })
		f.ReadInsideSamples(func(x *InsideSample) { got.InsideSamples = append(got.InsideSamples, *x) })
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %+v, want %+v", when, got, want)
		}
		mergeAll(t, w)
	}
}
