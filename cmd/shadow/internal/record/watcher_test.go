package record

import (
	"os"
	"strconv"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/proc"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

// A number that is given again is another process: what was counted in the one
// before is not its.
func TestCountedOnce(t *testing.T) {
	self := os.Getpid()
	began, err := proc.Started(self)
	if err != nil {
		t.Fatal(err)
	}
	const second = 1_000_000_000
	gone := 1 << 30 // no process has this number
	w := NewWatcher(console.Env{}, true, false)
	before, now := &Counting{pid: self, began: began - 60*second}, &Counting{pid: self, began: began}
	first, later := &Counting{pid: gone, began: 5 * second}, &Counting{pid: gone, began: 90 * second}
	w.processes = []*Counting{before, now, first, later}
	for name, c := range map[string]struct {
		session ingest.Progress
		want    *Counting
	}{
		"it lives":                      {ingest.Progress{JVM: store.JVM{PID: self}, StartNs: began + second}, now},
		"older than its process":        {ingest.Progress{JVM: store.JVM{PID: self}, StartNs: began - 30*second}, nil},
		"ended, the first of a number":  {ingest.Progress{JVM: store.JVM{PID: gone}, StartNs: 6 * second}, first},
		"ended, the second of a number": {ingest.Progress{JVM: store.JVM{PID: gone}, StartNs: 91 * second}, later},
		"another number":                {ingest.Progress{JVM: store.JVM{PID: gone - 1}, StartNs: 91 * second}, nil},
	} {
		if got := w.counts(c.session); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// A run that starts thousands of JVMs counts in those that run: of the others it
// keeps what it recorded for their sessions.
func TestProcessesAreForgotten(t *testing.T) {
	w := NewWatcher(console.Env{}, true, false)
	running := w.Watch(os.Getpid())
	for i := range 2 * keptProcesses {
		w.Watch(1<<30 + i) // no process has such a number
	}
	w.mu.Lock()
	n, known := len(w.processes), w.processes[0] == running
	w.mu.Unlock()
	if n > keptProcesses || !known {
		t.Errorf("%d processes are remembered, of them the one that runs: %v; want at most %d with it", n, known, keptProcesses)
	}
	w.End()
}

// A shadow of months remembers the latest sessions whose scheduling record it began.
func TestSwitchesAreForgotten(t *testing.T) {
	s := &Switches{kept: map[string]bool{}}
	for i := range 3 * maxKept {
		folder := strconv.Itoa(i)
		if !s.first(folder) || s.first(folder) {
			t.Fatalf("session %d is not once the first time seen", i)
		}
	}
	if len(s.kept) != maxKept || len(s.order) != maxKept {
		t.Errorf("%d sessions are remembered, %d in order; want %d", len(s.kept), len(s.order), maxKept)
	}
}
