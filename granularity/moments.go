package granularity

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// moments are exact sums of integers. They do not depend on the order of adding and
// merging.
type moments struct {
	n, sum   int64
	min, max int64
	sq       [3]uint64 // sum of the squares, the lowest word first
}

func (m *moments) add(x int64) {
	if m.n == 0 {
		m.min, m.max = x, x
	}
	m.n++
	m.sum += x
	m.min, m.max = min(m.min, x), max(m.max, x)
	a := uint64(x)
	if x < 0 {
		a = -a
	}
	hi, lo := bits.Mul64(a, a)
	var carry uint64
	m.sq[0], carry = bits.Add64(m.sq[0], lo, 0)
	m.sq[1], carry = bits.Add64(m.sq[1], hi, carry)
	m.sq[2] += carry
}

func (m *moments) merge(o *moments) {
	switch {
	case o.n == 0:
		return
	case m.n == 0:
		m.min, m.max = o.min, o.max
	}
	m.n += o.n
	m.sum += o.sum
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	var carry uint64
	for i := range m.sq {
		m.sq[i], carry = bits.Add64(m.sq[i], o.sq[i], carry)
	}
}

// Moments are exact sums of integers: their number, sum, extremes and the sum of their squares,
// its lowest word first.
type Moments struct {
	Count, Sum, Min, Max int64
	Squares              [3]uint64
}

// squares is sum((x-mean)^2) = (n*sum(x^2) - sum(x)^2) / n. Its numerator is
// exact: nothing is lost where the mean is large against the spread.
func (m *moments) squares() float64 {
	if m.n < 2 {
		return 0
	}
	var bytes [24]byte
	for i, w := range m.sq {
		binary.BigEndian.PutUint64(bytes[8*(len(m.sq)-1-i):], w)
	}
	var sq, sum big.Int
	sq.SetBytes(bytes[:]).Mul(&sq, big.NewInt(m.n))
	sum.Mul(big.NewInt(m.sum), big.NewInt(m.sum))
	top, _ := new(big.Float).SetInt(sq.Sub(&sq, &sum)).Float64()
	return max(0, top) / float64(m.n) // below 0 only where the sum has overflowed
}
