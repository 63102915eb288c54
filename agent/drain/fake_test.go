package drain

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

type fakeSource struct {
	running *wire.RunningReport
	rings   []slots
	meta    Meta
	ticks   uint64
	drains  int

	summaries [][]wire.Summary // what each call of a round gives; empty: nothing new
	places    []wire.SiteSum   // what the next call gives
	rounds    int              // of summaries that are over
	contexts  []wire.Contexts  // likewise
}

func (s *fakeSource) Summaries() ([]wire.Summary, []wire.SiteSum, bool) {
	places := s.places
	s.places = nil
	if len(s.summaries) == 0 {
		s.rounds++
		return nil, places, false
	}
	list := s.summaries[0]
	s.summaries = s.summaries[1:]
	if len(s.summaries) == 0 {
		s.rounds++
	}
	return list, places, len(s.summaries) > 0
}

func (s *fakeSource) Drain(max int, f func(uint32, []byte)) int {
	s.drains++
	total := 0
	for i := range s.rings {
		if total >= max {
			break
		}
		r := s.rings[i]
		n := min(len(r), max-total) / executionBytes * executionBytes
		if n == 0 && len(r) > 0 {
			n = len(r)
		}
		if n > 0 {
			f(uint32(i), r[:n])
			s.rings[i] = r[n:]
			total += n
		}
	}
	return total
}

// Contexts gives part after part of a round.
func (s *fakeSource) Contexts() (wire.Contexts, bool) {
	if len(s.contexts) == 0 {
		return wire.Contexts{}, false
	}
	part := s.contexts[0]
	s.contexts = s.contexts[1:]
	return part, len(s.contexts) > 0
}

func (s *fakeSource) Site(id uint32) (wire.Site, bool) {
	return wire.Site{ID: id, Class: "Site", Line: int32(id)}, id < 1000
}

func (s *fakeSource) Running() *wire.RunningReport { return s.running }

func (s *fakeSource) Clock() wire.ClockPair {
	s.ticks++
	return wire.ClockPair{Ticks: units.Ticks(s.ticks), Mono: units.MonoNs(s.ticks)}
}

func (s *fakeSource) Meta() Meta {
	m := s.meta
	s.meta = Meta{Totals: m.Totals}
	return m
}

// produce puts n executions into ring and counts them.
func (s *fakeSource) produce(ring, n int) {
	for len(s.rings) <= ring {
		s.rings = append(s.rings, nil)
	}
	for i := range n {
		at := s.meta.Totals.Executions + uint64(i)
		s.rings[ring] = s.rings[ring].execution(wire.Execution{TaskID: at * 3, Class: 1,
			Start: units.Ticks(at*30000 + rand.Uint64N(3000)), End: units.Ticks(at*30000 + 10000 + rand.Uint64N(10000)),
			CPU: units.Ns(rand.IntN(6000))})
	}
	s.meta.Totals.Executions += uint64(n)
}

// fakeSink decodes what it is given, as a shadow would.
type fakeSink struct {
	t       *testing.T
	full    bool
	refuse  int // offers still to refuse
	batches []*wire.Batch
	sizes   []int
}

var errNoRoom = errors.New("no room")

func (s *fakeSink) Offer(seq uint64, msg []byte, force bool) error {
	if (s.full || s.refuse > 0) && !force {
		s.refuse--
		return errNoRoom
	}
	b, err := wire.Decode(msg, wire.DefaultLimits())
	if err != nil {
		s.t.Fatal(err)
	}
	if want := uint64(len(s.batches) + 1); b.Seq != want || seq != want {
		s.t.Fatalf("batch %d offered as %d, want %d", b.Seq, seq, want)
	}
	s.batches = append(s.batches, b)
	s.sizes = append(s.sizes, len(msg))
	return nil
}

func (s *fakeSink) last() *wire.Batch { return s.batches[len(s.batches)-1] }

// executions counts what has arrived.
func (s *fakeSink) executions() uint64 {
	var n uint64
	for _, b := range s.batches {
		n += uint64(len(b.Executions))
	}
	return n
}

func lost(t wire.Totals) (n uint64) {
	for _, l := range t.Lost {
		n += l.Events
	}
	return n
}

func collector(t *testing.T, cfg Config) (*Collector, *fakeSource, *fakeSink) {
	t.Helper()
	src, sink := &fakeSource{}, &fakeSink{t: t}
	cfg.Session = "s"
	cfg.Hello = func() *wire.Hello { return &wire.Hello{PID: 7} }
	c, err := NewCollector(cfg, src, sink)
	if err != nil {
		t.Fatal(err)
	}
	return c, src, sink
}

func round(t *testing.T, c *Collector, at time.Time) {
	t.Helper()
	if _, err := c.Round(at); err != nil {
		t.Fatal(err)
	}
}

func finish(t *testing.T, c *Collector) {
	t.Helper()
	if err := c.Finish(context.Background(), nil, "end"); err != nil {
		t.Fatal(err)
	}
}

// once gives the records with its first call.
func once(records []byte) func() []byte {
	return func() []byte {
		part := records
		records = nil
		return part
	}
}
