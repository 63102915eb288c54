package sched

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
)

// A part that cannot be written is reported at once and once, and so is the first that
// can be again; the record itself says what is missing.
func TestUnsavedIsReported(t *testing.T) {
	pid := os.Getpid()
	src := &scripted{at: units.MonoNs(time.Hour)}
	o := &Observer{src: src, processes: map[int]*process{}}
	var reports []string
	o.Failed(func(of int, err error) {
		if of != pid {
			t.Errorf("report of process %d", of)
		}
		text := "works"
		if err != nil {
			text = err.Error()
		}
		reports = append(reports, text)
	})
	src.events = []event{{at: src.at - 1, pid: int32(pid), tid: int32(pid), kind: eventNew, cpuTime: units.NotMeasured}}
	o.poll()
	dir := filepath.Join(t.TempDir(), Folder)
	w, err := Create(dir, Record{Source: src.name(), PID: pid})
	if err != nil {
		t.Fatal(err)
	}
	o.processes[pid].writer = w
	part := func() {
		src.at += partMost
		o.poll()
	}
	inWay := filepath.Join(dir, partName(slicesPrefix, 1))
	part()
	if err := os.MkdirAll(filepath.Join(inWay, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	part()
	if len(reports) != 1 || !strings.Contains(reports[0], "writing the scheduling record") {
		t.Fatalf("reports %q", reports)
	}
	part()
	if err := os.RemoveAll(inWay); err != nil {
		t.Fatal(err)
	}
	part()
	if len(reports) != 2 || reports[1] != "works" {
		t.Errorf("reports %q", reports)
	}
	if r := open(t, filepath.Dir(dir)); !strings.HasPrefix(r.Record().NotAvailable[Unsaved], "2 parts could not be written") {
		t.Errorf("not available: %v", r.Record().NotAvailable)
	}
	o.end(pid, o.processes[pid])
	r := open(t, filepath.Dir(dir))
	if !r.Complete() || r.Record().Account != nil || r.Record().NotAvailable[Unsaved] == "" || o.processes[pid].err == nil {
		t.Errorf("complete %v, account %v, not available %v, error %v", r.Complete(), r.Record().Account, r.Record().NotAvailable, o.processes[pid].err)
	}
}
