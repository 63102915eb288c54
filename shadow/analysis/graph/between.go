package graph

import (
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// between are the waits of a thread, which computes in between, from its first unit to its last one.
func (r *reader) between(t *threadOf, waits []piece) (out []piece) {
	at, end := units.MonoNs(0), units.MonoNs(0)
	for _, i := range t.units {
		u := &r.rec.units[i]
		if at == 0 || u.start < at {
			at = u.start
		}
		end = max(end, u.end)
	}
	run := func(to units.MonoNs) {
		if at == 0 || to <= at {
			return
		}
		r.rec.divide(activity.Span{From: at, To: to}, func(part activity.Span, paused bool) {
			p := piece{Span: part, state: activity.Stalled}
			if !paused {
				p.state, p.run = activity.Running, part.Len()
			}
			out = append(out, p)
		})
	}
	for _, w := range waits {
		if w.From < at || w.To > end {
			continue
		}
		run(w.From)
		out, at = append(out, w), w.To
	}
	run(end)
	return r.unseen(t, out)
}

// leastUnseen is how long a virtual thread must not have computed between two waits to be taken to have waited there. It leaves its carrier then, which a moment
// that its clock does not count is no reason for.
const leastUnseen = units.Ns(1_000_000)

// unseen cuts what a virtual thread is taken to compute between its waits down to the CPU time of its units: the agent does not record
// every wait one by one. Where it computed is not known: no stretch is taken to have more than another one, unless that is shorter, and half of it at its begin. What is left of a
// stretch the thread was ready, as far as a carrier was, and else waited for something that is not known.
func (r *reader) unseen(t *threadOf, pieces []piece) (out []piece) {
	most := r.level(t, pieces)
	if most < 0 {
		return pieces
	}
	for _, p := range pieces {
		rest := p.run - most
		if p.waits() || rest < leastUnseen {
			out = append(out, p)
			continue
		}
		ready, held := r.readyCarriers(p.Span)
		p.held = min(rest, held)
		if ready = min(rest, ready); rest-ready < leastUnseen {
			p.run = p.Len() - ready
			out = append(out, p)
			continue
		}
		out = append(out, around(p, most, ready)...)
	}
	return out
}

// around divides a stretch: the thread computed, was ready for a CPU, waited, and computed as long again.
func around(p piece, run, ready units.Ns) []piece {
	first, wait, last := p, piece{state: activity.Futex}, p
	first.run, last.run, last.held = run/2, run-run/2, 0
	first.To = p.From + units.MonoNs(first.run+ready)
	last.From = p.To - units.MonoNs(last.run)
	wait.Span = activity.Span{From: first.To, To: last.From}
	return []piece{first, wait, last}
}

// level is how long a virtual thread computed at most in each stretch between its waits; -1: as long as the stretch.
func (r *reader) level(t *threadOf, pieces []piece) units.Ns {
	var cpu units.Ns
	for _, i := range t.units {
		u := &r.rec.units[i]
		if !t.virtual || u.cpu == 0 {
			return -1
		}
		cpu += u.cpu
	}
	var stretches []units.Ns
	for i := range pieces {
		if !pieces[i].waits() {
			stretches = append(stretches, pieces[i].run)
		}
	}
	slices.Sort(stretches)
	for i, n := range stretches {
		if each := cpu / units.Ns(len(stretches)-i); n > each {
			return each
		}
		cpu -= n
	}
	return -1
}

// readyCarriers is the longest that a carrier of virtual threads was ready for a CPU in a span, and the part of it while others had the CPUs.
func (r *reader) readyCarriers(s activity.Span) (most, held units.Ns) {
	for _, t := range r.carriers {
		ready, others := t.ready(s)
		if ready > most {
			most, held = ready, others
		}
	}
	return most, held
}
