package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// maxLatencies bounds how many executions a distribution of latencies may hold
// in memory.
const maxLatencies = 50_000_000

var errTooManyLatencies = fmt.Errorf("more than %d executions: choose a shorter time with --from and --to, or another class", maxLatencies)

// latency reads the executions of the class.
func (f *gcFlags) latency(s *session.Session, r *gcReport, w activity.Span) error {
	if f.class == "" {
		return nil
	}
	wanted := map[uint32]bool{}
	for _, c := range s.Classes {
		ok, _ := path.Match(f.class, c.Name) // checked before
		wanted[c.ID] = ok
	}
	parts := make([][]gc.Event, session.Workers())
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd, func(worker int, c *session.Chunk) error {
		for i, class := range c.Class {
			if wanted[class] && c.EndNs[i] != 0 && c.StartNs[i] >= w.From && c.StartNs[i] < w.To {
				parts[worker] = append(parts[worker], gc.Event{Start: c.StartNs[i], End: c.EndNs[i]})
			}
		}
		if len(parts[worker]) > maxLatencies/len(parts) {
			return errTooManyLatencies
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("latency of %s: %w", f.class, err)
	}
	events := slices.Concat(parts...)
	if len(events) == 0 {
		r.NotAvailable["latency"] = "no execution of a class that matches " + f.class + " was recorded one by one"
		return nil
	}
	r.Latency = append(r.Latency, latencyOf(gc.Simple(events)))
	for _, window := range gc.Windows(events) {
		r.Latency = append(r.Latency, latencyOf(gc.Metered(events, window, false)))
	}
	r.Latency = append(r.Latency, latencyOf(gc.Metered(events, 0, true)))
	return nil
}

func latencyOf(l gc.Latency) gcLatency {
	out := gcLatency{Kind: "simple", Whole: l.Whole, Count: l.Count, MaxNs: l.Max, Quantiles: map[string]units.Ns{}}
	if l.Window > 0 {
		out.Kind, out.WindowNs = "metered", &l.Window
	}
	if l.Whole {
		out.Kind = "metered"
	}
	for i, q := range gc.Quantiles {
		out.Quantiles[quantileName(q)] = l.Values[i]
	}
	return out
}

// quantileName is "p50", "p99.99".
func quantileName(q int) string { return "p" + strconv.FormatFloat(float64(q)/100, 'f', -1, 64) }
