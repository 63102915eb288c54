package live

import (
	"math/rand/v2"
	"testing"

	"stackagent/internal/units"
)

// waiting is what pending does, slowly.
type waiting struct {
	list   []slot // in order, those with room
	beyond uint64
}

func (m *waiting) find(which func(*slot) bool) int {
	for i := range m.list {
		if which(&m.list[i]) {
			return i
		}
	}
	return -1
}

func (m *waiting) remove(i int) { m.list = append(m.list[:i:i], m.list[i+1:]...) }

// Random submissions, ends, cancellations and rejections, compared with a list.
func TestPendingIsAList(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := &budget{}
		b.left.Store(200)
		p, m := newPending(b), &waiting{}
		for step := range int64(20_000) {
			id := 1 + r.Uint64N(150)
			switch r.IntN(8) {
			case 0, 1, 2:
				i := p.submit(slot{task: id, at: step, ticks: units.Ticks(step)})
				if (i < 0) != (len(m.list) >= 200) {
					t.Fatalf("seed %d, step %d: slot %d with %d in use", seed, step, i, len(m.list))
				}
				if i < 0 {
					m.beyond++
					continue
				}
				for k := range m.list { // a task that is submitted stands for itself
					if m.list[k].wrapper == id {
						m.list[k].wrapper = 0
					}
				}
				m.list = append(m.list, slot{task: id, at: step, ticks: units.Ticks(step)})
				if wrapper := 1000 + r.Uint64N(5000); r.IntN(2) == 0 && m.find(func(s *slot) bool { return s.wrapper == wrapper }) < 0 {
					p.wrap(i, wrapper)
					m.list[len(m.list)-1].wrapper = wrapper
				}
			case 3:
				if len(m.list) > 0 {
					i := r.IntN(len(m.list))
					ticks := m.list[i].ticks
					compare(t, "take at a moment", func(id uint64) (slot, bool) { return p.takeAt(id, ticks) }, m, m.list[i].task, i)
				}
			case 4, 5:
				compare(t, "take", p.take, m, id, m.find(func(s *slot) bool { return s.task == id }))
			case 6:
				if len(m.list) > 0 {
					if w := m.list[r.IntN(len(m.list))].wrapper; w != 0 {
						compare(t, "take by the wrapper", p.take, m, w, m.find(func(s *slot) bool { return s.wrapper == w }))
					}
				}
			case 7:
				last := -1
				for i := range m.list {
					if m.list[i].task == id {
						last = i
					}
				}
				compare(t, "last", p.last, m, id, last)
			}
			if p.len() != uint64(len(m.list))+m.beyond {
				t.Fatalf("seed %d, step %d: %d wait, want %d", seed, step, p.len(), len(m.list))
			}
			if step%1000 == 0 {
				odd := func(s *slot) bool { return s.task%2 == 1 }
				p.drop(odd)
				for i := m.find(odd); i >= 0; i = m.find(odd) {
					m.remove(i)
				}
			}
		}
		i := p.oldest
		for _, want := range m.list {
			if s := p.slots[i]; s.task != want.task || s.at != want.at || s.wrapper != want.wrapper {
				t.Fatalf("seed %d: %+v, want %+v", seed, s, want)
			}
			i = p.slots[i].newer
		}
		if i >= 0 {
			t.Fatalf("seed %d: more than that", seed)
		}
		p.reset()
		if b.left.Load() != 200 {
			t.Errorf("%d slots come back of 200", b.left.Load())
		}
	}
}

func compare(t *testing.T, what string, take func(uint64) (slot, bool), m *waiting, id uint64, want int) {
	t.Helper()
	s, ok := take(id)
	if ok != (want >= 0) {
		t.Fatalf("%s of %d: %v, want %v", what, id, ok, want >= 0)
	}
	if ok {
		if w := m.list[want]; s.task != w.task || s.at != w.at {
			t.Fatalf("%s of %d: %+v, want %+v", what, id, s, w)
		}
		m.remove(want)
	}
}
