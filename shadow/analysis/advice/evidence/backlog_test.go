package evidence

import (
	"testing"

	"stackagent/internal/units"
)

// TestBacklogSum counts by hand what was made and not begun.
func TestBacklogSum(t *testing.T) {
	for _, c := range []struct {
		name        string
		made, begun []units.MonoNs
		own         int64
		most        int64
		ok          bool
	}{
		{"all made before the first begins", []units.MonoNs{1, 2, 3, 4}, []units.MonoNs{5, 6, 7, 8}, 0, 4, true},
		{"each begins before the next is made", []units.MonoNs{10, 20, 30, 40}, []units.MonoNs{11, 21, 31, 41}, 0, 1, true}, // 1 of 4 is a tenth
		{"in no order", []units.MonoNs{4, 1, 3, 2}, []units.MonoNs{9, 2}, 0, 3, true},
		{"made by the thread that runs them", []units.MonoNs{1, 2, 3, 4}, []units.MonoNs{5, 6, 7, 8}, 3, 4, false},
		{"none begun", []units.MonoNs{1, 2}, nil, 0, 2, false},
	} {
		b := &backlog{made: c.made, begun: c.begun, own: c.own}
		if x, ok := b.sum(); x.Most != c.most || ok != c.ok {
			t.Errorf("%s: %+v %v, want %d %v", c.name, x, ok, c.most, c.ok)
		}
	}
}

// TestBacklogBusy: a gap of a turn on the CPU is not idle time, a longer one is.
func TestBacklogBusy(t *testing.T) {
	const ms = 1_000_000
	b := &backlog{begun: []units.MonoNs{0, 4 * ms, 90 * ms}, ended: []units.MonoNs{1 * ms, 40 * ms, 100 * ms}}
	if got := b.busy(); got != 0.5 {
		t.Errorf("busy for %.2f of the time, want 0.5", got)
	}
	if got := (&backlog{}).busy(); got != 0 {
		t.Errorf("without tasks: busy for %.2f of the time", got)
	}
}
