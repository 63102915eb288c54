package ingest

import (
	"math"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// withSummaries adds to each batch but the first a summary of thread 1 over the
// ten milliseconds before it, and to the last one what the threads produced.
func withSummaries(all []*wire.Batch) {
	events := uint64(0)
	for i, b := range all[1:] {
		at := int64(i+2) * 10_000_000
		b.Summaries = []wire.Summary{{
			Class: 1, Thread: 1, From: bentClock(at - 10_000_000), To: bentClock(at - 1_000_000),
			Executions: 1000, First: 1000, Creations: 900, Failed: 1, Measures: []wire.Measure{
				// 1000 executions of 8 microseconds, one of them of a tenth.
				{Metric: wire.MetricWall, Count: 1000, Sum: uint64(bentClock(at-1_000_000) - bentClock(at-9_000_000)), Min: 250, Max: 20_000,
					Buckets: []histogram.Bucket{{Index: 90, Count: 1}, {Index: uint16(histogram.Index(8000)), Count: 999}}},
				{Metric: wire.MetricCPU, Count: 1000, Sum: 7_000_001, Min: 99, Max: 7002,
					Buckets: []histogram.Bucket{{Index: 99, Count: 1}, {Index: uint16(histogram.Index(7002)), Count: 999}}},
			},
		}}
		events += 1000
	}
	for _, b := range all {
		b.Totals.LostByThread = []wire.ThreadLoss{{Thread: 1, Events: 3}}
		b.Totals.Lost = []wire.Loss{{Reason: "bus away, buffer full", Events: 3}, {Reason: "ring full", Events: 2}}
		b.Totals.Executions += events + 4
		b.Totals.Creations += events/1000*901 + 1
	}
	last := all[len(all)-1]
	last.Threads = []wire.Thread{{ID: 1, JavaID: 1, OSID: 77, Name: "main", Counted: true,
		Executions: last.Totals.Executions, Creations: last.Totals.Creations, Lost: 2}}
}

// disordered publishes 40 batches out of order, some twice, while shadows die
// and follow; p is where the session stood at the end.
func disordered(t *testing.T, with func([]*wire.Batch)) (all []*wire.Batch, root string, p Progress) {
	t.Helper()
	b, root := startBus(t), t.TempDir()
	all = fakeBatches("job", 40, 7)
	with(all)
	o := Options{Bus: b, Root: root, PartInterval: 5 * time.Millisecond}
	in := startIngest(t, o)
	for i, x := range all[:20] {
		publishAll(t, b, x, all[i/2])
		time.Sleep(time.Millisecond)
	}
	in.Kill()
	in = startIngest(t, o)
	for i := 38; i >= 20; i -= 2 {
		publishAll(t, b, all[i+1], all[i])
	}
	drain(t, in)
	p = in.Sessions()[0]
	must(t, in.Close(store.EndedClosed))
	return all, root, p
}

// Summaries arrive out of order, twice and through shadows that die; they are
// stored once, on the session's clock, and the account of the session is exact.
func TestSummariesAreStoredOnce(t *testing.T) {
	all, root, p := disordered(t, withSummaries)
	s := checkRows(t, filepath.Join(root, "job"), all)
	m := s.Manifest
	if want := (store.Counts{Executions: 39_000, Creations: 39 * 901}); m.Summarised != want {
		t.Errorf("summarised %+v, want %+v", m.Summarised, want)
	}
	if m.Stored != (store.Counts{Executions: 39_800, Creations: 39*901 + 800}) || p.Stored != m.Stored || p.Received != m.Stored {
		t.Errorf("stored %+v, in progress %+v", m.Stored, p)
	}
	if b := m.Balance; b == nil || b.State != store.BalanceExact || b.Threads != 1 || b.Sum.Lost != 5 {
		t.Errorf("balance %+v", b)
	}
	if x := s.ThreadByID(1); !x.Counted || x.Lost != 2 || x.Produced != m.Produced {
		t.Errorf("thread %+v of %+v", x, m.Produced)
	}
	// At the end of a session fewer than four small parts are not worth merging.
	if parts, _ := filepath.Glob(filepath.Join(root, "job", "executions-*.parquet")); len(parts) == 0 || len(parts) > 3 {
		t.Errorf("the parts of a session that has ended are merged, but there are %d: %v", len(parts), parts)
	}
	n := 0
	must(t, s.Summaries(func(x *session.Summary) error {
		n++
		checkSummary(t, x, int64(n+1)*10_000_000)
		return nil
	}))
	if n != 39 || len(s.Warnings) != 0 {
		t.Errorf("%d summaries, want 39; warnings %q", n, s.Warnings)
	}
}

func checkSummary(t *testing.T, x *session.Summary, at int64) {
	t.Helper()
	near := func(what string, got, want, within int64) {
		t.Helper()
		if got < want-within || got > want+within {
			t.Errorf("at %d: %s is %d, want %d within %d", at, what, got, want, within)
		}
	}
	near("from", int64(x.FromNs)-monoBase, at-10_000_000, 3)
	near("to", int64(x.ToNs)-monoBase, at-1_000_000, 3)
	if x.Executions != 1000 || x.First != 1000 || x.Creations != 900 || x.Failed != 1 || len(x.Measures) != 2 {
		t.Fatalf("summary %+v", x)
	}
	wall, cpu := x.Measures[0], x.Measures[1]
	near("wall", int64(wall.SumNs), 8_000_000, 20)
	near("shortest", int64(wall.MinNs), 100, 0)
	near("longest", int64(wall.MaxNs), 8_000, 1)
	if wall.Count != 1000 || !reflect.DeepEqual(wall.Buckets, []histogram.Bucket{{Index: 90, Count: 1}, {Index: uint16(histogram.Index(8000)), Count: 999}}) {
		t.Errorf("wall %+v", wall)
	}
	if cpu.SumNs != 7_000_001 || cpu.MinNs != 99 || cpu.MaxNs != 7002 || cpu.Metric != wire.MetricCPU {
		t.Errorf("cpu %+v", cpu)
	}
}

// A sum of ticks is converted by the rate that held meanwhile: of any size,
// within any interval, also one that makes no sense.
func TestRateOfSums(t *testing.T) {
	var c clock
	for ns := int64(0); ns <= 4_000_000_000; ns += 100_000_000 {
		c.add(pairAt(ns))
	}
	for _, x := range []struct {
		from, to int64
		want     float64
	}{
		{0, 900_000_000, 0.4}, {2_000_000_000, 3_000_000_000, 0.4 / 1.0001}, {500_000_000, 500_000_000, 0.4},
		{3_000_000_000, 3_000_000_010, 0.4 / 1.0001}, {4_000_000_000, 5_000_000_000, 0.4 / 1.0001}, {-5, -4, 0.4}, {3_000_000_000, 1, 0.4 / 1.0001},
	} {
		if got := float64(c.rate(bentClock(x.from), bentClock(x.to))); math.Abs(got/x.want-1) > 2e-7 {
			t.Errorf("rate from %d to %d: %v, want %v", x.from, x.to, got, x.want)
		}
	}
	if got := nsPerTick(0.4).ns(1 << 60); math.Abs(float64(got)/(0.4*(1<<60))-1) > 1e-12 {
		t.Errorf("a large sum became %d", got)
	}
	if got := nsPerTick(3).ns(math.MaxUint64); got != math.MaxInt64 {
		t.Errorf("a sum beyond all became %d", got)
	}
	var ns clock
	ns.add(wire.ClockPair{Ticks: 5, Mono: 5})
	ns.add(wire.ClockPair{Ticks: 5e9, Mono: 5e9})
	if r := ns.rate(7, 8); r != 1 || r.ns(1<<62+1) != 1<<62+1 {
		t.Errorf("a clock of nanoseconds: rate %v", r)
	}
}
