package session

import (
	"testing"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// counted is a session of one class: made, failed and withdrawn are the ids of
// creation records, ran those of executions with their flags.
type counted struct {
	made, failed, withdrawn []uint64
	ran                     map[uint64][]wire.ExecutionFlags
	summaries               []store.Summary
}

func (c counted) open(t *testing.T) *Session {
	t.Helper()
	p := &store.Part{Range: store.Range{From: 1, To: 1}, Classes: []store.Class{{ID: 1, Name: "a.Job"}}}
	for flags, ids := range map[wire.CreationFlags][]uint64{0: c.made, wire.Failed: c.failed, wire.Withdrawn: c.withdrawn} {
		class := uint32(1)
		if flags == wire.Withdrawn {
			class = 0 // it does not say
		}
		for _, id := range ids {
			p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: class, Thread: 1, Flags: uint16(flags), AtNs: 5})
		}
	}
	for id, runs := range c.ran {
		for _, flags := range runs {
			p.Executions = append(p.Executions, store.Execution{TaskID: id, Class: 1, Thread: 1, Flags: uint16(flags), StartNs: 10, EndNs: 11, WallNs: 1})
		}
	}
	for i, x := range c.summaries {
		x.ID, x.Class, x.Thread = store.SummaryID(1, i), 1, 1
		p.Summaries = append(p.Summaries, x)
	}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestNeverExecuted: by first executions where they are recorded, by ids where not,
// with the same result.
func TestNeverExecuted(t *testing.T) {
	type runs = map[uint64][]wire.ExecutionFlags
	const first = wire.First
	for name, c := range map[string]struct {
		session                                  counted
		created, never, failed, distinct, record uint64
	}{
		"by ids":         {counted{made: []uint64{1, 2, 3}, ran: runs{1: {0, 0}, 9: {wire.CreationUnseen}}}, 3, 2, 0, 2, 3},
		"by flags":       {counted{made: []uint64{1, 2, 3}, ran: runs{1: {first, 0}, 9: {first | wire.CreationUnseen}}}, 3, 2, 0, 2, 3},
		"failed":         {counted{made: []uint64{1, 2, 3}, failed: []uint64{2}, ran: runs{1: {first}}}, 2, 1, 1, 1, 1},
		"withdrawn":      {counted{made: []uint64{1, 2, 3}, withdrawn: []uint64{3}, ran: runs{1: {first}}}, 2, 1, 0, 1, 1},
		"still running":  {counted{made: []uint64{1, 2}, ran: runs{1: {first | wire.Running}}}, 2, 1, 0, 1, 1},
		"creations lost": {counted{made: []uint64{1}, ran: runs{1: {first}, 2: {first}}}, 1, 0, 0, 2, 2},
		"summarised": {counted{made: []uint64{1, 2}, ran: runs{1: {first}}, summaries: []store.Summary{
			{Executions: 7, First: 5, Creations: 8, Failed: 1, Withdrawn: 1}}}, 8, 2, 1, 6, 8},
		"only summarised": {counted{summaries: []store.Summary{{Executions: 7, First: 5, Creations: 6}, {Executions: 1, First: 1}}}, 6, 0, 0, 6, 8},
	} {
		_, sum, err := c.session.open(t).Counts()
		if err != nil || sum.Created != c.created || sum.NeverExecuted != c.never || sum.Failed != c.failed || sum.Distinct != c.distinct || sum.Executions != c.record {
			t.Errorf("%s: %+v, %v; want %+v", name, sum, err, c)
		}
	}
}

func TestIDSet(t *testing.T) {
	s, plain := newIDSet(), map[uint64]bool{}
	for i := range uint64(200_000) {
		id := i*i*2654435761>>3&0xffff | i%5<<40
		if got := s.add(id); got == plain[id] {
			t.Fatalf("add %d: new %v", id, got)
		}
		plain[id] = true
		other := id ^ i&1023
		if s.has(other) != plain[other] {
			t.Fatalf("has %d: %v", other, !plain[other])
		}
		if i%3 == 0 {
			if s.remove(other) != plain[other] {
				t.Fatalf("remove %d: %v", other, !plain[other])
			}
			delete(plain, other)
		}
	}
}
