package histogram

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

// Moments are exact sums of integers: their number, sum, extremes and the sum of their squares, its lowest word first. They
// do not depend on the order of adding and merging.
type Moments struct {
	Count, Sum, Min, Max int64
	Squares              [3]uint64
}

// Add adds a value.
func (m *Moments) Add(x int64) {
	if m.Count == 0 {
		m.Min, m.Max = x, x
	}
	m.Count++
	m.Sum += x
	m.Min, m.Max = min(m.Min, x), max(m.Max, x)
	a := uint64(x)
	if x < 0 {
		a = -a
	}
	hi, lo := bits.Mul64(a, a)
	var carry uint64
	m.Squares[0], carry = bits.Add64(m.Squares[0], lo, 0)
	m.Squares[1], carry = bits.Add64(m.Squares[1], hi, carry)
	m.Squares[2] += carry
}

// Merge adds the values of o.
func (m *Moments) Merge(o *Moments) {
	switch {
	case o.Count == 0:
		return
	case m.Count == 0:
		m.Min, m.Max = o.Min, o.Max
	}
	m.Count += o.Count
	m.Sum += o.Sum
	m.Min, m.Max = min(m.Min, o.Min), max(m.Max, o.Max)
	var carry uint64
	for i := range m.Squares {
		m.Squares[i], carry = bits.Add64(m.Squares[i], o.Squares[i], carry)
	}
}

// Deviations is sum((x-mean)^2) = (n*sum(x^2) - sum(x)^2) / n. Its numerator is
// exact: nothing is lost where the mean is large against the spread.
func (m *Moments) Deviations() float64 {
	if m.Count < 2 {
		return 0
	}
	var bytes [24]byte
	for i, w := range m.Squares {
		binary.BigEndian.PutUint64(bytes[8*(len(m.Squares)-1-i):], w)
	}
	var squares, sum big.Int
	squares.SetBytes(bytes[:]).Mul(&squares, big.NewInt(m.Count))
	sum.Mul(big.NewInt(m.Sum), big.NewInt(m.Sum))
	top, _ := new(big.Float).SetInt(squares.Sub(&squares, &sum)).Float64()
	return max(0, top) / float64(m.Count) // below 0 only where the sum has overflowed
}
