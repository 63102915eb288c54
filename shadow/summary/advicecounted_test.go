package summary_test

import (
	"slices"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/loglinear"
	"stackagent/shadow/store"
	"stackagent/shadow/summary"
)

// TestAdviceSummarised: of a class most of which was summarised all units are the
// evidence, what they computed, and the threads that did.
func TestAdviceSummarised(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Tiny"})
	b.unit = 1000 // µs
	for i := range uint64(100) {
		b.exec(1+i, 0, 1, 2, 2, 2, 50, 1)
		b.now += 3
	}
	id := store.SummaryID(1, 0)
	b.part.Summaries = []store.Summary{{ID: id, Class: 1, Thread: 3, FromNs: 100 * ms, ToNs: 500 * ms, Executions: 4900, First: 4900}}
	low, high := loglinear.Bounds(loglinear.Index(2000))
	for _, metric := range []string{"self_wall", "self_cpu"} {
		b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: metric, Count: 4900, SumNs: 4900 * 2000, MinNs: 2000, MaxNs: 2000})
		b.part.Buckets = append(b.part.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: int64(low), HighestNs: int64(high), Count: 4900})
	}
	sum, err := summary.Build(b.open(true), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sum.Findings, func(f granularity.Finding) bool { return f.Name == "fine-grained" })
	if i < 0 {
		t.Fatalf("%+v", sum.Findings)
	}
	// 10 ms of two workers' time, of the 400 ms of the summary and the half of a millisecond before.
	const want = "The tasks of com.acme.Tiny are all fine-grained, handed over at com.acme.Main.run:7: 5,000 units (98 % of them summarised) with a median of 2.00 µs of work, " +
		"and while any waits or runs, its workers compute in units 1.2 % of the time."
	if !strings.HasPrefix(sum.Findings[i].Text, want) {
		t.Errorf("%q, want %q", sum.Findings[i].Text, want)
	}
}
