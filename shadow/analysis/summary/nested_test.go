package summary_test

import (
	"slices"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// summarise adds count summarised executions of a class, each of so many nanoseconds, of which self are its own.
func summarise(b *sessionBuilder, class uint32, count, each, self int64) {
	id := store.SummaryID(1, len(b.part.Summaries))
	b.part.Summaries = append(b.part.Summaries, store.Summary{ID: id, Class: class, Thread: 1, FromNs: 1, ToNs: 900 * ms, Executions: uint64(count), First: uint64(count)})
	for i, metric := range []string{"wall", "self_wall", "cpu", "self_cpu"} {
		n := []int64{each, self, each, self}[i]
		low, high := histogram.Bounds(histogram.Index(uint64(n)))
		b.part.Measures = append(b.part.Measures, store.Measure{Summary: id, Metric: metric, Count: uint64(count), SumNs: count * n, MinNs: n, MaxNs: n})
		b.part.Buckets = append(b.part.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: int64(low), HighestNs: int64(high), Count: uint64(count)})
	}
}

// summarisedJobs is a session of 52 jobs, each of 2 ms of its own and a part of 8 ms, which it calls. Of the first
// all is recorded, of the second its part, of the third the wrapper around it. The submissions were summarised.
// known: the agent recorded what was around the summarised executions.
func summarisedJobs(t *testing.T, known, inside bool) *session.Session {
	const job, future, part, cleaner = 1, 2, 3, 4
	b := newSessionBuilder(t, []string{"", "com.acme.Job", "java.util.concurrent.FutureTask", "com.acme.Part", "java.lang.ref.Cleanup"})
	b.exec(3, 2, part, 1, 8, 8, -1)
	b.exec(2, 1, job, 1, 10, 2, -1)
	b.exec(1, 0, future, 1, 10, 0, -1)
	b.exec(13, 12, part, 1, 8, 8, -1)
	b.exec(21, 0, future, 1, 10, 0, -1)
	summarise(b, job, 51, 10*ms, 2*ms)
	summarise(b, part, 50, 8*ms, 8*ms)
	summarise(b, future, 50, 10*ms, 1)
	summarise(b, cleaner, 5, ms, ms)
	if inside { // jobs that contain jobs: what ran in what is not known
		summarise(b, job, 20, 300*ms, ms)
	}
	for i := range b.part.Summaries {
		if x := &b.part.Summaries[i]; known {
			x.Flags = uint32(wire.SummaryOuterKnown)
			if x.Class == part {
				x.Flags, x.Outer = x.Flags|uint32(wire.SummaryPart), job
			}
		}
	}
	s := b.open(true)
	s.Manifest.Submissions = &store.RecordAccount{Produced: 52, Summarised: 52}
	return s
}

// TestNestedSummarised: summarised executions that tasks of the program call are parts of its units, with their work; those of
// the JDK's own tasks are none. Of one unit that is recorded in pieces there is one.
func TestNestedSummarised(t *testing.T) {
	s := summarisedJobs(t, true, false)
	sum, err := summary.Build(s, summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"com.acme.Job 52 520 0"}; !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
	text := advice.NoteText(sum.Units)
	if sum.Units.Undecided != 0 || !strings.Contains(text, "Left out: 5 executions of the JDK's own tasks") {
		t.Errorf("note %q", text)
	}
	for by, want := range map[string]string{summary.BySite: "com.acme.Job (call site unknown) 52 520 0", summary.ByExecutor: ""} {
		rows, err := summary.BuildByOrigin(s, summary.Options{Units: true}, by)
		if err != nil {
			t.Fatal(err)
		}
		total := units.Ns(0)
		for _, r := range rows.Rows {
			total += r.Work
		}
		if got := rowsOf(rows.Rows); total != 520*ms || want != "" && !slices.Equal(got, []string{want}) {
			t.Errorf("by %s: %q, want %q", by, got, want)
		}
	}
}

// TestNestedUnits: without a record of what a summarised execution was nested in, it counts as a unit, and the note says so.
func TestNestedUnits(t *testing.T) {
	sum, err := summary.Build(summarisedJobs(t, false, true), summary.Options{Units: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := rowsOf(sum.Rows), []string{"com.acme.Job 72 132 0", "com.acme.Part 51 408 0"}; !slices.Equal(got, want) {
		t.Errorf("units %q, want %q", got, want)
	}
	if text := advice.NoteText(sum.Units); !strings.Contains(text, "only classes show what is a unit of work. 121 summarised executions count as units") {
		t.Errorf("note %q", text)
	}
}

// TestLateParts: of a virtual thread, the record of what ran inside an execution may come after that of the execution. It
// is a part of its unit all the same; if something is missing, that is not known.
func TestLateParts(t *testing.T) {
	for _, lost := range []uint64{0, 1} {
		const job, part = 1, 2
		b := newSessionBuilder(t, []string{"", "com.acme.Job", "com.acme.Part"})
		b.exec(1, 9, part, 1, 3, 3, -1)
		b.exec(9, 0, job, 1, 20, 9, 1)
		b.exec(2, 9, part, 1, 8, 8, -1)
		for i := range b.part.Executions {
			b.part.Executions[i].Flags = uint16(wire.Virtual)
		}
		s := b.open(true)
		s.Manifest.Lost.Events = lost
		sum, err := summary.Build(s, summary.Options{Units: true})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"com.acme.Job 1 20 1"}
		if lost > 0 {
			want = []string{"com.acme.Job 1 12 1", "com.acme.Part 1 8 0"}
		}
		if got := rowsOf(sum.Rows); !slices.Equal(got, want) {
			t.Errorf("%d lost: units %q, want %q", lost, got, want)
		}
	}
}
