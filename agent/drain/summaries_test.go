package drain

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/internal/wire"
)

// summaryOf has n executions, each in a bucket of its own.
func summaryOf(class uint32, n int) wire.Summary {
	m := wire.Measure{Metric: wire.MetricWall, Count: uint64(n), Sum: uint64(n), Min: 1, Max: 1 << 20}
	for i := range n {
		m.Buckets = append(m.Buckets, histogram.Bucket{Index: uint16(i), Count: 1})
	}
	return wire.Summary{Class: class, Thread: 1, Executions: uint64(n), First: uint64(n), Creations: 3, Measures: []wire.Measure{m}}
}

// produceSummaries makes the source report n summaries in each of that many parts.
func (s *fakeSource) produceSummaries(parts, n, buckets int) {
	for range parts {
		var list []wire.Summary
		for range n {
			list = append(list, summaryOf(uint32(len(s.summaries)*n+len(list)+1), buckets))
			s.meta.Totals.Executions += uint64(buckets)
			s.meta.Totals.Creations += 3
		}
		s.summaries = append(s.summaries, list)
	}
}

// classes are those of the summaries that arrived, in order.
func (s *fakeSink) classes() (list []uint32) {
	for _, b := range s.batches {
		for _, x := range b.Summaries {
			list = append(list, x.Class)
		}
	}
	return list
}

func upTo(n uint32) (list []uint32) {
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

// The collector asks the threads once a heartbeat and sends their answers at once.
func TestSummariesByHeartbeat(t *testing.T) {
	c, src, sink := collector(t, Config{})
	t0 := time.Unix(1000, 0)
	for i, ms := range []int{0, 10, 500, 999, 1000, 1500, 2000} {
		if i == 1 {
			src.produceSummaries(2, 2, 5)
		}
		round(t, c, t0.Add(time.Duration(ms)*time.Millisecond))
	}
	if src.rounds != 3 {
		t.Errorf("asked %d times in 2 s, want 3", src.rounds)
	}
	if got := sink.classes(); !slices.Equal(got, upTo(4)) {
		t.Errorf("classes %v", got)
	}
	if got := len(sink.batches[1].Summaries); got != 4 {
		t.Errorf("%d summaries in the second batch, want 4", got)
	}
}

// More than a batch holds is split, and a batch's worth at most is taken from
// the threads before the sink has it.
func TestSummariesSplit(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: time.Hour})
	src.produceSummaries(20, 20, 3000) // some 7 KB each
	sink.full = true
	t0 := time.Unix(1000, 0)
	for i := range 20 {
		round(t, c, t0.Add(time.Duration(i)*time.Second))
	}
	if got := 20 - len(src.summaries); got > 4 {
		t.Errorf("%d of 20 parts were taken while the sink was full", got)
	}
	sink.full = false
	finish(t, c)
	if got := sink.classes(); !slices.Equal(got, upTo(400)) {
		t.Errorf("%d summaries arrived of 400, or in another order", len(got))
	}
	for i, size := range sink.sizes {
		if size > maxSummaries {
			t.Errorf("batch %d has %d bytes", i+1, size)
		}
	}
}

// Summaries outlive what drops events: a full sink, and an end at which the
// sink takes nothing but by force.
func TestSummariesAreNotDropped(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: time.Millisecond})
	sink.full = true
	t0 := time.Unix(1000, 0)
	for i := range 20 {
		src.produceSummaries(1, 3, 100)
		src.produce(0, 1000)
		round(t, c, t0.Add(time.Duration(i)*500*time.Millisecond))
	}
	if c.Stats().Dropped == 0 {
		t.Fatal("nothing was dropped: the test tests nothing")
	}
	src.produceSummaries(3, 50, 2000)
	src.produce(0, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Finish(ctx, nil, "end"); !errors.Is(err, ErrNotDrained) {
		t.Errorf("finish: %v", err)
	}
	summed := uint64(0)
	for _, b := range sink.batches {
		for _, x := range b.Summaries {
			summed += x.Executions
		}
	}
	last := sink.last()
	if got := sink.executions() + summed + lost(last.Totals); got != last.Totals.Executions || !last.Last {
		t.Errorf("%d executions recorded, summarised and lost of %d; last batch %v", got, last.Totals.Executions, last.Last)
	}
	if summed != 20*3*100+3*50*2000 {
		t.Errorf("%d executions summarised", summed)
	}
}

// A round that began while the probes ran is not the last one.
func TestSummariesOfTheEnd(t *testing.T) {
	c, src, sink := collector(t, Config{})
	src.produceSummaries(40, 10, 3000)
	round(t, c, time.Unix(1000, 0))
	if len(src.summaries) == 0 {
		t.Fatal("the round is over: the test tests nothing")
	}
	before := src.rounds
	finish(t, c)
	if src.rounds-before != lastRounds {
		t.Errorf("%d rounds ended at the end, want %d", src.rounds-before, lastRounds)
	}
	if got := sink.classes(); !slices.Equal(got, upTo(400)) {
		t.Errorf("%d summaries arrived of 400", len(got))
	}
}

// Losses are running sums by thread, of virtual threads together.
func TestLostByThread(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: time.Millisecond})
	src.meta.Threads = []wire.Thread{{ID: 1}, {ID: 70}, {ID: 71, Virtual: true}}
	t0 := time.Unix(1000, 0)
	round(t, c, t0)
	sink.full = true
	round(t, c, t0.Add(time.Second)) // an empty batch is held from now on
	src.rings = []slots{
		slots(nil).thread(1).execution(wire.Execution{TaskID: 1, Class: 1, Start: 1, End: 2}),
		slots(nil).thread(70).creation(2).creation(3),
		slots(nil).thread(71).execution(wire.Execution{TaskID: 4, Class: 1, Start: 1, End: 2}).thread(500).creation(5),
	}
	src.meta.Totals.Executions, src.meta.Totals.Creations = 2, 3
	for i := range 5 {
		round(t, c, t0.Add(time.Duration(i+1)*2*time.Second))
	}
	sink.full = false
	src.meta.LostByThread = []wire.ThreadLoss{{Thread: 70, Events: 5}}
	round(t, c, t0.Add(time.Minute))
	finish(t, c)
	got := map[uint32]uint64{}
	times := map[uint32]int{}
	for _, b := range sink.batches {
		for _, l := range b.Totals.LostByThread {
			got[l.Thread] = max(got[l.Thread], l.Events)
			times[l.Thread]++
		}
	}
	if len(got) != 3 || got[1] != 1 || got[70] != 7 || got[0] != 2 {
		t.Errorf("lost by thread: %v, want 1 of thread 1, 7 of thread 70, 2 of virtual ones", got)
	}
	if times[1] != 1 {
		t.Errorf("a sum that has not changed came %d times", times[1])
	}
}

// The number of threads reported one by one is bounded; the sums by reason stay complete.
func TestLostByThreadBounded(t *testing.T) {
	var l losses
	for id := range uint32(3 * maxLossThreads) {
		l.know(&wire.Thread{ID: id + 1})
		l.add(id+1, 1)
		l.add(1, 1)
	}
	if len(l.sums) != maxLossThreads || l.sums[1] != 3*maxLossThreads+1 {
		t.Errorf("%d threads, %d lost of the first", len(l.sums), l.sums[1])
	}
	reported := 0
	for list := l.news(1000); len(list) > 0; list = l.news(1000) {
		reported += len(list)
		l.sent(list)
	}
	if reported != maxLossThreads {
		t.Errorf("%d threads were reported", reported)
	}
}
