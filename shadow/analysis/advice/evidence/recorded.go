package evidence

import (
	"cmp"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/predict"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session/unit"
)

// mostRecorded is the most units of a session that are kept one by one: 80 bytes each.
const mostRecorded = 4 * predict.MaxUnits

// recorded are the units of a pool one by one.
type recorded struct {
	list    []predict.Unit
	classes []uint32
	parts   []int32 // index into submissions.list of each; -1: it was not submitted
	// missing: some are not here.
	missing bool
}

func (r *recorded) merge(o *recorded) {
	r.list, r.classes, r.parts = append(r.list, o.list...), append(r.classes, o.classes...), append(r.parts, o.parts...)
	r.missing = r.missing || o.missing
}

// keep adds a unit that has ended.
func (a *advisor) keep(x *unit.Unit, p *poolSum) {
	if x.Inside {
		return
	}
	if a.kept++; a.kept > mostRecorded {
		p.recorded.missing = true
		return
	}
	u := predict.Unit{Due: x.Start, Start: x.Start, End: x.End, CPU: x.Work[granularity.CPU], Thread: x.Thread}
	if x.Queue.Measured() {
		u.Due -= units.MonoNs(x.Queue)
	}
	r := &p.recorded
	r.list, r.classes, r.parts = append(r.list, u), append(r.classes, x.Class), append(r.parts, a.submissions.find(x))
}

// replayable is what a replay of a pool needs.
func (a *advisor) replayable(p *poolSum, cpus int) *predict.Pool {
	r := &p.recorded
	if len(r.list) == 0 || len(r.list) > predict.MaxUnits {
		return nil
	}
	a.parents(r)
	for i := range r.list {
		u := &r.list[i]
		w := p.workers[u.Thread]
		if wall := units.Ns(u.End - u.Start); w != nil && w.Runnable.Measured() && u.CPU.Measured() && w.Wall > w.CPU {
			u.Ready = units.Ns(float64(max(0, wall-u.CPU)) * min(1, float64(w.Runnable)/float64(w.Wall-w.CPU)))
		}
	}
	predict.Sort(r.list)
	return &predict.Pool{Units: r.list, Workers: len(p.workers), Threads: p.Threads || p.Virtual, CPUs: cpus,
		Missing: r.missing || p.Summarised > 0, By: units.NotMeasured}
}

// parents finds the units that submitted others of their pool.
func (a *advisor) parents(r *recorded) {
	byThread := map[uint32][]int{}
	for i := range r.list {
		byThread[r.list[i].Thread] = append(byThread[r.list[i].Thread], i)
	}
	for _, on := range byThread {
		slices.SortFunc(on, func(x, y int) int { return cmp.Compare(r.list[x].Start, r.list[y].Start) })
	}
	for i, n := range r.parts {
		if n < 0 {
			continue
		}
		part := &a.submissions.list[n]
		if part.outer == 0 {
			continue
		}
		on := byThread[part.by]
		at, found := slices.BinarySearchFunc(on, part.at, func(k int, t units.MonoNs) int { return cmp.Compare(r.list[k].Start, t) })
		if !found {
			at--
		}
		if at >= 0 && on[at] != i && r.list[on[at]].End >= part.at {
			r.list[i].Parent = int32(on[at]) + 1
		}
	}
}

// beside adds to a replay what other threads of the program did, by the scheduling record.
func replayBeside(p *advice.Pool) {
	if p.Recorded == nil {
		return
	}
	p.Recorded.Beside = p.Elsewhere.OrZero()
	if by := p.Beside; by != nil && by.Submitter != nil {
		p.Recorded.By, p.Recorded.ByReady, p.Recorded.Apart = by.Submitter.Ran, by.Submitter.Ready, by.Submitter.Apart
		p.Recorded.Beside = max(0, p.Recorded.Beside-by.Submitter.Ran)
	}
}
