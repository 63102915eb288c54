package summary_test

import (
	"errors"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestOfTrace: a loop that serves two traces is in neither, and is counted; what it runs is in the one that was current then.
func TestOfTrace(t *testing.T) {
	ids := [2]string{strings.Repeat("a", 32), strings.Repeat("b", 32)}
	b := newSessionBuilder(t, []string{"", "com.acme.Loop", "com.acme.Job"})
	b.exec(1, 0, 1, 1, 100, 50, -1, 0) // from 11 ms to 111 ms
	for task := uint64(2); task <= 6; task++ {
		b.exec(task, 1, 2, 1, 10, 10, 0, 1)
	}
	for task, id := range map[uint64]string{2: ids[0], 3: ids[0], 4: ids[1]} {
		at := int64(b.part.Executions[task-1].StartNs)
		b.part.TaskTraces = append(b.part.TaskTraces, store.TaskTrace{TaskID: task, Kind: store.TraceSubmission, AtNs: at, TraceID: id, SpanID: "00000000000000a1"},
			store.TaskTrace{TaskID: 1, Kind: store.TraceExecution, AtNs: at, TraceID: id, SpanID: "00000000000000a1"})
	}
	s := b.open(true)
	for i, want := range []int64{2, 1} {
		sum, err := summary.Build(s, summary.Options{Filter: summary.Filter{Trace: ids[i]}, SumsAbove: 1})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Tasks.Executions != want || sum.Metrics[granularity.Wall].Sum != units.Ns(10*ms*want) || sum.Trace == nil || !sum.Trace.Any || sum.Trace.Parts != 1 || sum.Trace.All != want+1 || len(sum.Rows) != 1 || sum.FromSums {
			t.Errorf("trace %d: %+v, %+v, %d rows", i, sum.Tasks, sum.Trace, len(sum.Rows))
		}
		if len(sum.Findings) != 0 || sum.Waits != nil || sum.NotAvailable[store.NoPauses] == "" || sum.NotAvailable[store.NoCreations] == "" {
			t.Errorf("figures of the whole run: %+v", sum.NotAvailable)
		}
		for _, by := range []string{summary.BySite, summary.ByExecutor} {
			sum, err := summary.BuildByOrigin(s, summary.Options{Filter: summary.Filter{Trace: ids[i]}}, by)
			if err != nil {
				t.Fatal(err)
			}
			if len(sum.Rows) != 1 || sum.Rows[0].Executions != want || !sum.Rows[0].NoCreations || sum.Trace.Parts != 1 {
				t.Errorf("trace %d by %s: %+v", i, by, sum.Rows)
			}
		}
	}
	for class, want := range map[string]summary.Trace{"com.acme.Job": {Any: true, All: 3}, "com.acme.L*": {Any: true, All: 3, Parts: 1}, "none": {Any: true, All: 3}} {
		o := summary.Options{Filter: summary.Filter{Trace: ids[0], Class: class}}
		sum, err := summary.Build(s, o)
		if err != nil || *sum.Trace != want {
			t.Errorf("class %s: %+v, %v, want %+v", class, sum.Trace, err, want)
		}
		if sum, err = summary.BuildByOrigin(s, o, summary.ByExecutor); err != nil || *sum.Trace != want {
			t.Errorf("class %s by executor: %+v, %v, want %+v", class, sum.Trace, err, want)
		}
	}
	if _, err := summary.Build(s, summary.Options{Filter: summary.Filter{Trace: ids[0]}, Units: true}); !errors.Is(err, summary.ErrTraceUnits) {
		t.Errorf("units: %v", err)
	}
	for _, by := range []string{"", summary.BySite} {
		var err error
		if o := (summary.Options{Filter: summary.Filter{Trace: "x"}}); by == "" {
			_, err = summary.Build(s, o)
		} else {
			_, err = summary.BuildByOrigin(s, o, by)
		}
		if err == nil {
			t.Errorf("by %q: a trace id that is none", by)
		}
	}
}
