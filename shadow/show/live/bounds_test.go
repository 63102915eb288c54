package live

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// mostMemory is what the live view of one JVM may take, whatever the JVM does: docs/live.md says so.
const mostMemory = 32 << 20

// A JVM with more of everything than there is room for.
func TestMemoryIsBounded(t *testing.T) {
	p := newProgram(t)
	before := heap()
	long := strings.Repeat("n", 2*maxName)
	for round := range 30 {
		b := p.batch()
		at := float64(round + 1)
		for i := range 2000 {
			id := uint32(100 + round*2000 + i)
			b.Classes = append(b.Classes, wire.Class{ID: id, Name: fmt.Sprintf("com.acme.Job%d%s", id, long), Kinds: units.KindRunnable})
			b.Threads = append(b.Threads, wire.Thread{ID: id, JavaID: int64(id), OSID: int32(id), Name: fmt.Sprintf("thread-%d%s", id, long), Group: "main", Executor: id})
			b.OS = append(b.OS, wire.OSThread{OSID: int32(id), Name: "thread", CPU: units.Ns(id)})
			b.Executors = append(b.Executors, wire.Executor{ID: id, Class: "Pool" + long, MadeIn: "a" + long, File: "b" + long, Line: int32(id)})
			b.Sites = append(b.Sites, wire.Site{ID: id, Class: "c" + long, Method: "d" + long, File: "e" + long, Calls: "f" + long, Function: "g" + long, Line: int32(id)})
			b.Creations = append(b.Creations, wire.Creation{TaskID: uint64(id), Class: workerClass, Site: id})
			for k := range 3 {
				task := p.next()
				b.Submissions = append(b.Submissions, wire.Submission{TaskID: task, Class: id, Thread: id, Executor: id, Site: id, At: tick(at - 0.5)})
				if k > 0 {
					wall := float64(int(1)<<(i%30)) / 1e9 // of all lengths
					b.Executions = append(b.Executions, wire.Execution{TaskID: p.next(), Class: id, Thread: id, Start: tick(at - 0.4 - wall), End: tick(at - 0.4), Submitted: tick(at - 0.45 - wall)})
				}
			}
		}
		p.send(at)
	}
	grown := heap() - before
	v, j := p.view(), p.live.jvm("s")
	if grown > mostMemory {
		t.Errorf("the live view of one JVM takes %d KiB, the limit is %d", grown>>10, mostMemory>>10)
	}
	t.Logf("%d KiB", grown>>10)
	if len(j.classFlows) != maxClasses || len(j.executorFlows) > maxExecutors+2 || len(j.threads) > maxThreads || len(j.pending.slots) > maxPending || len(j.early) > maxPending {
		t.Errorf("%d classes, %d executors, %d threads, %d slots, %d early", len(j.classFlows), len(j.executorFlows), len(j.threads), len(j.pending.slots), len(j.early))
	}
	if last := v.Classes[len(v.Classes)-1]; last.Name != Others || last.Flow.Finished == 0 {
		t.Errorf("the last class: %+v", last)
	}
	if v.Totals.Submitted != 30*2000*3 || v.Totals.Finished != 30*2000*2 {
		t.Errorf("totals: %+v", v.Totals)
	}
	var b bytes.Buffer
	p.live.WriteMetrics(&b, nil)
	if n := bytes.Count(b.Bytes(), []byte("\n")); n > 1500 {
		t.Errorf("%d lines of metrics", n)
	}
	runtime.KeepAlive(p)
}

// The shadow as a whole.
func TestManyJVMs(t *testing.T) {
	l := New(Options{})
	for i := range maxJVMs + 10 {
		folder := fmt.Sprint("s", i)
		l.Begin(folder, &store.Manifest{Session: folder}, nil)
		l.Progress(ingest.Progress{Session: folder, Folder: folder, Ended: store.EndedRunning})
	}
	f := l.Fleet()
	if len(f.JVMs) != shownJVMs || f.More != maxJVMs+10-shownJVMs || len(l.jvms) != maxJVMs {
		t.Errorf("%d rows, %d more, %d JVMs", len(f.JVMs), f.More, len(l.jvms))
	}
	// One that has ended makes room.
	l.Progress(ingest.Progress{Session: "s5", Folder: "s5", Ended: store.EndedExit})
	l.Begin("new", &store.Manifest{Session: "new"}, nil)
	if l.JVM("new") == nil || l.JVM("s5") != nil || len(l.jvms) != maxJVMs {
		t.Error("a JVM that has ended keeps a new one out")
	}
	var b bytes.Buffer
	l.WriteMetrics(&b, nil)
	if n := bytes.Count(b.Bytes(), []byte("stackagent_jvm_up{")); n != metricJVMs {
		t.Errorf("%d JVMs have metrics", n)
	}
}

// The budgets of all JVMs: who comes too late has no rows of its own.
func TestBudget(t *testing.T) {
	p := newProgram(t)
	p.live.flows.left.Store(3)
	p.live.slots.left.Store(3)
	b := p.batch()
	for i := range 10 {
		id := uint32(50 + i)
		b.Classes = append(b.Classes, wire.Class{ID: id, Name: fmt.Sprint("J", i), Kinds: units.KindRunnable})
		b.Submissions = append(b.Submissions, wire.Submission{TaskID: p.next(), Class: id, Thread: mainThread, Executor: id, At: tick(0.5)})
	}
	p.send(1)
	v := p.view()
	if *v.Totals.Queued != 10 || v.Totals.Submitted != 10 || len(v.Queued) != 3 || len(v.Classes)+len(v.Executors) > 3+3 {
		t.Errorf("%v wait, %d shown, %d classes, %d executors", *v.Totals.Queued, len(v.Queued), len(v.Classes), len(v.Executors))
	}
	p.live.Progress(ingest.Progress{Session: "s", Folder: "s", Ended: store.EndedExit})
	p.now = p.now.Add(2 * keepEnded)
	p.live.Fleet()
	if f, s := p.live.flows.left.Load(), p.live.slots.left.Load(); f < 3 || s != 3 {
		t.Errorf("%d flows and %d slots come back", f, s)
	}
}
