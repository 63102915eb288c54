package store

import (
	"reflect"
	"strings"
	"testing"

	"stackagent/internal/wire"
)

// accounted is a session of three platform threads and virtual ones (ids 8 and
// 9), some of it recorded, some summarised, some lost: whole as it stands.
func accounted() (Manifest, *Part) {
	n := func(v int64) *int64 { return &v }
	m := Manifest{
		Ended:    EndedExit,
		Produced: Counts{Executions: 20 + 7 + 5, Creations: 10 + 3},
		Virtual:  &ThreadCounts{Counts: Counts{Executions: 5, Creations: 3}, Lost: 1},
	}
	m.Lost.ByReason = map[string]uint64{"ring full": 4, "bus away, buffer full": 3, wire.LostPauses: 9}
	m.Lost.ByThread = [][2]uint64{{0, 1}, {2, 2}}
	p := &Part{Range: Range{1, 2}}
	for range 10 {
		p.Executions = append(p.Executions, Execution{Thread: 1})
		p.Creations = append(p.Creations, Creation{Thread: 1})
	}
	p.Executions = append(p.Executions, Execution{Thread: 2}, Execution{Thread: 2}, Execution{Thread: 9})
	p.Creations = append(p.Creations, Creation{Thread: 8})
	p.Summaries = []Summary{
		{ID: 1, Thread: 1, Executions: 10}, {ID: 2, Thread: 1, Flags: uint32(wire.SummaryVirtual), Executions: 3, Creations: 1},
	}
	p.Threads = []Thread{
		{ID: 1, StartNs: n(1), Executions: n(20), Creations: n(10), Lost: n(0)},
		{ID: 2, EndNs: n(9), Executions: n(7), Creations: n(0), Lost: n(3)},
		{ID: 3, Executions: n(0), Creations: n(0), Lost: n(0)},
		{ID: 8, Virtual: true}, {ID: 9, Virtual: true},
	}
	return m, p
}

func balanceOf(t *testing.T, change func(m *Manifest, p *Part)) *Balance {
	t.Helper()
	m, p := accounted()
	change(&m, p)
	w := openWriter(t, t.TempDir())
	m.Session = "s"
	w.Manifest = m
	commit(t, w, p)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read, err := ReadManifest(w.Dir())
	if err != nil || !reflect.DeepEqual(read.Balance, w.Manifest.Balance) {
		t.Fatalf("written %+v, read %+v, %v", w.Manifest.Balance, read.Balance, err)
	}
	return read.Balance
}

func TestBalanceExact(t *testing.T) {
	b := balanceOf(t, func(*Manifest, *Part) {})
	want := &Balance{State: BalanceExact, Threads: 4, Sum: ThreadBalance{
		Produced: Counts{32, 13}, Recorded: Counts{13, 11}, Summarised: Counts{13, 1}, Lost: 7,
	}}
	if !reflect.DeepEqual(b, want) {
		t.Errorf("got\n%+v\nwant\n%+v", b, want)
	}
}

func TestBalance(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		change      func(m *Manifest, p *Part)
		state, why  string
		unexplained uint64
		differ      []uint32
		uncounted   uint64
	}{
		"a row twice": {func(_ *Manifest, p *Part) { p.Executions = append(p.Executions, p.Executions[0]) }, BalanceDiffers, "1 event of 1 thread", 1, []uint32{1}, 0},
		"a row twice and a lost": {func(_ *Manifest, p *Part) {
			p.Executions, p.Creations = append(p.Executions, p.Executions[0]), p.Creations[1:]
		}, BalanceDiffers, "", 1, []uint32{1}, 0},
		"a row with another":      {func(_ *Manifest, p *Part) { p.Executions[0].Thread = 2 }, BalanceDiffers, "2 events of 2 threads", 2, []uint32{1, 2}, 0},
		"a row gone":              {func(_ *Manifest, p *Part) { p.Creations = p.Creations[1:] }, BalanceDiffers, "", 1, []uint32{1}, 0},
		"a virtual thread's gone": {func(_ *Manifest, p *Part) { p.Summaries = p.Summaries[:1] }, BalanceDiffers, "", 4, []uint32{0}, 0},
		"counted lost twice":      {func(m *Manifest, p *Part) { m.Lost.ByThread[1][1]++ }, BalanceDiffers, "", 1, []uint32{2}, 0},
		"a missing batch":         {func(_ *Manifest, p *Part) { p.Range, p.Creations = Range{1, 1}, p.Creations[1:] }, BalanceDiffers, "", 1, []uint32{1}, 0},
		"a batch that never came": {func(_ *Manifest, p *Part) { p.Range, p.Creations = Range{2, 3}, p.Creations[1:] }, BalanceExact, "", 0, nil, 0},
		"more than the gap holds": {func(m *Manifest, p *Part) {
			p.Range, p.Creations = Range{2, 3}, p.Creations[1:]
			p.Executions = append(p.Executions, Execution{Thread: 3})
		}, BalanceDiffers, "2 events of 2 threads", 2, []uint32{1, 3}, 0},
		"losses of no thread": {func(m *Manifest, p *Part) {
			m.Lost.ByReason["record not understood"], p.Executions = 1, p.Executions[1:]
		}, BalanceExact, "", 0, nil, 0},
		"an uncounted thread":  {func(_ *Manifest, p *Part) { p.Threads[0].Executions = nil }, BalanceExact, "", 0, nil, 1},
		"its row gone":         {func(_ *Manifest, p *Part) { p.Threads[0].Executions, p.Executions = nil, p.Executions[1:] }, BalanceDiffers, "", 1, []uint32{0}, 1},
		"threads against sums": {func(m *Manifest, p *Part) { m.Virtual.Executions = 4 }, BalanceDiffers, "do not add up", 1, nil, 0},
		"killed":               {func(m *Manifest, p *Part) { m.Ended, p.Executions = EndedLostContact, p.Executions[1:] }, BalanceUnknown, "without a word", 0, nil, 0},
		"killed, a row twice":  {func(m *Manifest, p *Part) { m.Ended, p.Executions[0].Thread = EndedLostContact, 2 }, BalanceDiffers, "", 1, []uint32{2}, 0},
		"an agent without counts": {func(m *Manifest, p *Part) {
			m.Virtual, p.Threads, m.Lost.ByThread = nil, []Thread{{ID: 1}, {ID: 2}, {ID: 3}}, nil
		}, BalanceUnknown, "does not count by thread", 0, nil, 3},
		"reported again with less": {func(_ *Manifest, p *Part) { p.Threads = append(p.Threads, Thread{ID: 3, EndNs: n(3)}) }, BalanceExact, "", 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := balanceOf(t, c.change)
			if b.State != c.state || !strings.Contains(b.Why, c.why) || b.Unexplained != c.unexplained || b.Uncounted != c.uncounted {
				t.Errorf("%+v\nwant %q, %q, %d unexplained, %d uncounted", b, c.state, c.why, c.unexplained, c.uncounted)
			}
			var differ []uint32
			for _, l := range b.Differ {
				differ = append(differ, l.Thread)
			}
			if !reflect.DeepEqual(differ, c.differ) || b.Differing != uint64(len(c.differ)) {
				t.Errorf("threads %v differ, want %v: %+v", differ, c.differ, b.Differ)
			}
		})
	}
}

func TestBalanceOfAKilledJVM(t *testing.T) {
	b := balanceOf(t, func(m *Manifest, p *Part) {
		m.Ended, p.Executions, p.Creations = EndedLostContact, p.Executions[2:], p.Creations[1:]
	})
	if b.AtLeastLost != 7+3 { // reported, and what was on its way
		t.Errorf("%+v", b)
	}
}
