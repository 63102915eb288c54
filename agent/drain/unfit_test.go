package drain

import (
	"strings"
	"testing"
	"time"

	"stackagent/internal/wire"
)

// A record that the codec refuses costs itself only: it is counted, by thread too, and named once.
func TestUnfitRecords(t *testing.T) {
	var notices []string
	c, src, sink := collector(t, Config{Notice: func(line string) { notices = append(notices, line) }})
	src.meta.Threads = []wire.Thread{{ID: 1, Name: "main"}}
	src.produceSummaries(1, 5, 10)
	for _, i := range []int{1, 3} {
		src.summaries[0][i].Measures[0].Buckets[4].Count = 0
	}
	src.produce(0, 1000)
	src.meta.Virtual = []wire.VirtualThread{{Thread: 5, Threads: 2}, {Thread: 6, Threads: 1}}
	src.meta.Classes = []wire.Class{{ID: 1, Name: "kept"}}
	src.running = &wire.RunningReport{Threads: []wire.RunningThread{{Executions: make([]wire.RunningExecution, wire.MaxRunning+1)}}}
	t0 := time.Unix(1000, 0)
	for i := range 3 {
		round(t, c, t0.Add(time.Duration(i)*time.Second))
	}
	finish(t, c)
	if got := sink.classes(); len(got) != 3 || got[0] != 1 || got[1] != 3 || got[2] != 5 {
		t.Errorf("summaries of classes %v, want 1, 3 and 5", got)
	}
	last := sink.last()
	if got := sink.executions(); got != 1000 || lost(last.Totals) != 2*(10+3) {
		t.Errorf("%d executions, %d events lost", got, lost(last.Totals))
	}
	var classes, virtual int
	var byThread uint64
	var refused []wire.Refusal
	for _, b := range sink.batches {
		classes, virtual = classes+len(b.Classes), virtual+len(b.Virtual)
		for _, l := range b.Totals.LostByThread {
			byThread = l.Events
		}
		if len(b.Refusals) > 0 {
			refused = b.Refusals
		}
	}
	if classes != 1 || virtual != 1 || byThread != 26 {
		t.Errorf("%d classes, %d virtual threads, %d lost of the thread", classes, virtual, byThread)
	}
	if len(refused) != 1 || refused[0].Reason != LostUnfit || refused[0].Count != 1 {
		t.Errorf("refused %+v", refused)
	}
	if len(notices) != 1 || !strings.Contains(notices[0], "recording continues") {
		t.Errorf("notices %q", notices)
	}
}
