package sched

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"stackagent/internal/units"
)

// listSource reports what the test puts into it.
type listSource struct{ events []event }

func (s *listSource) spent() (units.Ns, uint64, string) { return 0, 0, "a test" }

func (s *listSource) name() string                    { return "list" }
func (s *listSource) notAvailable() map[string]string { return map[string]string{} }
func (s *listSource) launch(start func() error) error { return start() }
func (s *listSource) watch(int) error                 { return nil }
func (s *listSource) unwatch(int)                     {}
func (s *listSource) lost(int) uint64                 { return 0 }
func (s *listSource) close()                          {}

func (s *listSource) guess(int, *live, units.MonoNs) (State, bool) { return 0, false }

func (s *listSource) poll(into []event) ([]event, units.MonoNs, error) {
	into = append(into, s.events...)
	s.events = nil
	return into, now(), nil
}

// nobody is a number that no process has, as are those after it.
const nobody = 1 << 30

// An observer that runs for weeks remembers the latest ended processes, and those that run.
func TestProcessesAreForgotten(t *testing.T) {
	src, self := &listSource{}, os.Getpid()
	o := &Observer{src: src, more: map[string]string{}, stop: make(chan struct{}), processes: map[int]*process{}}
	src.events = append(src.events, event{kind: eventNew, at: now(), pid: int32(self), tid: int32(self)})
	dir := t.TempDir()
	const more = 50
	for i := range finishedMost + more {
		pid := nobody + i
		src.events = append(src.events, event{kind: eventNew, at: now(), pid: int32(pid), tid: int32(pid)})
		o.poll()
		if err := o.Keep(pid, filepath.Join(dir, strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
		src.events = append(src.events, event{kind: eventEnd, at: now(), pid: int32(pid), tid: int32(pid)})
		o.poll()
	}
	if n := len(o.processes); n != finishedMost+1 {
		t.Errorf("%d processes are remembered, want the latest %d and the one that runs", n, finishedMost)
	}
	if o.processes[self] == nil || o.processes[nobody] != nil || o.processes[nobody+finishedMost+more-1] == nil {
		t.Error("those that are remembered are not the one that runs and the latest")
	}
}

// A process whose end was not reported is found to have ended.
func TestLostEnd(t *testing.T) {
	src, self := &listSource{}, os.Getpid()
	o := &Observer{src: src, more: map[string]string{}, stop: make(chan struct{}), processes: map[int]*process{}}
	at := now() - idle
	for _, pid := range []int{self, nobody} {
		src.events = append(src.events, event{kind: eventNew, at: at, pid: int32(pid), tid: int32(pid)})
	}
	o.poll()
	if o.processes[nobody] != nil || o.processes[self] == nil {
		t.Errorf("observed are %v, want only the process that runs", o.processes)
	}
}
