package sched

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"stackagent/internal/units"
)

// kernelSource reports what happens in the processes that it watches, and the records that are on their way when the
// watching ends.
func (s *kernelSource) spent() (units.Ns, uint64, string) { return 0, 0, "a test" }

type kernelSource struct {
	listSource
	watched map[int]bool
	late    []event
}

func (s *kernelSource) watch(pid int) error { s.watched[pid] = true; return nil }

func (s *kernelSource) unwatch(pid int) {
	delete(s.watched, pid)
	s.events, s.late = append(s.events, s.late...), nil
}

func (s *kernelSource) happens(all ...event) {
	for _, e := range all {
		if s.watched[int(e.pid)] {
			s.events = append(s.events, e)
		}
	}
}

// turns are n switches of a process's thread to a CPU and away from it, one each step, from at on.
func turns(pid int32, n int, at, step units.MonoNs) (all []event, end units.MonoNs) {
	for i := range n {
		e := event{at: at, pid: pid, tid: pid, kind: eventIn, cpu: 0, cpuTime: units.NotMeasured}
		if i%2 == 1 {
			e.kind, e.state, e.block = eventOut, Futex, true
		}
		all = append(all, e)
		at += step
	}
	return all, at
}

// A process switches so often that its session begins too late for all its slices. The record must go on, and what is
// missing in it must count as lost.
func TestBusyBeforeKeep(t *testing.T) {
	for name, age := range map[string]units.MonoNs{"begun just now": units.MonoNs(10 * time.Second), "nobody kept it for long": 2 * keepPatience} {
		t.Run(name, func(t *testing.T) {
			pid := int32(os.Getpid())
			src := &kernelSource{watched: map[int]bool{int(pid): true}}
			o := &Observer{src: src, more: map[string]string{}, wakes: make(chan struct{}, 1), stop: make(chan struct{}), processes: map[int]*process{}}
			begin := now() - age
			step := age / 2 / (pendingMost + 10)
			busy, at := turns(pid, pendingMost+10, begin+1, step)
			src.late, at = turns(pid, 2, at, step)
			thread := event{kind: eventNew, at: at, pid: pid, tid: nobody}
			src.late = append(src.late, thread)
			src.happens(event{kind: eventNew, at: begin, pid: pid, tid: pid})
			src.happens(busy...)
			o.poll()
			o.poll()

			if !o.Waits(int(pid)) {
				t.Error("no process waits to be kept")
			}
			dir := t.TempDir()
			if err := o.Keep(int(pid), filepath.Join(dir, Folder)); err != nil {
				t.Fatal(err)
			}
			after := now()
			more, _ := turns(pid, 10, after, 1000)
			src.happens(more...)
			if err := o.Finish(int(pid)); err != nil {
				t.Fatal(err)
			}
			r := open(t, dir)
			if lost := r.Record().Lost; lost < pendingMost || lost > pendingMost+20 {
				t.Errorf("%d records lost, want the %d slices before the session", lost, pendingMost)
			}
			running, known, end := 0, units.Ns(0), map[uint32]units.MonoNs{}
			err := r.All(func(run []Slice) error {
				for _, s := range run {
					th := r.Record().Threads[s.Thread]
					if before, ok := end[s.Thread]; ok && before != s.From || !ok && s.From != th.First {
						t.Errorf("thread %d: a slice begins at %d, the one before ended at %d, it began at %d", th.TID, s.From, before, th.First)
					}
					end[s.Thread] = s.To
					if th.TID == pid && s.From >= after && s.State == Running {
						running++
					}
					if s.State != Unknown && s.From < begin+age/3 {
						known += units.Ns(s.To - s.From)
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if running != 5 || known != 0 {
				t.Errorf("%d stays on a CPU after Keep, want 5; %v of the forgotten time is known, want none", running, known.Duration())
			}
		})
	}
}

// Records that are on their way when the record of a process ends do not bring it back: its next session watches it again.
func TestLateRecords(t *testing.T) {
	pid := int32(os.Getpid())
	src := &kernelSource{watched: map[int]bool{}}
	o := &Observer{src: src, more: map[string]string{}, wakes: make(chan struct{}, 1), stop: make(chan struct{}), processes: map[int]*process{}}
	dir := t.TempDir()
	if err := o.Keep(int(pid), filepath.Join(dir, "first")); err != nil {
		t.Fatal(err)
	}
	src.late = []event{{kind: eventNew, at: now(), pid: pid, tid: nobody}}
	if err := o.Finish(int(pid)); err != nil {
		t.Fatal(err)
	}
	o.poll()
	if err := o.Keep(int(pid), filepath.Join(dir, "second")); err != nil {
		t.Fatal(err)
	}
	if !src.watched[int(pid)] {
		t.Error("the second session does not watch the process")
	}
}

// The processes that ended without being kept have a bounded number of slices together.
func TestEndedSlicesAreBounded(t *testing.T) {
	src := &kernelSource{watched: map[int]bool{}}
	o := &Observer{src: src, processes: map[int]*process{}}
	const each = pendingMost / 2
	all := endedSlices/each + 3
	if all > endedMost {
		t.Fatalf("%d processes do not need the bound", all)
	}
	for i := range all {
		pid := nobody + i
		p := &process{b: newBuilder(pid, 0)}
		p.b.slices = make([]Slice, each)
		o.processes[pid] = p
		o.end(pid, p)
	}
	if n := len(o.processes); n != endedSlices/each || len(o.ended) != n || o.processes[nobody+all-1] == nil {
		t.Errorf("%d processes are left and %d listed, want the latest %d", n, len(o.ended), endedSlices/each)
	}
}
