package gcreport

import (
	"fmt"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Stalls are the waits of the program's threads for the collector outside of pauses, in nanoseconds.
type Stalls struct {
	Count   int      `json:"count"`
	Threads int      `json:"threads"`
	TotalNs units.Ns `json:"total_ns"` // waited, summed over the threads
	// ReadyNs is what they then waited for a processor. With TotalNs, it is what the collector's log calls a stall.
	ReadyNs units.Ns `json:"runnable_ns"`
	MaxNs   units.Ns `json:"max_ns"`     // of a single one, both
	PacedNs units.Ns `json:"paced_ns"`   // the part, both, in which the collector slowed allocation down
	Of      int      `json:"of_threads"` // threads of the program that were running
}

func (s *Stalls) String() string {
	if s.Count == 0 {
		return "none"
	}
	return fmt.Sprintf("%s in %s of %d: %s, then %s waiting for a processor; the longest %s", units.FormatExact(int64(s.Count)),
		text.Plural(int64(s.Threads), "thread", "threads"), s.Of, units.FormatNs(s.TotalNs), units.FormatNs(s.ReadyNs), units.FormatNs(s.MaxNs))
}

// stalls adds the stalls, and the utilization with them.
func (r *Report) stalls(a *session.Activity, w activity.Span, stops []activity.Span) error {
	all, why, err := a.Stalls(w.From, w.To)
	if err != nil {
		return err
	}
	if why != "" {
		r.NotAvailable["stalls"] = why
		return nil
	}
	out, seen := &Stalls{Count: len(all)}, map[uint32]bool{}
	var spans []activity.Span
	for _, s := range all {
		seen[s.Thread] = true
		out.TotalNs += s.Len()
		out.ReadyNs += s.Ready
		if s.Paced {
			out.PacedNs += s.Len() + s.Ready
		}
		out.MaxNs = max(out.MaxNs, s.Len()+s.Ready)
		spans = append(spans, s.Span)
	}
	out.Threads = len(seen)
	if out.Of, err = ranIn(a, w); err != nil {
		return err
	}
	lengths := make([]units.Ns, len(r.MMU))
	for i, u := range r.MMU {
		lengths[i] = u.WindowNs
	}
	for i, u := range gc.Utilizations(gc.Stops(stops, spans, out.Of, w), w, lengths) {
		r.MMU[i].WithStalls = &u.Min
	}
	r.Stalls = out
	return nil
}

// ranIn is how many threads of the program were running at some time.
func ranIn(a *session.Activity, w activity.Span) (n int, err error) {
	ran := make([]bool, len(a.Threads))
	err = a.Stream(w.From, w.To)(func(s activity.Slice) error {
		if k := a.Threads[s.Thread].Kind; s.State == activity.Running && !ran[s.Thread] && (k == activity.KindApplication || k == activity.KindMain) {
			ran[s.Thread] = true
			n++
		}
		return nil
	})
	return n, err
}
