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

// sample is one of the machine.
type sample interface {
	at() int64
	value() float64
}

func (s Switches) at() int64         { return s.At }
func (s Switches) value() float64    { return s.Count }
func (u Utilisation) at() int64      { return u.At }
func (u Utilisation) value() float64 { return u.User + u.Kernel }

// meanOf averages samples, each as often as times says for when it was taken; nil if none counts.
func meanOf[S sample](samples []S, times func(at int64) int) *Mean {
	m := &Mean{}
	for _, s := range samples {
		n := times(s.at())
		m.Samples += int64(n)
		m.Mean += s.value() * float64(n)
	}
	if m.Samples == 0 {
		return nil
	}
	m.Mean /= float64(m.Samples)
	return m
}

// Outside leaves out the samples taken during a pause, its ends included.
func (s Samples) Outside(pauses []Pause) Samples {
	var during spans
	for _, p := range pauses {
		during.add(p.Start, p.End)
	}
	during.sort()
	return Samples{without(s.Switches, &during), without(s.CPU, &during)}
}

func without[S sample](samples []S, during *spans) (kept []S) {
	for _, s := range samples {
		if during.around(s.at()) == 0 {
			kept = append(kept, s)
		}
	}
	return kept
}
