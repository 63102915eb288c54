package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// maxBehalf is how many threads are asked at most on whose behalf they ended a wait.
const maxBehalf = 8

// behalf is the thread whose unit ended a wait, and when. A worker that is in no unit, and did not just end one, acts for whoever
// woke it shortly before: as a pool ends, each idle worker wakes the next one, and the last of them whoever waits for the end.
func (a *assembly) behalf(w *waitOf) (uint32, units.MonoNs) {
	by, at := w.by, w.To
	if t := a.rec.threads[by]; t != nil && t.virtual && w.lock { // it may have begun to wait since
		return by, max(t.computed(at), at-afterLeaving)
	}
	for range maxBehalf {
		t := a.rec.threads[by]
		if t == nil || a.atUnit(t, at) {
			break
		}
		p := t.waitBefore(at)
		if p == nil || p.by == 0 || p.by == w.waiter || p.To < w.From || t.unready(p.To, at) > afterEnd {
			return w.by, w.To
		}
		by, at = p.by, p.To
	}
	if t := a.rec.threads[by]; t == nil || !a.atUnit(t, at) {
		return w.by, w.To
	}
	return by, at
}

// atUnit reports whether a thread was in a unit, or had just ended one.
func (a *assembly) atUnit(t *threadOf, at units.MonoNs) bool {
	n, _ := slices.BinarySearchFunc(t.units, at, func(i uint32, at units.MonoNs) int {
		if a.rec.units[i].start <= at {
			return -1
		}
		return 1
	})
	if n == 0 {
		return false
	}
	if t.ends == nil {
		last := units.MonoNs(0)
		t.ends = make([]units.MonoNs, 0, len(t.units))
		for _, i := range t.units {
			last = max(last, a.rec.units[i].end)
			t.ends = append(t.ends, last)
		}
	}
	return t.ends[n-1] >= at || t.justEnded(t.ends[n-1], at)
}

// afterLast is the most that may lie between the end of a worker's unit and what it does then: code that runs for the first time.
const afterLast = 5_000_000

// justEnded reports whether what a thread does at a time is a part of the end of its unit. A worker that did not wait for another thread of the program since
// has not begun to look for its next unit.
func (t *threadOf) justEnded(end, at units.MonoNs) bool {
	took := t.unready(end, at)
	return took <= afterEnd || t.worker && took <= afterLast && !t.waited(end, at)
}

// waited reports whether a thread slept in a time, or waited until another thread of the program went on.
func (t *threadOf) waited(from, to units.MonoNs) bool {
	n, _ := slices.BinarySearchFunc(t.pieces, from, func(p piece, from units.MonoNs) int { return cmp.Compare(p.To, from+1) })
	for ; n < len(t.pieces) && t.pieces[n].From < to; n++ {
		if p := &t.pieces[n]; p.waits() && (p.by != 0 || p.state == activity.Sleeping) {
			return true
		}
	}
	return false
}

// waitBefore is the last wait of a thread that was over by then; nil: none.
func (t *threadOf) waitBefore(at units.MonoNs) *piece {
	n, _ := slices.BinarySearchFunc(t.pieces, at, func(p piece, at units.MonoNs) int {
		if p.To <= at {
			return -1
		}
		return 1
	})
	for n--; n >= 0; n-- {
		if t.pieces[n].waits() {
			return &t.pieces[n]
		}
	}
	return nil
}

// unready is the time between two moments without what the thread was ready for a CPU and had none.
func (t *threadOf) unready(from, to units.MonoNs) units.Ns {
	ready, _ := t.ready(activity.Span{From: from, To: to})
	return units.Ns(to-from) - ready
}

// ready is how long the thread was ready for a CPU in a span and had none, and the part of it while threads that are not the program's had the CPUs.
func (t *threadOf) ready(s activity.Span) (ready, held units.Ns) {
	_, ready, held = t.used(s)
	return ready, held
}

// used is how long the thread was on a CPU in a span, and what ready says.
func (t *threadOf) used(s activity.Span) (ran, ready, held units.Ns) {
	n, _ := slices.BinarySearchFunc(t.pieces, s.From, func(p piece, from units.MonoNs) int { return cmp.Compare(p.To, from+1) })
	for ; n < len(t.pieces) && t.pieces[n].From < s.To; n++ {
		if p := &t.pieces[n]; !p.waits() {
			part := p.Cut(s)
			run, others := t.ran(p, part)
			ran, ready, held = ran+run, ready+part.Len()-run, held+others
		}
	}
	return ran, ready, held
}

// took is in which thousandths of a span between two units the thread was on a CPU, and in which it was ready for one.
func (t *threadOf) took(s activity.Span) (run, waited uint16) {
	ran, ready, _ := t.used(s)
	length := max(1, s.Len())
	return uint16(1000 * ran / length), uint16(1000 * ready / length)
}

// ran is how long the thread was on a CPU in a part of a piece that is no wait, and how long it was ready while threads that are not the program's had
// the CPUs. Where that is not known, each part has it in the measure of the whole.
func (t *threadOf) ran(p *piece, part activity.Span) (run, held units.Ns) {
	if len(t.stays) == 0 {
		of := float64(part.Len()) / float64(p.Len())
		return min(units.Ns(float64(p.run)*of), part.Len()), units.Ns(float64(p.held) * of)
	}
	n, _ := slices.BinarySearchFunc(t.stays, part.From, func(s activity.Span, from units.MonoNs) int { return cmp.Compare(s.To, from+1) })
	for ; n < len(t.stays) && t.stays[n].From < part.To; n++ {
		run += t.stays[n].Cut(part).Len()
	}
	if ready := part.Len() - run; ready > 0 {
		held = units.Ns(float64(p.held) * float64(ready) / float64(p.Len()-p.run))
	}
	return run, held
}
