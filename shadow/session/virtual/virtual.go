// Package virtual sums up how the virtual threads of a session were scheduled.
package virtual

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Sums describe how a set of virtual threads was scheduled: sums over all, and the
// largest value of one thread.
type Sums struct {
	Threads  uint64   `json:"threads"`
	Alive    uint64   `json:"alive"`  // threads that had not ended
	Mounts   uint64   `json:"mounts"` // onto carriers, first ones included
	Changes  uint64   `json:"carrier_changes"`
	Pins     uint64   `json:"pins"` // parked without leaving the carrier
	PinnedNs units.Ns `json:"pinned_ns"`
	AwayNs   units.Ns `json:"away_ns"` // between two mounts
	// ReadyNs is the part of AwayNs in which they waited for a carrier; nil: not
	// measured for every thread.
	ReadyNs *units.Ns `json:"ready_ns"`

	// MedianMounts is the median of the threads' mounts; nil if some were recorded as a
	// group.
	MedianMounts *uint64  `json:"median_mounts"`
	MostMounts   uint64   `json:"most_mounts"`
	MostPinnedNs units.Ns `json:"most_pinned_ns"`
	MostAwayNs   units.Ns `json:"most_away_ns"`
	MostReadyNs  units.Ns `json:"most_ready_ns"`

	mounts map[uint64]uint64 // threads by number of mounts
	groups bool              // some were recorded as a group
}

// Groups reports whether threads were recorded as a group, without the times of each.
func (s *Sums) Groups() bool { return s.groups }

// Class is the Sums of the threads whose tasks have one class.
type Class struct {
	Class string `json:"class"`
	Sums
}

// Threads describes how the virtual threads of a session were scheduled. The manifest's
// counts are of all threads, the others of those with a record.
type Threads struct {
	store.VirtualScheduling
	// Unrecorded are mounts of threads without a record: those that executed no task,
	// and those whose record was lost.
	Unrecorded int64   `json:"untold_mounts"`
	Recorded   Sums    `json:"told"`
	List       []Class `json:"classes"` // sorted by time pinned, time waited for a carrier, mounts
}

// Read sums up the virtual threads of s; nil if none was mounted. List has the classes
// that want accepts; the class is nil if its description was lost.
func Read(s *session.Session, want func(*session.Class) bool) (*Threads, error) {
	if s.Manifest.Scheduling == nil {
		return nil, nil
	}
	v := &Threads{VirtualScheduling: *s.Manifest.Scheduling}
	byClass := map[string]*Class{}
	err := s.VirtualThreads(func(r *store.VirtualThread) {
		v.Recorded.add(r)
		if !want(s.ClassByID(r.Class)) {
			return
		}
		name := unit.ClassName(s, r.Class)
		c := byClass[name]
		if c == nil {
			c = &Class{Class: name}
			byClass[name] = c
		}
		c.add(r)
	})
	if err != nil {
		return nil, err
	}
	v.Unrecorded = int64(v.Mounts) - int64(v.Recorded.Mounts)
	v.Recorded.finish()
	v.List = []Class{}
	for _, name := range slices.Sorted(maps.Keys(byClass)) {
		byClass[name].finish()
		v.List = append(v.List, *byClass[name])
	}
	slices.SortStableFunc(v.List, func(a, b Class) int {
		return cmp.Or(cmp.Compare(b.PinnedNs, a.PinnedNs), cmp.Compare(orZero(b.ReadyNs), orZero(a.ReadyNs)), cmp.Compare(b.Mounts, a.Mounts))
	})
	return v, nil
}

func orZero(n *units.Ns) units.Ns {
	if n == nil {
		return 0
	}
	return *n
}

func (s *Sums) add(r *store.VirtualThread) {
	if s.Threads == 0 {
		s.ReadyNs, s.mounts = new(units.Ns), map[uint64]uint64{}
	}
	s.Threads += r.Threads
	if r.Alive {
		s.Alive += r.Threads
	}
	s.Mounts += r.Mounts
	s.Changes += r.Changes
	s.Pins += r.Pins
	s.PinnedNs += r.PinnedNs
	s.AwayNs += r.AwayNs
	if r.ReadyNs == nil || s.ReadyNs == nil {
		s.ReadyNs = nil
	} else {
		*s.ReadyNs += *r.ReadyNs
	}
	if r.Thread == 0 {
		s.groups = true
	} else {
		s.mounts[r.Mounts]++
	}
	s.MostMounts = max(s.MostMounts, r.MostMounts)
	s.MostPinnedNs = max(s.MostPinnedNs, r.MostPinnedNs)
	s.MostAwayNs = max(s.MostAwayNs, r.MostAwayNs)
	s.MostReadyNs = max(s.MostReadyNs, r.MostReadyNs)
}

// finish computes the median: the smallest number of mounts that half of the threads
// do not exceed.
func (s *Sums) finish() {
	if s.groups || s.Threads == 0 {
		return
	}
	left := (s.Threads + 1) / 2
	for _, n := range slices.Sorted(maps.Keys(s.mounts)) {
		if s.mounts[n] >= left {
			s.MedianMounts = &n
			return
		}
		left -= s.mounts[n]
	}
}
