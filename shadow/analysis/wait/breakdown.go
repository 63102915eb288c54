package wait

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
)

// Part is a part of a breakdown.
type Part struct {
	Name, Title, Doc string
	of               []waiting.Part
}

// Parts are those of every breakdown, in order. They add up to the wall time.
var Parts = []Part{
	{"cpu", "CPU", "on a CPU", []waiting.Part{waiting.CPU}},
	{"runnable", "for a CPU", "ready, waiting for a CPU", []waiting.Part{waiting.Runnable}},
	{"lock", "lock", "for a monitor or another lock", []waiting.Part{waiting.Lock}},
	{"io", "I/O", "for a socket, a pipe, a file or the disk", []waiting.Part{waiting.IO}},
	{"sleep", "sleep", "for a given time", []waiting.Part{waiting.Sleep}},
	{"carrier", "carrier", "of virtual threads: ready, waiting for a carrier", []waiting.Part{waiting.Carrier}},
	{"gc", "GC", "in pauses of the collector, and for its threads", []waiting.Part{waiting.GC}},
	{"other", "other", "for conditions, futures, latches and the like", []waiting.Part{waiting.Other}},
	{"idle", "idle", "of a worker: for work", []waiting.Part{waiting.Idle}},
	{"not_known", "not known", "the rest", []waiting.Part{waiting.Unnamed, waiting.Unknown}},
}

// Ns is the time of the part.
func (p *Part) Ns(b *Breakdown) (n units.Ns) {
	for _, part := range p.of {
		n += b.Times[part]
	}
	return n
}

// Breakdown is where time went: of the units of a class, or of a thread.
type Breakdown struct {
	Name       string
	Units      int64 // units, or threads
	Summarised int64 // of the units, not recorded one by one
	Queued     int64 // of the units, with a known queue time
	QueueNs    units.Ns
	Times      waiting.Times
	For        []For // what was waited for, longest first
}

// WallNs is the time of all parts.
func (b *Breakdown) WallNs() units.Ns { return b.Times.Sum() }

// ResponseNs is the time in the queue and the wall time.
func (b *Breakdown) ResponseNs() units.Ns { return b.QueueNs + b.WallNs() }

// Mostly says what most of the waiting was for, as shares of the wall time.
func (b *Breakdown) Mostly() string {
	const most, least = 3, 0.01
	var parts []string
	for _, f := range b.For {
		share := float64(f.WaitedNs) / float64(max(b.WallNs(), 1))
		if f.For != ForQueue && share >= least && len(parts) < most {
			parts = append(parts, fmt.Sprintf("%s %s", f.Class, units.FormatPercent(min(share, 1))))
		}
	}
	return strings.Join(parts, ", ")
}

// ByUnit are the classes of units, those of the longest response times first.
func (a *Analysis) ByUnit() []*Breakdown {
	var out []*Breakdown
	for _, u := range a.byClass {
		out = append(out, &Breakdown{u.Class, u.Units, u.Summarised, u.Queued, u.QueueNs, u.Times, a.list(u.tops)})
	}
	slices.SortFunc(out, func(x, y *Breakdown) int {
		return cmp.Or(cmp.Compare(y.ResponseNs(), x.ResponseNs()), cmp.Compare(x.Name, y.Name))
	})
	return out
}

// ByThread are the threads of the program, those that waited longest first; virtual threads are one row.
func (a *Analysis) ByThread() []*Breakdown {
	seen := map[*Thread]bool{}
	for _, t := range a.threads {
		seen[t] = true
	}
	if a.virtual != nil {
		seen[a.virtual] = true
	}
	var out []*Breakdown
	for t := range maps.Keys(seen) {
		out = append(out, &Breakdown{Name: t.Name, Units: int64(t.Threads), Times: t.Times, For: a.list(t.tops)})
	}
	waited := func(b *Breakdown) units.Ns { return b.WallNs() - b.Times[waiting.CPU] - b.Times[waiting.Idle] }
	slices.SortFunc(out, func(x, y *Breakdown) int {
		return cmp.Or(cmp.Compare(waited(y), waited(x)), cmp.Compare(x.Name, y.Name))
	})
	return out
}
