package evidence

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
)

// TestSamePool: which names are one pool, by the workers that they have.
func TestSamePool(t *testing.T) {
	pool := func(kind poolKind, count int64, workers ...uint32) *poolSum {
		p := &poolSum{kind: kind, workers: map[uint32]*advice.Worker{}}
		p.Units, p.From, p.To = count, units.MonoNs(workers[0]), units.MonoNs(100*count)
		for _, w := range workers {
			p.workers[w] = &advice.Worker{Units: 1, Wall: 10, CPU: 5}
			p.Wall += 10
			p.CPU += 5
		}
		return p
	}
	for _, c := range []struct {
		name  string
		pools map[string]*poolSum
		want  string
	}{
		{"apart", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2), "B": pool(byExecutor, 9, 3, 4)}, "A:2 B:2"},
		{"forwarded", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2, 3, 4), "F": pool(byExecutor, 5, 2, 3)}, "A (the same threads as F):4"},
		{"several names", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2, 3), "F": pool(byExecutor, 5, 2, 3), "G": pool(byExecutor, 5, 1, 2, 3), "w-*": pool(byThreads, 50, 1, 2, 3),
			"app.X": pool(byClass, 7, 1, 2)}, "A (the same threads as F and 1 more):3"},
		{"a caller helps", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2, 7), "B": pool(byExecutor, 9, 3, 4, 7), "app.Main": pool(byClass, 1, 7)}, "A:3 B:3 app.Main:1"},
		{"a router", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2), "B": pool(byExecutor, 9, 3, 4), "R": pool(byExecutor, 2, 1, 2, 3, 4)}, "A:2 B:2 R:4"},
		{"a class on two", map[string]*poolSum{"A": pool(byExecutor, 9, 1, 2), "B": pool(byExecutor, 9, 3, 4), "app.X": pool(byClass, 2, 1, 2, 3, 4)}, "A:2 B:2 app.X:4"},
		{"classes of the same threads", map[string]*poolSum{"app.X": pool(byClass, 9, 1, 2, 3), "app.Y": pool(byClass, 3, 1, 2), "app.Z": pool(byClass, 9, 4, 5)}, "app.X:3 app.Z:2"},
		{"a class of a few of the threads", map[string]*poolSum{"app.X": pool(byClass, 9, 1, 2, 3, 4), "app.Y": pool(byClass, 3, 1, 2)}, "app.X:4 app.Y:2"},
	} {
		a := &advisor{pools: c.pools}
		var all int64
		for _, p := range c.pools {
			all += p.Units
		}
		labels := slices.Sorted(maps.Keys(c.pools))
		into := a.merge()
		var got []string
		var count int64
		for _, l := range slices.Sorted(maps.Keys(a.pools)) {
			p := a.pools[l]
			count += p.Units
			got = append(got, fmt.Sprintf("%s%s:%d", l, p.Label, len(p.workers)))
		}
		if s := strings.Join(got, " "); s != c.want || count != all {
			t.Errorf("%s: %q with %d units, want %q with %d", c.name, s, count, c.want, all)
		}
		for _, l := range labels {
			if a.pools[into[l]] == nil {
				t.Errorf("%s: %s has become part of %q", c.name, l, into[l])
			}
		}
	}
	a := &advisor{pools: map[string]*poolSum{"A": pool(byExecutor, 9, 4, 5), "F": pool(byExecutor, 5, 4, 5)}}
	a.merge()
	if p := a.pools["A"]; p.Units != 14 || p.From != 4 || p.To != 900 || p.Wall != 40 || p.CPU != 20 || *p.workers[4] != (advice.Worker{Units: 2, Wall: 20, CPU: 10}) {
		t.Errorf("put together: %+v", p)
	}
}

// TestVeryManyPools: an executor for each call on the threads of one pool is that pool, and is found without comparing
// each with each.
func TestVeryManyPools(t *testing.T) {
	const n, threads = 10_000, 300
	worker := func() *advice.Worker { return &advice.Worker{Units: 1, Wall: 10, CPU: 5} }
	pools := map[string]*poolSum{"pool": {kind: byExecutor, workers: map[uint32]*advice.Worker{}}}
	for i := range uint32(threads) {
		pools["pool"].workers[i] = worker()
	}
	for i := range uint32(n) {
		// Many that ran on the same threads, and many that did not.
		a, b := i%threads, (i+1+i/threads)%threads
		pools[fmt.Sprint("call ", i)] = &poolSum{kind: byExecutor, workers: map[uint32]*advice.Worker{a: worker(), b: worker()}}
		pools[fmt.Sprint("class ", i)] = &poolSum{kind: byClass, workers: map[uint32]*advice.Worker{a: worker(), b: worker()}}
	}
	m := newMerger(pools)
	compared := 0
	for x := range m.places {
		for _, thread := range m.places[x].workers {
			compared += len(m.on[thread])
		}
	}
	if most := (2*len(pools) + threads) * 2 * manyOnOne; compared > most {
		t.Errorf("%d pools are compared %d times, want at most %d", len(pools), compared, most)
	}
	if len(m.places) < n/2 {
		t.Errorf("only %d sets of workers of %d pools: the test compares too few", len(m.places), len(pools))
	}
}
