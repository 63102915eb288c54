package tgp

import (
	"slices"
	"sort"
)

// spans counts how many closed intervals hold a time: those that have begun
// less those that have ended.
type spans struct{ from, to []int64 }

func (s *spans) add(from, to int64) {
	if to >= from {
		s.from, s.to = append(s.from, from), append(s.to, to)
	}
}

func (s *spans) sort() {
	slices.Sort(s.from)
	slices.Sort(s.to)
}

// around is the number of intervals that hold t; s is sorted.
func (s *spans) around(t int64) int {
	begun := sort.Search(len(s.from), func(i int) bool { return s.from[i] > t })
	ended := sort.Search(len(s.to), func(i int) bool { return s.to[i] >= t })
	return begun - ended
}
