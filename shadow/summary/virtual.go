package summary

import (
	"cmp"
	"maps"
	"slices"

	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// VirtualSums are how some virtual threads were scheduled: sums, and the
// largest of one thread.
type VirtualSums struct {
	Threads  uint64   `json:"threads"`
	Alive    uint64   `json:"alive"`  // of these, that had not ended
	Mounts   uint64   `json:"mounts"` // times that one got onto a carrier, its start included
	Changes  uint64   `json:"carrier_changes"`
	Pins     uint64   `json:"pins"` // parked without leaving the carrier
	PinnedNs units.Ns `json:"pinned_ns"`
	AwayNs   units.Ns `json:"away_ns"` // between two mounts
	// ReadyNs is the part of AwayNs in which they waited for a carrier; nil: not measured of all.
	ReadyNs *units.Ns `json:"ready_ns"`

	// MedianMounts is that of a thread's mounts; nil where some were told together only.
	MedianMounts *uint64  `json:"median_mounts"`
	MostMounts   uint64   `json:"most_mounts"`
	MostPinnedNs units.Ns `json:"most_pinned_ns"`
	MostAwayNs   units.Ns `json:"most_away_ns"`
	MostReadyNs  units.Ns `json:"most_ready_ns"`

	mounts map[uint64]uint64 // of a thread -> threads
	groups bool              // some were told together
}

// VirtualClass is VirtualSums of the threads with bodies of one class.
type VirtualClass struct {
	Class string `json:"class"`
	VirtualSums
}

// VirtualThreads is how the virtual threads of a session were scheduled. The
// counts of the manifest are of all, the others of those that were told.
type VirtualThreads struct {
	store.VirtualScheduling
	// Untold are mounts of which it was not told which thread it was: of one that executed no task,
	// or whose record was lost.
	Untold int64          `json:"untold_mounts"`
	Told   VirtualSums    `json:"told"`
	List   []VirtualClass `json:"classes"` // that pass the filter, by time pinned, waited for a carrier, mounts
}

// Virtual tells how the virtual threads of s were scheduled; nil where none was mounted.
func Virtual(s *session.Session, filter Filter) (*VirtualThreads, error) {
	if s.Manifest.Scheduling == nil {
		return nil, nil
	}
	v := &VirtualThreads{VirtualScheduling: *s.Manifest.Scheduling}
	byClass := map[string]*VirtualClass{}
	err := s.VirtualThreads(func(r *store.VirtualThread) {
		v.Told.add(r)
		name := className(s, r.Class)
		if c := s.ClassByID(r.Class); c != nil && !filter.Match(c.Name, c.Kinds) || c == nil && filter.Active() {
			return
		}
		c := byClass[name]
		if c == nil {
			c = &VirtualClass{Class: name}
			byClass[name] = c
		}
		c.add(r)
	})
	if err != nil {
		return nil, err
	}
	v.Untold = int64(v.Mounts) - int64(v.Told.Mounts)
	v.Told.finish()
	for _, name := range slices.Sorted(maps.Keys(byClass)) {
		byClass[name].finish()
		v.List = append(v.List, *byClass[name])
	}
	slices.SortStableFunc(v.List, func(a, b VirtualClass) int {
		return cmp.Or(cmp.Compare(b.PinnedNs, a.PinnedNs), cmp.Compare(orNothing(b.ReadyNs), orNothing(a.ReadyNs)), cmp.Compare(b.Mounts, a.Mounts))
	})
	v.List = nonNil(v.List)
	return v, nil
}

func orNothing(n *units.Ns) units.Ns {
	if n == nil {
		return 0
	}
	return *n
}

func (s *VirtualSums) add(r *store.VirtualThread) {
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

// finish finds the median: the smallest number of mounts that half of the threads do not exceed.
func (s *VirtualSums) finish() {
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
