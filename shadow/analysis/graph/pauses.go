package graph

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Why the JVM held a thread up where no pause with a known reason is the cause.
const (
	// Unnamed is a pause for which the JVM names no reason.
	Unnamed = "(reason not known)"
	// Stall is a wait for a collector that did not stop the program: for memory, or for the end of a collection.
	Stall = "(no pause)"
	// Safepoint is a stop for another operation of the JVM than a collection.
	Safepoint = "(other safepoint)"
)

// readPauses keeps the pauses of the collector that lie in the recording.
func (r *reader) readPauses() {
	for _, p := range r.s.Pauses { // by start
		p.StartNs, p.EndNs = max(p.StartNs, r.rec.From), min(p.EndNs, r.rec.To)
		if n := len(r.rec.pauses); p.StartNs < p.EndNs && (n == 0 || p.StartNs >= r.rec.pauses[n-1].EndNs) {
			r.rec.pauses = append(r.rec.pauses, p)
		}
	}
}

// pausesIn are the pauses of which a part lies in a span.
func (r *recording) pausesIn(s activity.Span) []session.Pause {
	first, _ := slices.BinarySearchFunc(r.pauses, s.From, func(p session.Pause, at units.MonoNs) int { return cmp.Compare(p.EndNs, at+1) })
	end := first
	for end < len(r.pauses) && r.pauses[end].StartNs < s.To {
		end++
	}
	return r.pauses[first:end]
}

// reason is why the collector held a thread up: that of the longest of its pauses in the time.
func (r *recording) reason(s activity.Span) string {
	why, longest := Stall, units.Ns(0)
	for _, p := range r.pausesIn(s) {
		if n := s.Cut(activity.Span{From: p.StartNs, To: p.EndNs}).Len(); n > longest {
			why, longest = cmp.Or(p.Cause, Unnamed), n
		}
	}
	return why
}

// divide calls use with the parts of a span in which the program ran, and in which a pause stopped it.
func (r *recording) divide(s activity.Span, use func(part activity.Span, paused bool)) {
	at := s.From
	for _, p := range r.pausesIn(s) {
		if from := max(at, p.StartNs); from > at {
			use(activity.Span{From: at, To: from}, false)
			at = from
		}
		to := min(s.To, p.EndNs)
		use(activity.Span{From: at, To: to}, true)
		at = to
	}
	if at < s.To {
		use(activity.Span{From: at, To: s.To}, false)
	}
}
