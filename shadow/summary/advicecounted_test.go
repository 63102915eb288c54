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
	summariseTiny(b)
	// 10 ms of two workers' time, of the 400 ms of the summary and the half of a millisecond before.
	const want = "The tasks of com.acme.Tiny are all fine-grained, handed over at com.acme.Main.run:7: 5,000 units (98 % of them summarised) with a median of 2.00 µs of work, " +
		"and while any waits or runs, its workers compute in units 1.2 % of the time."
	if got := fineText(t, b); !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAdviceAtOnce: an executor that runs what it is given before it returns is a
// call; to give it less often saves nothing. What a worker runs that another
// thread, or another task, handed over went through a queue.
func TestAdviceAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		by    uint32 // the thread that hands over
		outer uint64 // the task that does
		fine  bool
	}{
		"by the caller":    {2, 9, false},
		"from outside":     {1, 0, true},
		"by another":       {3, 10, true},
		"by another of it": {2, 11, true},
	} {
		b := newSessionBuilder(t, []string{"", "com.acme.Tiny", "com.acme.Caller"})
		b.unit = 1000 // µs
		for i := range uint64(100) {
			b.exec(20+i, 9, 1, 2, 2, 2, 0, 1)
			s := &b.part.Submissions[len(b.part.Submissions)-1]
			s.Thread, s.OuterTaskID = c.by, c.outer
			b.now += 3
		}
		b.now = 10
		b.exec(9, 0, 2, 2, 1000, 800, -1)
		summariseTiny(b)
		if got := fineText(t, b); (got != "") != c.fine {
			t.Errorf("handed over %s: %q", name, got)
		}
	}
}

// summariseTiny adds 4900 executions of the first class, of 2 µs each, counted on another thread.
func summariseTiny(b *sessionBuilder) {
	id := store.SummaryID(1, 0)
	b.part.Summaries = []store.Summary{{ID: id, Class: 1, Thread: 3, FromNs: 100 * ms, ToNs: 500 * ms, Executions: 4900, First: 4900}}
	low, high := loglinear.Bounds(loglinear.Index(2000))
	for _, metric := range []string{"self_wall", "self_cpu"} {
		b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: metric, Count: 4900, SumNs: 4900 * 2000, MinNs: 2000, MaxNs: 2000})
		b.part.Buckets = append(b.part.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: int64(low), HighestNs: int64(high), Count: 4900})
	}
}

// fineText is what is said of fine-grained tasks, if anything.
func fineText(t *testing.T, b *sessionBuilder) string {
	t.Helper()
	sum, err := summary.Build(b.open(true), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sum.Findings, func(f granularity.Finding) bool { return f.Name == "fine-grained" })
	if i < 0 {
		return ""
	}
	return sum.Findings[i].Text
}
