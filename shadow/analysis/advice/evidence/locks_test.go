package evidence

import (
	"slices"
	"testing"

	"stackagent/granularity/predict"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// TestLockWaits: thread 2 waits from 10 to 40 for a permit that thread 1 has, its unit ends at 35; thread 1 waited for it before. Thread 3,
// which runs no units, waits as well, and thread 1 waits for a signal of thread 9, which never waits for it.
func TestLockWaits(t *testing.T) {
	p := &poolSum{recorded: recorded{list: []predict.Unit{{Start: 0, End: 100, Thread: 1}, {Start: 5, End: 35, Thread: 2}}, classes: []uint32{7, 8}}}
	wait := func(thread uint32, from, to int64, by, object uint32) blocked {
		return blocked{thread: thread, from: units.MonoNs(from), to: units.MonoNs(to), by: by, object: object, class: 1, permits: true}
	}
	v := &lockWaits{a: &advisor{s: &session.Session{}, pools: map[string]*poolSum{"p": p}}, blockers: map[uint32]store.Blocker{1: {Class: semaphores + "NonfairSync"}}, units: map[uint32][]placed{},
		users:  map[uint32]map[uint32]bool{50: {1: true, 2: true, 3: true}, 60: {1: true}},
		groups: map[*poolSum]map[string]*lockSum{},
		waits:  []blocked{wait(3, 0, 90, 1, 50), wait(1, 8, 20, 2, 50), wait(2, 10, 40, 1, 50), wait(1, 60, 70, 9, 60)}}
	v.sum()
	if want := []advice.Lock{{Name: "Semaphore", Waited: 12 + 25, Any: 35 - 8}}; !slices.Equal(p.Locks, want) {
		t.Errorf("%+v, want %+v", p.Locks, want)
	}
	if a, b := p.recorded.list[0].Locked, p.recorded.list[1].Locked; a != 12 || b != 25 {
		t.Errorf("the units waited %d and %d, want 12 and 25", a, b)
	}
}
