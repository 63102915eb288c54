package evidence

import (
	"math/rand/v2"
	"testing"

	"stackagent/internal/units"
)

// TestCover: the time that spans cover is that of a map of each nanosecond.
func TestCover(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c, o, naive := cover{}, cover{}, [300]bool{}
		for range r.IntN(40) {
			from := r.IntN(280)
			to := from + r.IntN(20)
			into := &c
			if r.IntN(3) == 0 {
				into = &o
			}
			into.add(units.MonoNs(from), units.MonoNs(to))
			for i := from; i < to; i++ {
				naive[i] = true
			}
		}
		c.merge(&o)
		want := units.Ns(0)
		for _, in := range naive {
			if in {
				want++
			}
		}
		if got := c.length(); got != want {
			t.Fatalf("%d covered, want %d", got, want)
		}
	}
}

// TestCoverLimit: with more pieces than it keeps it is too long rather than too
// short, and by no more than the pauses.
func TestCoverLimit(t *testing.T) {
	c := cover{slack: 10}
	c.add(0, 100)
	c.add(110, 120) // a pause of slack
	c.add(131, 140) // a longer one
	if got := c.length(); got != 129 {
		t.Errorf("%d covered, want 129", got)
	}
	c = cover{}
	for i := range units.MonoNs(4 * coverLimit) {
		c.add(1000*i, 1000*i+500)
	}
	if got, n := c.length(), len(c.pieces); got < 4*coverLimit*500 || got > 4*coverLimit*1000 || n >= coverLimit {
		t.Errorf("%d covered by %d pieces", got, n)
	}
}
