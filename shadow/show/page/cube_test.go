package page

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/speedup"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
)

var wallOnly = []summary.WorkMetric{{Metric: 0, Name: "wall_ns"}}

// sums are the counts and sums of a filler.
func (f *filler) sums() (count, known, times, sum int64) {
	for _, r := range f.rows {
		for _, c := range r.cells {
			if c == nil {
				continue
			}
			count += int64(c.count)
			known += int64(c.measures[0].known)
			sum += c.measures[0].sum
			times += c.measures[0].Total()
		}
	}
	return count, known, times, sum
}

// TestFold: a cube of too many combinations becomes small, nothing of it is lost, and how readers shared the work shows in nothing.
func TestFold(t *testing.T) {
	fill := func(parts int) *filler {
		var list []*filler
		for range parts {
			list = append(list, newFiller(wallOnly, slots))
		}
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 60_000 {
			x := summary.WorkItem{Values: []units.Ns{units.Ns(r.IntN(1_000_000))}}
			k := rowKey{class: uint32(r.IntN(40)), executor: uint32(r.IntN(4)), site: uint32(r.IntN(50)), thread: uint32(r.IntN(400))}
			list[i%parts].add(k, r.IntN(slots), slots, &x)
		}
		for _, f := range list[1:] {
			list[0].merge(f)
		}
		return list[0]
	}
	one, four := fill(1), fill(4)
	count, known, times, sum := one.sums()
	foldedOne, foldedFour := one.finish(), four.finish()
	if c, k, n, s := one.sums(); c != count || k != known || n != times || s != sum || count != 60_000 || times != known {
		t.Errorf("%d, %d, %d, %d become %d, %d, %d, %d", count, known, times, sum, c, k, n, s)
	}
	if len(one.rows) > mostRows || one.size > mostSize && (one.slots > leastSlots || len(one.rows) > leastRows) || foldedOne == 0 {
		t.Errorf("%d rows, %d slots, size %d, %d folded", len(one.rows), one.slots, one.size, foldedOne)
	}
	var a, b Cells
	one.write(&a)
	four.write(&b)
	if foldedOne != foldedFour || !reflect.DeepEqual(a, b) {
		t.Errorf("the cube depends on how many read: %d and %d cells", len(a.Row), len(b.Row))
	}
}

// TestManyClasses: if even the classes are too many, the others share a row without a name.
func TestManyClasses(t *testing.T) {
	f := newFiller(wallOnly, slots)
	for i := range 2 * mostRows {
		f.add(rowKey{class: uint32(i), executor: none, site: none, thread: none}, 3, slots, &summary.WorkItem{Values: []units.Ns{units.Ns(i)}})
	}
	folded := f.finish()
	if others := f.rows[rowKey{none, none, none, none}]; others == nil || len(f.rows) > mostRows || folded != 2*mostRows-len(f.rows) || f.rows[rowKey{2*mostRows - 1, none, none, none}] == nil {
		t.Errorf("%d rows, %d folded", len(f.rows), folded)
	}
	if count, _, _, _ := f.sums(); count != 2*mostRows {
		t.Errorf("%d tasks are left", count)
	}
}

// TestDeal: nobody gets more than is left, and all is dealt.
func TestDeal(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 5))
		left, all := make([]int64, 1+r.IntN(30)), int64(0)
		for i := range left {
			left[i] = r.Int64N(1 << (1 + seed%50))
			all += left[i]
		}
		for all > 0 {
			n := 1 + r.Int64N(all)
			given := int64(0)
			for i, d := range deal(left, n) {
				given += d
				if d < 0 || left[i] < 0 {
					t.Fatalf("seed %d: dealt %d, %d left", seed, d, left[i])
				}
			}
			if given != n {
				t.Fatalf("seed %d: dealt %d of %d", seed, given, n)
			}
			all -= n
		}
	}
}

// TestStackOf: the components of a slot add up to N times its length, also if more threads lived than N.
func TestStackOf(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		some := func() units.Ns { return units.Ns(r.IntN(1000)) }
		a := speedup.Account{N: 1 + r.IntN(8), GC: some(), Sequential: some(), Idle: some(), Parallel: some()}
		left := units.Ns(a.N) * a.Parallel
		if seed%3 == 0 {
			a.Surplus = some()
			left += a.Surplus
		}
		for i := range a.InState {
			a.InState[i] = min(left, some())
			left -= a.InState[i]
		}
		a.Exited, a.Late = left/2, left-left/2
		length := a.GC + a.Sequential + a.Idle + a.Parallel + units.Ns(r.IntN(2)*500)
		v, sum := stackOf(&a, seed%2 == 0, length), 0.0
		for i, x := range v {
			if x < 0 {
				t.Fatalf("%s is %g", components[i].Key, x)
			}
			sum += x
		}
		if want := float64(a.N) * float64(length); len(v) != len(components) || sum < want-1e-6*want-1e-6 || sum > want+1e-6*want+1e-6 {
			t.Fatalf("seed %d: %g in all, want %g", seed, sum, want)
		}
	}
}

// TestCoarse: the buckets of a summary become those of the page, which are a quarter as many.
func TestCoarse(t *testing.T) {
	x := summary.WorkSummary{Summarised: granularity.Summarised{Executions: 10, Work: []granularity.Measured{{Count: 10, Sum: 5000, Max: 900}}}}
	f := newFiller(wallOnly, slots)
	f.addSummary(rowKey{}, granularity.Grid{Width: 10, N: slots}.Weights(0, 100), &x)
	count, known, times, sum := f.sums()
	if count != 10 || known != 10 || times != 10 || sum != 5000 {
		t.Errorf("%d, %d, %d, %d", count, known, times, sum)
	}
}
