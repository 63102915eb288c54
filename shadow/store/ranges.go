package store

import (
	"fmt"
	"sort"
)

// Range is a closed range of batch sequence numbers.
type Range struct{ From, To uint64 }

// Ranges is a set of sequence numbers: sorted, disjoint, not adjacent ranges.
type Ranges [][2]uint64

// Has reports whether seq is in the set.
func (r Ranges) Has(seq uint64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i][1] >= seq })
	return i < len(r) && r[i][0] <= seq
}

// HasAll reports whether all of from..to is in the set.
func (r Ranges) HasAll(from, to uint64) bool {
	i := sort.Search(len(r), func(i int) bool { return r[i][1] >= to })
	return i < len(r) && r[i][0] <= from
}

// Add puts from..to into the set.
func (r *Ranges) Add(from, to uint64) {
	s := *r
	// The first range that touches or follows from..to, and the first beyond it.
	i := sort.Search(len(s), func(i int) bool { return s[i][1]+1 >= from })
	j := i
	for j < len(s) && s[j][0] <= to+1 {
		from, to = min(from, s[j][0]), max(to, s[j][1])
		j++
	}
	if i == j {
		s = append(s, [2]uint64{})
		copy(s[i+1:], s[i:])
		s[i] = [2]uint64{from, to}
	} else {
		s[i] = [2]uint64{from, to}
		s = append(s[:i+1], s[j:]...)
	}
	*r = s
}

// Count is how many numbers are in the set.
func (r Ranges) Count() uint64 {
	var n uint64
	for _, x := range r {
		n += x[1] - x[0] + 1
	}
	return n
}

// Max is the largest number in the set, 0 when it is empty.
func (r Ranges) Max() uint64 {
	if len(r) == 0 {
		return 0
	}
	return r[len(r)-1][1]
}

// Check guards Add and Has against a damaged file: they rely on the order, and
// on the sums staying below the largest number.
func (r Ranges) Check() error {
	var last uint64
	for i, x := range r {
		if x[0] < 1 || x[1] < x[0] || x[1] > MaxSeq || (i > 0 && x[0] <= last) {
			return fmt.Errorf("sequences: %d-%d is out of order", x[0], x[1])
		}
		last = x[1]
	}
	return nil
}
