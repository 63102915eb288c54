package wait

import (
	"cmp"
	"slices"

	"stackagent/granularity/waiting"
	"stackagent/internal/units"
)

// Unit is where the time of the units of a class went. Times add up to their wall time, and that and QueueNs to the response time.
type Unit struct {
	Class      string
	Units      int64
	Summarised int64 // of Units, not recorded one by one
	Queued     int64 // units whose queue time is known
	QueueNs    units.Ns
	Times      waiting.Times
	tops
}

func (u *Unit) add(n int64, queue units.Ns, t *waiting.Times) {
	u.Units += n
	if queue.Measured() {
		u.Queued++
		u.QueueNs += queue
	}
	u.Times.Add(t)
}

func (u *Unit) merge(o *Unit) {
	u.Units += o.Units
	u.Summarised += o.Summarised
	u.Queued += o.Queued
	u.QueueNs += o.QueueNs
	u.Times.Add(&o.Times)
}

// Thread is where the time of a thread went, or of all virtual threads.
type Thread struct {
	Name    string
	Kind    string
	Threads int
	Times   waiting.Times
	tops
}

// tops is the time for each thing waited for, by its number.
type tops map[uint32]units.Ns

func (t *tops) forWhat(what uint32, d units.Ns) {
	if d <= 0 {
		return
	}
	if *t == nil {
		*t = tops{}
	}
	(*t)[what] += d
}

// For is a thing that was waited for, and how long.
type For struct {
	What
	WaitedNs units.Ns
}

// list is in the order of time, longest first.
func (a *Analysis) list(t tops) []For {
	byWhat := map[What]units.Ns{}
	for what, d := range t {
		byWhat[a.whats[what]] += d
	}
	var out []For
	for w, d := range byWhat {
		out = append(out, For{w, d})
	}
	slices.SortFunc(out, func(x, y For) int {
		return cmp.Or(cmp.Compare(y.WaitedNs, x.WaitedNs), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Blocker, y.Blocker), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Lock, y.Lock))
	})
	return out
}
