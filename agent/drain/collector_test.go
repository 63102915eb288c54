package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// fakeSource is a source of which the test fills the rings.
func TestHeartbeat(t *testing.T) {
	c, _, sink := collector(t, Config{})
	t0 := time.Unix(1000, 0)
	for _, ms := range []int{0, 10, 500, 999, 1000, 1500, 2000} {
		round(t, c, t0.Add(time.Duration(ms)*time.Millisecond))
	}
	if len(sink.batches) != 3 {
		t.Errorf("%d batches in 2 s without events, want 3", len(sink.batches))
	}
	if sink.batches[0].Hello == nil || sink.batches[1].Hello != nil {
		t.Error("hello belongs in the first batch only")
	}
	if a, b := sink.batches[0].Clock, sink.batches[1].Clock; a == b {
		t.Error("clock pairs do not move")
	}
}

func TestBatchSizes(t *testing.T) {
	c, src, sink := collector(t, Config{})
	t0 := time.Unix(1000, 0)
	for i := range 10 {
		src.produce(i%3, 20000)
		round(t, c, t0.Add(time.Duration(i)*time.Millisecond))
	}
	rounds := len(sink.batches)
	finish(t, c)
	if got := sink.executions(); got != 200000 {
		t.Errorf("%d executions arrived of 200000", got)
	}
	if rounds < 5 {
		t.Fatalf("%d batches in the rounds", rounds)
	}
	for i, size := range sink.sizes[1:rounds] { // the first is the greeting
		if size < 64<<10 || size > 256<<10 {
			t.Errorf("batch %d has %d bytes, want 64 to 256 KiB", i+2, size)
		}
	}
	last := sink.last()
	if !last.Last || last.ExitNote != "end" || last.Hello == nil || last.Totals.Executions != 200000 || lost(last.Totals) != 0 {
		t.Errorf("last batch %+v", last)
	}
	if s := c.Stats(); s.Events != 200000 || s.Batches != uint64(len(sink.batches)) || s.Dropped != 0 || s.Unknown != 0 {
		t.Errorf("stats %+v", s)
	}
}

// While the sink is full the rings are left alone; then everything arrives.
func TestBackPressure(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: time.Minute})
	t0 := time.Unix(1000, 0)
	sink.full = true
	src.produce(0, 30000)
	round(t, c, t0)
	drains := src.drains
	for i := range 50 {
		src.produce(0, 100)
		round(t, c, t0.Add(time.Duration(i)*time.Second))
	}
	if src.drains != drains {
		t.Errorf("drained %d times while the sink was full", src.drains-drains)
	}
	sink.full = false
	round(t, c, t0.Add(51*time.Second))
	finish(t, c)
	if got := sink.executions(); got != 35000 || lost(sink.last().Totals) != 0 {
		t.Errorf("%d executions of 35000 arrived, lost %d", got, lost(sink.last().Totals))
	}
}

// Out of patience the events are dropped and counted, descriptions are kept,
// numbers stay without a gap.
func TestDropAfterPatience(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: 2 * time.Second})
	t0 := time.Unix(1000, 0)
	sink.full = true
	round(t, c, t0) // held: the first batch
	src.produce(0, 1000)
	round(t, c, t0.Add(time.Second))
	if c.Stats().Dropped != 0 {
		t.Fatal("dropped before the patience was over")
	}
	src.meta.Classes = []wire.Class{{ID: 1, Name: "kept"}}
	round(t, c, t0.Add(2*time.Second))
	src.produce(1, 40000) // more than a chunk
	round(t, c, t0.Add(3*time.Second))
	if got := c.Stats().Dropped; got != 41000 {
		t.Fatalf("dropped %d, want 41000", got)
	}
	sink.full = false
	src.produce(0, 500)
	round(t, c, t0.Add(4*time.Second))
	finish(t, c)
	last := sink.last().Totals
	if got := sink.executions(); got+lost(last) != last.Executions || got != 500 {
		t.Errorf("produced %d, arrived %d, lost %d", last.Executions, got, lost(last))
	}
	if len(last.Lost) != 1 || last.Lost[0].Reason != LostBufferFull {
		t.Errorf("lost %+v", last.Lost)
	}
	var names []string
	for _, b := range sink.batches {
		for _, k := range b.Classes {
			names = append(names, k.Name)
		}
	}
	if len(names) != 1 || names[0] != "kept" {
		t.Errorf("classes %v", names)
	}
}

func TestThreadDescriptionsAreBounded(t *testing.T) {
	c, src, sink := collector(t, Config{})
	t0 := time.Unix(1000, 0)
	sink.full = true
	round(t, c, t0)
	for i := range 3 {
		src.meta.Threads = make([]wire.Thread, maxPendingThreads)
		for j := range src.meta.Threads {
			src.meta.Threads[j].ID = uint32(i*maxPendingThreads + j + 1)
		}
		round(t, c, t0.Add(time.Second))
	}
	sink.full = false
	finish(t, c)
	var n int
	for _, b := range sink.batches {
		n += len(b.Threads)
	}
	if got := sink.last().Totals.LostThreads; n != maxPendingThreads || got != 2*maxPendingThreads {
		t.Errorf("%d threads arrived, %d counted as lost", n, got)
	}
}

// What does not fit into a message is split, however long the names are.
func TestOversizeBatchIsSplit(t *testing.T) {
	c, src, sink := collector(t, Config{})
	for i := range 1000 {
		name := fmt.Sprint(i, strings.Repeat("x", 3000))
		src.meta.Classes = append(src.meta.Classes, wire.Class{ID: uint32(i), Name: name, Loader: name})
	}
	finish(t, c)
	var n uint32
	for i, b := range sink.batches {
		for _, k := range b.Classes {
			if k.ID != n {
				t.Fatalf("class %d, want %d", k.ID, n)
			}
			n++
		}
		if sink.sizes[i] > maxMessage {
			t.Errorf("batch of %d bytes", sink.sizes[i])
		}
	}
	if n != 1000 {
		t.Errorf("%d classes arrived", n)
	}
}

func TestRefusalsAreSummed(t *testing.T) {
	c, src, sink := collector(t, Config{})
	t0 := time.Unix(1000, 0)
	for i := range 3 {
		src.meta.Refusals = []wire.Refusal{{Reason: "jsr", Count: 2, Sample: fmt.Sprint("C", i)}}
		round(t, c, t0.Add(time.Duration(i)*time.Second))
	}
	round(t, c, t0.Add(3*time.Second))
	for i := range 200 {
		src.meta.Refusals = append(src.meta.Refusals, wire.Refusal{Reason: fmt.Sprint("r", i), Count: 1})
	}
	finish(t, c)
	if got := sink.batches[2].Refusals; len(got) != 1 || got[0] != (wire.Refusal{Reason: "jsr", Count: 6, Sample: "C0"}) {
		t.Errorf("refusals %+v", got)
	}
	if got := sink.batches[3].Refusals; got != nil {
		t.Errorf("unchanged refusals are sent again: %+v", got)
	}
	var sum uint64
	all := sink.batches[4].Refusals
	for _, r := range all {
		sum += r.Count
	}
	if len(all) != maxRefusalReasons || sum != 206 {
		t.Errorf("%d reasons, sum %d; want %d and 206", len(all), sum, maxRefusalReasons)
	}
}

func TestFinishSendsRunning(t *testing.T) {
	c, src, sink := collector(t, Config{})
	src.produce(0, 10)
	running := slots{}.thread(4).execution(wire.Execution{TaskID: 99, Flags: wire.Running, Start: 5, CPU: units.NotMeasured})
	src.meta.Totals.Executions++
	if err := c.Finish(context.Background(), once(running), "exit 0"); err != nil {
		t.Fatal(err)
	}
	var found *wire.Execution
	for _, b := range sink.batches {
		for i := range b.Executions {
			if b.Executions[i].Flags&wire.Running != 0 {
				found = &b.Executions[i]
			}
		}
	}
	if found == nil || found.TaskID != 99 || found.Thread != 4 || found.End != wire.NoEnd {
		t.Errorf("running execution %+v", found)
	}
	if got := sink.executions(); got != sink.last().Totals.Executions {
		t.Errorf("%d executions arrived, totals %+v", got, sink.last().Totals)
	}
}

// A sink that is full at the end is waited for, as long as ctx allows.
func TestFinishWaits(t *testing.T) {
	c, src, sink := collector(t, Config{})
	src.produce(0, 100)
	sink.refuse = 3
	finish(t, c)
	if sink.executions() != 100 || !sink.last().Last {
		t.Errorf("%d of 100, last %v", sink.executions(), sink.last().Last)
	}
}

func TestFinishGivesUp(t *testing.T) {
	c, src, sink := collector(t, Config{})
	sink.full = true
	round(t, c, time.Now())
	src.produce(0, 100000)
	src.meta.Classes = make([]wire.Class, 3*maxBatchItems)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
	defer cancel()
	err := c.Finish(ctx, nil, "killed")
	if !errors.Is(err, ErrNotDrained) {
		t.Fatalf("error %v", err)
	}
	last := sink.last()
	if got := sink.executions(); !last.Last || got+lost(last.Totals) != 100000 || got == 100000 {
		t.Errorf("last %v, arrived %d, lost %d", last.Last, got, lost(last.Totals))
	}
	var classes int
	for _, b := range sink.batches {
		classes += len(b.Classes)
	}
	if classes != 3*maxBatchItems {
		t.Errorf("%d classes arrived", classes)
	}
}

type panickingSource struct{ fakeSource }

func (*panickingSource) Drain(int, func(uint32, []byte)) int { panic("boom") }

func TestPanicBecomesError(t *testing.T) {
	c, err := NewCollector(Config{Session: "s"}, &panickingSource{}, &fakeSink{t: t})
	if err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"run":    func() error { return c.Run(context.Background()) },
		"finish": func() error { return c.Finish(context.Background(), nil, "") },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), "boom") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRunUntilCancelled(t *testing.T) {
	c, src, sink := collector(t, Config{})
	src.produce(0, 50000)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	finish(t, c)
	if got := sink.executions(); got != 50000 {
		t.Errorf("%d of 50000", got)
	}
}

func TestBadSessionName(t *testing.T) {
	if _, err := NewCollector(Config{Session: "a/b"}, &fakeSource{}, &fakeSink{t: t}); err == nil {
		t.Error("taken")
	}
}

// Pauses dropped for lack of room are counted under a reason of their own, and
// not as events.
func TestDroppedPauses(t *testing.T) {
	var p pending
	p.Pauses = make([]wire.Pause, maxPendingPauses+3)
	p.Executions = make([]wire.Execution, 5)
	if n := p.drop(); n != 5 || p.lostPauses != 3 || len(p.Pauses) != maxPendingPauses {
		t.Errorf("%d events, %d pauses dropped, %d left; want 5, 3, %d", n, p.lostPauses, len(p.Pauses), maxPendingPauses)
	}
	c := Collector{pending: p}
	if l := c.totals().Lost; len(l) != 1 || l[0] != (wire.Loss{Reason: wire.LostPauses, Events: 3}) {
		t.Errorf("losses %+v", l)
	}
}

// Once in a heartbeat a batch says what threads execute, and all that was read is sent.
func TestRunningReports(t *testing.T) {
	c, src, sink := collector(t, Config{})
	src.running = &wire.RunningReport{At: 5, Threads: []wire.RunningThread{{Thread: 3, Executions: []wire.RunningExecution{{TaskID: 9, Class: 1, Start: 2}}}}}
	t0 := time.Unix(1000, 0)
	round(t, c, t0) // the greeting
	for ms := 10; ms <= 3000; ms += 10 {
		src.produce(0, 500)
		round(t, c, t0.Add(time.Duration(ms)*time.Millisecond))
	}
	reports := 0
	for i := range sink.batches {
		if r := sink.batches[i].Running; r != nil {
			reports++
			if i == 0 || len(r.Threads) != 1 || r.Threads[0].Executions[0].TaskID != 9 {
				t.Errorf("batch %d: %+v", i+1, r)
			}
		}
	}
	if reports != 3 {
		t.Errorf("%d reports in 3 s", reports)
	}
	before := len(sink.batches)
	src.produce(0, 40000) // more than a batch holds, and less than two
	round(t, c, t0.Add(5*time.Second))
	if got, n := sink.executions(), len(sink.batches)-before; got != 300*500+40000 || n < 2 {
		t.Errorf("%d executions in %d batches more", got, n)
	}
}

// A program that is over soon has had batches, and its fast classes were looked at: the first heartbeats are short.
func TestFirstBeats(t *testing.T) {
	c, src, sink := collector(t, Config{FirstBeat: 100 * time.Millisecond})
	t0 := time.Unix(1000, 0)
	var at []int
	src.produce(1, 20000) // full batches put off none
	for ms := 0; ms <= 4000; ms += 50 {
		src.produce(0, 1)
		before := len(sink.batches)
		round(t, c, t0.Add(time.Duration(ms)*time.Millisecond))
		if len(sink.batches) > before && ms > 0 {
			at = append(at, ms)
		}
	}
	if want := []int{100, 200, 400, 800, 1600, 2600, 3600}; !slices.Equal(at, want) {
		t.Errorf("batches at %v, want %v", at, want)
	}
	if src.rounds != len(at)+1 {
		t.Errorf("%d rounds of summaries, %d heartbeats", src.rounds, len(at))
	}
}
