package histogram

import (
	"math"
	"math/bits"
)

const (
	// PerOctave is the number of buckets per power of two.
	PerOctave = 1 << Agent
	// Linear is the number of buckets of width one at the start.
	Linear = 2 * PerOctave
	// Buckets is the number of buckets for values below 2^63.
	Buckets = Linear + (63-7)*PerOctave
	// RelativeError bounds |middle - value| / value.
	RelativeError = 1.0 / (2 * PerOctave)
)

// Bucket counts values by the index of their bucket.
type Bucket struct {
	Index uint16
	Count uint64
}

// A Scale divides each power of two into 2^Scale buckets; values below 2^(Scale+1) have one each. Each bucket of a
// scale is a union of buckets of every finer one.
type Scale uint

// Agent is the scale of Index and Bounds.
const Agent Scale = 6

// Index is the bucket of v; values of 2^63 and more share the last one.
func (s Scale) Index(v uint64) int {
	v = min(v, math.MaxInt64)
	shift := bits.Len64(v|1<<s) - int(s) - 1
	return shift<<s + int(v>>shift)
}

// Bounds are the smallest and the largest value of bucket i.
func (s Scale) Bounds(i int) (lowest, highest uint64) {
	shift := max(i>>s-1, 0)
	lowest = uint64(i-shift<<s) << shift
	return lowest, lowest + 1<<shift - 1
}

// Signed is the bucket of v. Those of negative values mirror the others and have negative numbers.
func (s Scale) Signed(v int64) int {
	if v < 0 {
		return -s.Index(-uint64(v))
	}
	return s.Index(uint64(v))
}

// SignedBounds are the smallest and the largest value of a bucket of Signed.
func (s Scale) SignedBounds(i int) (lowest, highest int64) {
	if i < 0 {
		lowest, highest = s.SignedBounds(-i)
		return -highest, -lowest
	}
	low, high := s.Bounds(i)
	return int64(low), int64(high)
}

// Index is the agent's bucket of v.
func Index(v uint64) int { return Agent.Index(v) }

// Bounds are the smallest and the largest value of the agent's bucket i.
func Bounds(i int) (lowest, highest uint64) { return Agent.Bounds(i) }

// Middle is the value that represents bucket i.
func Middle(i int) float64 {
	lowest, highest := Bounds(i)
	return (float64(lowest) + float64(highest)) / 2
}
