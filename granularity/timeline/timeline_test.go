package timeline

import (
	"math/rand/v2"
	"slices"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

func TestKnown(t *testing.T) {
	threads := []activity.Thread{
		{Name: "w1", Kind: activity.KindApplication, First: 5}, {Name: "main", Kind: activity.KindMain}, {Name: "w2", Kind: activity.KindApplication, First: 6},
		{Name: "w3", Kind: activity.KindApplication, First: 7}, {Name: "gc", Kind: activity.KindGC}, {Name: "idle", Kind: activity.KindVM},
	}
	s := func(th uint32, st activity.ThreadState, from, to units.MonoNs) activity.Slice {
		return activity.Slice{Thread: th, State: st, From: from, To: to}
	}
	all := []activity.Slice{
		s(1, activity.Running, -20, 15), s(5, activity.Futex, 0, 100), s(0, activity.Running, 5, 45), s(2, activity.Runnable, 8, 12), s(2, activity.Running, 12, 32),
		s(1, activity.Futex, 15, 140), s(3, activity.Running, 30, 35), s(4, activity.Running, 40, 50),
	}
	ran := map[string]units.Ns{"w1": 40, "main": 35, "w2": 20, "w3": 5, "gc": 10}
	got, err := Compute(threads, activity.Of(all), granularity.NewGrid(0, 100, 10), ran, 3)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range got.Rows {
		names = append(names, r.Kind+":"+r.Name)
	}
	// The three that ran most, main first; the others alone of their kind.
	if want := []string{"main:main", "application:w1", "application:w2", "application:w3", "gc:gc"}; !slices.Equal(names, want) {
		t.Fatalf("rows %v, want %v", names, want)
	}
	sums(t, got.Rows[0].States[activity.Running], 10, 5)
	sums(t, got.Rows[0].States[activity.Futex], 0, 5, 10, 10, 10, 10, 10, 10, 10, 10)
	sums(t, got.Rows[1].States[activity.Running], 5, 10, 10, 10, 5)
	sums(t, got.Rows[2].States[activity.Runnable], 2, 2)
	sums(t, got.Running, 15, 23, 20, 17, 15)
	sums(t, got.Ready, 2, 2)
	if m := got.Mean(got.Running); m[1] != 2.3 {
		t.Errorf("mean %v", m)
	}
}

// sums compares the buckets; those not named are zero.
func sums(t *testing.T, got []units.Ns, want ...units.Ns) {
	t.Helper()
	want = append(want, make([]units.Ns, len(got)-len(want))...)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestNothingIsLost: whatever the grid, every row's time inside it is there.
func TestNothingIsLost(t *testing.T) {
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 2))
		threads, ran := make([]activity.Thread, 5), map[string]units.Ns{}
		var all []activity.Slice
		g := granularity.NewGrid(units.MonoNs(rng.IntN(50)), units.MonoNs(60+rng.IntN(500)), 1+rng.IntN(40))
		var want units.Ns
		for i := range threads {
			threads[i] = activity.Thread{Name: string(rune('a' + i)), Kind: activity.KindApplication}
			ran[threads[i].Name] = 1
			for at := units.MonoNs(rng.IntN(30)); at < 400; {
				to := at + 1 + units.MonoNs(rng.IntN(90))
				all = append(all, activity.Slice{Thread: uint32(i), State: activity.ThreadState(rng.IntN(int(activity.NStates))), From: at, To: to})
				want += activity.Span{From: at, To: to}.Cut(activity.Span{From: g.From, To: g.End()}).Len()
				at = to
			}
		}
		got, err := Compute(threads, activity.Of(all), g, ran, rng.IntN(7))
		if err != nil {
			t.Fatal(err)
		}
		var sum units.Ns
		for _, r := range got.Rows {
			for _, s := range r.States {
				for _, d := range s {
					sum += d
				}
			}
		}
		if sum != want {
			t.Fatalf("seed %d: rows hold %d, want %d", seed, sum, want)
		}
	}
}
