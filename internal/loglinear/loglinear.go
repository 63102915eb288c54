// Package loglinear divides the non-negative integers into buckets of bounded
// relative width, as HdrHistogram does: exact below 128, then 64 buckets to
// each power of two. The middle of a value's bucket is within 0.8 % of
// it. The agent counts in the same buckets (jvmti/state_cells.h); a test compares
// the two.
package loglinear

import "math/bits"

const (
	// PerOctave is the number of buckets per power of two.
	PerOctave = 64
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

// Index is the bucket of v; values of 2^63 and more share the last one.
func Index(v uint64) int {
	if v < Linear {
		return int(v)
	}
	octave := bits.Len64(v) - 1 // >= 7
	if octave > 62 {
		return Buckets - 1
	}
	return Linear + (octave-7)*PerOctave + int(v>>(octave-6))&(PerOctave-1)
}

// Bounds are the smallest and the largest value of bucket i.
func Bounds(i int) (lowest, highest uint64) {
	if i < Linear {
		return uint64(i), uint64(i)
	}
	shift := (i-Linear)/PerOctave + 1
	lowest = uint64(PerOctave+(i-Linear)%PerOctave) << shift
	return lowest, lowest + 1<<shift - 1
}

// Middle is the value that represents bucket i.
func Middle(i int) float64 {
	lowest, highest := Bounds(i)
	return (float64(lowest) + float64(highest)) / 2
}
