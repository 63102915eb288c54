package bottle

import (
	"math/bits"

	"stackagent/internal/units"
)

// fixed is a time in nanoseconds with 64 bits after the point. Millions of shares
// add up without rounding errors, and in any order to the same sum.
type fixed struct{ ns, frac uint64 }

// share is d divided by n threads.
func share(d units.Ns, n int) fixed {
	q, r := uint64(d)/uint64(n), uint64(d)%uint64(n)
	frac, _ := bits.Div64(r, 0, uint64(n)) // r < n
	return fixed{q, frac}
}

func (a fixed) plus(b fixed) fixed {
	frac, carry := bits.Add64(a.frac, b.frac, 0)
	ns, _ := bits.Add64(a.ns, b.ns, carry)
	return fixed{ns, frac}
}

func (a fixed) minus(b fixed) fixed {
	frac, borrow := bits.Sub64(a.frac, b.frac, 0)
	ns, _ := bits.Sub64(a.ns, b.ns, borrow)
	return fixed{ns, frac}
}

func (a fixed) float() float64 { return float64(a.ns) + float64(a.frac)/(1<<63)/2 }
