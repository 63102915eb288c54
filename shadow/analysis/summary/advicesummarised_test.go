package summary_test

import (
	"slices"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// TestAdviceSummarised: of a class most of which was summarised all units are the
// evidence, what they computed, and the threads that did; however many they are,
// since they take no time to read.
func TestAdviceSummarised(t *testing.T) {
	for _, c := range []struct {
		count, each, took int64
		want              string
	}{
		// 10 ms of two workers' time, of the 400 ms of the summary and the half of a millisecond before.
		{4900, 2000, 400 * ms, "5,000 units (98 % of them summarised) with a median of 2.00 µs of work. The workers spend 99 % of their time on overhead, not on your code; an estimated 666 µs for"},
		{60_000_000, 1, 20_000 * ms, "60.0 M units (>99.9 % of them summarised) with a median of 1 ns of work. The workers spend 64 % of their time on overhead, not on your code; an estimated 7.20 s for"},
	} {
		sum, err := summary.Build(mostlySummarised(t, c.count, c.each, c.took), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(sum.Findings, func(f advice.Finding) bool { return f.Rule == "fine-grained" })
		if i < 0 {
			t.Fatalf("%d: %+v", c.count, sum.Findings)
		}
		want := "The tasks of com.acme.Tiny are all fine-grained, submitted at com.acme.Main.run:7: " + c.want
		if !strings.HasPrefix(sum.Findings[i].Text, want) {
			t.Errorf("%q, want %q", sum.Findings[i].Text, want)
		}
	}
}

// TestAdviceAtOnce: an executor that runs what it is given before it returns is a
// call; to give it less often saves nothing. What a worker runs that another
// thread, or another task, submitted went through a queue.
func TestAdviceAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		by    uint32 // the thread that submits
		outer uint64 // the task that does
		fine  bool
	}{
		"by the task around it":          {2, 9, false},
		"outside of tasks":               {1, 0, true},
		"by a task on another thread":    {3, 10, true},
		"by another task on its thread":  {2, 11, true},
		"by the same, on another thread": {3, 9, true},
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
		summariseFirst(b, 4900, 2000)
		sum, err := summary.Build(b.open(true), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(sum.Findings, func(f advice.Finding) bool { return f.Rule == "fine-grained" }); got != c.fine {
			t.Errorf("submitted %s: fine-grained %v", name, got)
		}
	}
}

// mostlySummarised is a session of 100 executions of 2 µs on one thread, and of count
// summarised ones of each nanoseconds on another, which took so long.
func mostlySummarised(t *testing.T, count, each, took int64) *session.Session {
	b := newSessionBuilder(t, []string{"", "com.acme.Tiny"})
	b.unit = 1000 // µs
	for i := range uint64(100) {
		b.exec(1+i, 0, 1, 2, 2, 2, 50, 1)
		b.now += 3
	}
	summariseFirst(b, count, each)
	b.part.Summaries[0].ToNs = units.MonoNs(100*ms + took)
	return b.open(true)
}

// summariseFirst adds count summarised executions of the first class, of each
// nanoseconds, on a thread of their own in 400 ms.
func summariseFirst(b *sessionBuilder, count, each int64) {
	id := store.SummaryID(1, 0)
	b.part.Summaries = []store.Summary{{ID: id, Class: 1, Thread: 3, FromNs: 100 * ms, ToNs: 500 * ms, Executions: uint64(count), First: uint64(count)}}
	low, high := histogram.Bounds(histogram.Index(uint64(each)))
	for _, metric := range []string{"self_wall", "self_cpu"} {
		b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: metric, Count: uint64(count), SumNs: count * each, MinNs: each, MaxNs: each})
		b.part.Buckets = append(b.part.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: int64(low), HighestNs: int64(high), Count: uint64(count)})
	}
}
