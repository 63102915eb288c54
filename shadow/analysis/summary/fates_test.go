package summary_test

import (
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestFates: the tasks never executed, by what became of them, in all and by class.
func TestFates(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Job", "com.acme.Other"})
	made := func(task uint64, class uint32, flags ...wire.SubmissionFlags) {
		b.now++
		b.part.Creations = append(b.part.Creations, store.Creation{TaskID: task, Class: class, Thread: 1, AtNs: units.MonoNs(b.now * b.unit)})
		for _, f := range flags {
			b.now++
			b.part.Submissions = append(b.part.Submissions, store.Submission{TaskID: task, Class: class, Thread: 1, Executor: 1, Site: 1,
				Flags: uint16(f), AtNs: units.MonoNs(b.now * b.unit)})
		}
	}
	made(1, 1)
	made(2, 1, 0)
	made(3, 1, 0)
	made(4, 1, 0, wire.Cancelled)
	made(5, 1, 0, wire.Rejected)
	made(6, 2, 0)
	made(7, 2)
	b.exec(7, 0, 2, 2, 1, 1, -1)
	s := b.open(true)
	sum, err := summary.Build(s, summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := granularity.Fates{NeverSubmitted: 1, NeverRun: 3, Cancelled: 1, Rejected: 1}
	if sum.Tasks.Fates == nil || *sum.Tasks.Fates != want {
		t.Errorf("fates %+v, want %+v", sum.Tasks.Fates, want)
	}
	if f := granularity.FatesOf(sum.Rows); f == nil || *f != want {
		t.Errorf("fates of the rows %+v, want %+v", f, want)
	}
	for _, r := range sum.Rows {
		want := granularity.Fates{NeverSubmitted: 1, NeverRun: 2, Cancelled: 1, Rejected: 1}
		if r.Class == "com.acme.Other" {
			want = granularity.Fates{NeverRun: 1}
		}
		if r.Fates == nil || *r.Fates != want {
			t.Errorf("%s: fates %+v, want %+v", r.Class, r.Fates, want)
		}
	}
	// Without submissions nothing is known.
	if sum, err = summary.Build(b.open(false), summary.Options{}); err != nil || sum.Tasks.Fates != nil || granularity.FatesOf(sum.Rows) != nil {
		t.Errorf("without submissions fates %+v, %v", sum.Tasks.Fates, err)
	}
}
