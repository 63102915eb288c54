package session

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/histogram"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// summarised is small with summaries: two of class 1, one of creations only.
func summarised() []*store.Part {
	parts := small()
	low, high := histogram.Bounds(200)
	parts[0].Summaries = []store.Summary{
		{ID: store.SummaryID(1, 0), Class: 1, Thread: 1, FromNs: 100, ToNs: 1100, Executions: 10, First: 9, Threw: 1, Creations: 8, Failed: 1},
		{ID: store.SummaryID(2, 0), Class: 1, Thread: 2, Flags: uint32(wire.SummaryVirtual), FromNs: 100, ToNs: 1100, Creations: 5},
	}
	parts[0].Measures = []store.Measure{
		{Summary: store.SummaryID(1, 0), Metric: "wall", Count: 10, SumNs: 500, MinNs: 7, MaxNs: 400},
		{Summary: store.SummaryID(1, 0), Metric: "self_cpu", Count: 1, SumNs: 7, MinNs: 7, MaxNs: 7},
	}
	parts[0].Buckets = []store.Bucket{
		{Summary: store.SummaryID(1, 0), Metric: "wall", LowestNs: 7, HighestNs: 7, Count: 9},
		{Summary: store.SummaryID(1, 0), Metric: "wall", LowestNs: int64(low), HighestNs: int64(high), Count: 1},
		{Summary: store.SummaryID(1, 0), Metric: "self_cpu", LowestNs: 7, HighestNs: 7, Count: 1},
	}
	parts[1].Summaries = []store.Summary{{ID: store.SummaryID(3, 0), Class: 1, Thread: 2, FromNs: 1100, ToNs: 1200, Executions: 2}}
	parts[1].Measures = []store.Measure{{Summary: store.SummaryID(3, 0), Metric: "wall", Count: 2, SumNs: 14, MinNs: 7, MaxNs: 7}}
	parts[1].Buckets = []store.Bucket{{Summary: store.SummaryID(3, 0), Metric: "wall", LowestNs: 7, HighestNs: 7, Count: 2}}
	parts[1].Threads[0].Executions, parts[1].Threads[0].Creations, parts[1].Threads[0].Lost = ptr(6), ptr(5), ptr(1)
	return parts
}

func allSummaries(t *testing.T, s *Session) []Summary {
	t.Helper()
	var got []Summary
	if err := s.Summaries(func(x *Summary) error { got = append(got, *x); return nil }); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestSummaries(t *testing.T) {
	parts := summarised()
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{Executions: 19, Creations: 21}, parts...))
	if err != nil {
		t.Fatal(err)
	}
	bucket := func(i uint16, n uint64) histogram.Bucket { return histogram.Bucket{Index: i, Count: n} }
	want := []Summary{
		{Summary: parts[0].Summaries[0], Measures: []Measure{
			{Metric: wire.MetricWall, Count: 10, SumNs: 500, MinNs: 7, MaxNs: 400, Buckets: []histogram.Bucket{bucket(7, 9), bucket(200, 1)}},
			{Metric: wire.MetricSelfCPU, Count: 1, SumNs: 7, MinNs: 7, MaxNs: 7, Buckets: []histogram.Bucket{bucket(7, 1)}},
		}},
		{Summary: parts[0].Summaries[1]},
		{Summary: parts[1].Summaries[0], Measures: []Measure{
			{Metric: wire.MetricWall, Count: 2, SumNs: 14, MinNs: 7, MaxNs: 7, Buckets: []histogram.Bucket{bucket(7, 2)}},
		}},
	}
	if got := allSummaries(t, s); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	m := s.Manifest
	if m.Stored != (store.Counts{Executions: 19, Creations: 21}) || m.Summarised != (store.Counts{Executions: 12, Creations: 14}) {
		t.Errorf("stored %+v, of these summarised %+v", m.Stored, m.Summarised)
	}
	if len(s.Warnings) != 0 || m.Lost.Events != 0 {
		t.Errorf("warnings %q, lost %+v", s.Warnings, m.Lost)
	}
	a, b := s.ThreadByID(1), s.ThreadByID(2)
	if a.Counted || !b.Counted || b.Lost != 1 || b.Produced != (store.Counts{Executions: 6, Creations: 5}) {
		t.Errorf("threads %+v\n%+v", a, b)
	}
	stop := errors.New("enough")
	if err := s.Summaries(func(*Summary) error { return stop }); err != stop {
		t.Errorf("the caller's error came back as %v", err)
	}
}

// What can no longer be read is reported, and what depends on it is not made up.
func TestSummariesOfDamagedParts(t *testing.T) {
	for _, c := range []struct {
		table     store.Table
		summaries int
		lost      uint64
		warning   string
	}{
		{store.Summaries, 1, 24, "summaries of 24 executions"},
		{store.Measures, 3, 0, "rows of measures are missing"},
		{store.Buckets, 3, 0, "distribution of 11 measured values"},
	} {
		dir := write(t, t.TempDir(), "s", store.Counts{Executions: 19, Creations: 21}, summarised()...)
		if err := os.Remove(filepath.Join(dir, store.PartName(c.table, 1, 2))); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%v gone: %v", c.table, err)
		}
		s, err := OpenDamaged(dir)
		if err != nil {
			t.Fatal(err)
		}
		got := allSummaries(t, s)
		if len(got) != c.summaries || s.Manifest.Lost.Events != c.lost {
			t.Errorf("%v gone: %d summaries, want %d; lost %d, want %d", c.table, len(got), c.summaries, s.Manifest.Lost.Events, c.lost)
		}
		if all := strings.Join(s.Warnings, "\n"); !strings.Contains(all, c.warning) {
			t.Errorf("%v gone: warnings %q, want %q", c.table, s.Warnings, c.warning)
		}
		last := got[len(got)-1]
		if len(last.Measures) != 1 || len(last.Measures[0].Buckets) != 1 {
			t.Errorf("%v gone: the summary of the other part is %+v", c.table, last)
		}
	}
}
