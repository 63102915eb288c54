package kernel

import (
	"errors"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// simulated is a processor and a process whose counts the test sets.
type simulated struct {
	threads []hpc.Thread
	ended   bool
	refuse  map[hpc.Event]bool
	full    bool
	open    int
	counts  map[int]*simulatedCounts
}

type simulatedCounts struct {
	value            map[hpc.Event]uint64
	enabled, running units.Ns
}

func (s *simulated) List(int, bool) ([]hpc.Thread, error) {
	if s.ended {
		return nil, proc.ErrEnded
	}
	return s.threads, nil
}

func (s *simulated) CPU(int, int) units.Ns { return units.NotMeasured }

func (s *simulated) OpenGroup(tid int, events []hpc.Event) (hpc.GroupCounter, error) {
	for _, e := range events {
		if s.refuse[e] {
			return nil, &hpc.NotAvailableError{Event: e, Reason: "no such counter", Err: unix.ENOENT}
		}
	}
	if s.full {
		return nil, fmt.Errorf("no descriptor: %w", unix.EMFILE)
	}
	s.open++
	return &simulatedGroup{s, tid, events}, nil
}

type simulatedGroup struct {
	s      *simulated
	tid    int
	events []hpc.Event
}

func (g *simulatedGroup) Read(values []uint64) (enabled, running units.Ns, err error) {
	c := g.s.counts[g.tid]
	if c == nil {
		return 0, 0, nil
	}
	for i, e := range g.events {
		values[i] = c.value[e]
	}
	return c.enabled, c.running, nil
}

func (g *simulatedGroup) Close() error { g.s.open--; return nil }

// work lets a thread run for some time, of which the events had counters for a part.
func (s *simulated) work(tid int, enabled, running units.Ns, instructions, misses uint64) {
	c := s.counts[tid]
	if c == nil {
		c = &simulatedCounts{value: map[hpc.Event]uint64{}}
		s.counts[tid] = c
	}
	c.enabled += enabled
	c.running += running
	c.value[hpc.Instructions] += instructions
	c.value[hpc.LLCMisses] += misses
}

func newSimulated(tids ...int) *simulated {
	s := &simulated{counts: map[int]*simulatedCounts{}, refuse: map[hpc.Event]bool{}}
	for _, tid := range tids {
		s.threads = append(s.threads, hpc.Thread{ID: hpc.ThreadID{TID: tid, Start: 1}})
	}
	return s
}

func (s *simulated) source(t *testing.T) *hardware {
	t.Helper()
	h, err := openHardware(7, s, s, &threadNumbers{pid: 7})
	if err != nil {
		t.Fatal(err)
	}
	return h.(*hardware)
}

func TestHardware(t *testing.T) {
	const ms = units.MonoNs(1_000_000)
	m := newSimulated(7, 8)
	h, s := m.source(t), newSums(t)
	read := func(at units.MonoNs) {
		t.Helper()
		if err := h.Read(at, s); err != nil {
			t.Fatal(err)
		}
	}
	read(1000 * ms)
	m.work(7, 100, 100, 1000, 10)
	m.work(8, 100, 50, 300, 5) // counters for half of the time: an estimate
	read(1010 * ms)
	if got := s.in("hw.instructions", 7); got != 1000 {
		t.Errorf("thread 7 has %d instructions, want 1000", got)
	}
	if got := s.in("hw.instructions", 8); got != 600 {
		t.Errorf("thread 8 has %d instructions, want 600", got)
	}
	if got := s.value(`hw.multiplexed{group="core"}`); got != 0.25 {
		t.Errorf("multiplexed for %v of the time, want 0.25", got)
	}
	if got := s.of("hw.cache_misses"); got != 0 {
		t.Errorf("%d misses before the interval of their group is over", got)
	}
	// Thread 8 ends between two samples and another one begins: its last counts are not lost.
	m.work(8, 10, 10, 7, 1)
	m.threads = []hpc.Thread{m.threads[0], {ID: hpc.ThreadID{TID: 9, Start: 2}}}
	m.work(9, 5, 5, 4, 0)
	read(1060 * ms)
	if got := s.in("hw.instructions", 8); got != 607 {
		t.Errorf("thread 8 has %d instructions at its end, want 607", got)
	}
	if got := s.in("hw.cache_misses", 8); got != 6*110/60 {
		t.Errorf("thread 8 has %d misses at its end, want %d", got, 6*110/60)
	}
	if got := s.of("hw.instructions"); got != 1000+607+4 {
		t.Errorf("%d instructions of all threads, want %d", got, 1000+607+4)
	}
	read(1100 * ms)
	if got := s.in("hw.cache_misses", 7); got != 10 {
		t.Errorf("thread 7 has %d misses after the interval, want 10", got)
	}
	m.work(7, 100, 0, 0, 0) // no counters at all: nothing is known
	read(1200 * ms)
	if got := s.value(`hw.multiplexed{group="core"}`); got != 1 {
		t.Errorf("multiplexed for %v of the time, want 1", got)
	}
	m.work(7, 50, 50, 11, 0)
	m.ended = true
	if err := h.Read(1250*ms, s); !errors.Is(err, proc.ErrEnded) {
		t.Errorf("the process has ended: %v", err)
	}
	if got := s.in("hw.instructions", 7); got != 1011 {
		t.Errorf("thread 7 has %d instructions at the end of the process, want 1011", got)
	}
	if err := h.Close(); err != nil || m.open != 0 {
		t.Errorf("%d groups are open, %v", m.open, err)
	}
}

// What the machine does not count is absent with its reason; without anything the group is.
func TestHardwareRefused(t *testing.T) {
	m := newSimulated(7)
	m.refuse[hpc.LLCMisses] = true
	h, s := m.source(t), newSums(t)
	s.read(h)
	if s.absent["hw.cache_misses"] == "" || s.absent["hw.cache_references"] == "" || s.absent["hw.instructions"] != "" {
		t.Errorf("absent: %v", s.absent)
	}
	m.full = true
	h.listed = 0
	m.threads = append(m.threads, hpc.Thread{ID: hpc.ThreadID{TID: 8, Start: 1}})
	s.read(h)
	if s.absent["hw.* of some threads"] == "" {
		t.Errorf("absent: %v", s.absent)
	}
	h.Close()
	for _, g := range eventGroups {
		m.refuse[g.events[0]] = true
	}
	var na *hpc.NotAvailableError
	if _, err := openHardware(7, m, m, nil); !errors.As(err, &na) || na.Reason == "" {
		t.Errorf("nothing to count: %v", err)
	}
	if m.open != 0 {
		t.Errorf("%d groups are open", m.open)
	}
}

// Each event has a monitor, and groups fit.
func TestEventGroups(t *testing.T) {
	for _, g := range eventGroups {
		if len(g.events) > maxInGroup {
			t.Errorf("group %s has %d events", g.name, len(g.events))
		}
		for _, e := range g.events {
			if hardwareNames[e][0] == "" {
				t.Errorf("%s has no monitor", e)
			}
		}
	}
}
