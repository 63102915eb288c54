package drain

import (
	"testing"
	"time"

	"stackagent/internal/wire"
)

// churningSource is a program whose threads come, execute something, and end.
// A thread is reported as ended while its last records are still in its ring.
type churningSource struct {
	fakeSource
	next, live uint32
	late       []slots // records of the threads that have ended meanwhile
	gone       []uint32
}

const churned = 100 // threads that end in each round

func (s *churningSource) Drain(max int, f func(uint32, []byte)) int {
	for _, ring := range s.gone {
		f(ring, nil)
	}
	s.gone = nil
	total := 0
	for i, records := range s.late {
		ring := s.next - churned + uint32(i) + 1
		f(ring, records)
		s.gone = append(s.gone, ring)
		total += len(records)
	}
	s.late = nil
	return total
}

func (s *churningSource) Meta() Meta {
	m := s.fakeSource.Meta()
	if s.live == 0 {
		return m
	}
	s.live -= churned
	for range churned {
		s.next++
		s.late = append(s.late, slots(nil).thread(s.next).execution(wire.Execution{TaskID: uint64(s.next), Class: 1, Start: 1, End: 2}))
		m.Threads = append(m.Threads, wire.Thread{ID: s.next, JavaID: int64(s.next), Name: "worker", End: 9})
	}
	return m
}

// Threads that have ended are forgotten, but not before their last records are
// sent, or dropped and counted as theirs.
func TestThreadsThatEndedAreForgotten(t *testing.T) {
	const threads = 50_000
	for name, full := range map[string]bool{"sent": false, "dropped": true} {
		t.Run(name, func(t *testing.T) {
			src, sink := &churningSource{live: threads}, &fakeSink{t: t}
			c, err := NewCollector(Config{Session: "s", Patience: time.Nanosecond}, src, sink)
			if err != nil {
				t.Fatal(err)
			}
			now := time.Now()
			most := 0
			for i := range threads/churned + 5 {
				sink.full = full && i > 3 && i < threads/churned
				now = now.Add(time.Second)
				round(t, c, now)
				most = max(most, len(c.pending.losses.platform), len(c.pending.threads), len(c.pending.queued))
			}
			finish(t, c)
			if most > 10*churned {
				t.Errorf("%d threads remembered at a time, of which %d end in a round", most, churned)
			}
			if n := len(c.pending.losses.platform) + len(c.pending.threads); n > 4*churned {
				t.Errorf("%d threads remembered at the end", n)
			}
			dropped := c.Stats().Dropped
			if sent := sink.executions(); sent+dropped != threads || full != (dropped > 0) {
				t.Errorf("%d executions sent, %d dropped of %d", sent, dropped, threads)
			}
			if n := c.pending.losses.sums[0]; n != 0 {
				t.Errorf("%d executions of platform threads counted as lost by virtual ones", n)
			}
		})
	}
}
