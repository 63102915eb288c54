// Package latency reads the latencies of the tasks of a class from a session: of every
// execution, recorded one by one or summarised.
package latency

import (
	"fmt"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/latency"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Tasks are the latencies of the tasks of a class, or of several whose names match.
type Tasks struct {
	Class string // the only class that matches, else the glob
	Units bool   // no execution has a class that matches; units of work have such a name

	Events     []latency.Event   // recorded one by one
	Summarised []latency.Summary // of the others, from start to end

	// Responses are the queue time and the time from start to end: what a client sees.
	Responses           []units.Ns
	SummarisedResponses []latency.Summary
	NoResponse          string // why there are none, or not all; "": all are known
}

// maxEvents bounds how many events are held in memory.
const maxEvents = 50_000_000

// Read reads the tasks of the classes that match the glob: executions of such a class, else
// units of work that bear such a name. A span takes those that start in it; nil: all.
// Responses are read if wanted.
func Read(s *session.Session, glob string, span *activity.Span, responses bool) (*Tasks, error) {
	r := &reader{s: s, filter: summary.Filter{Class: glob}, span: span, wanted: map[uint32]bool{}, titles: map[uint32]string{}, seen: map[string]bool{}}
	if err := r.filter.Check(); err != nil {
		return nil, err
	}
	for _, c := range s.Classes {
		r.wanted[c.ID] = r.filter.Match(c.Name, c.Kinds)
	}
	for _, step := range []func() error{r.executions, r.summaries} {
		if err := step(); err != nil {
			return nil, fmt.Errorf("latency of %s in session %s: %w", glob, s.Manifest.Session, err)
		}
	}
	t := &r.tasks
	t.Units = t.Count() == 0
	if t.Units || responses {
		if err := r.units(responses); err != nil {
			return nil, fmt.Errorf("latency of %s in session %s: %w", glob, s.Manifest.Session, err)
		}
	}
	r.noResponse()
	if t.Class = glob; len(r.seen) == 1 {
		for name := range r.seen {
			t.Class = name
		}
	}
	return t, nil
}

// Count is the number of tasks whose latency is known.
func (t *Tasks) Count() int64 { return int64(len(t.Events)) + t.SummarisedCount() }

// SummarisedCount is the number of those that were not recorded one by one.
func (t *Tasks) SummarisedCount() int64 { return count(t.Summarised) }

func count(list []latency.Summary) (n int64) {
	for _, s := range list {
		n += int64(s.Count)
	}
	return n
}

// NoMetered says why there is no metered latency; "": there is.
func (t *Tasks) NoMetered() string {
	if n := t.SummarisedCount(); n > 0 {
		return fmt.Sprintf("%s summarised, and metered latency needs the start of each: record with detail=all", text.PluralExact(n, "execution is", "executions are"))
	}
	return ""
}

// reader gathers Tasks.
type reader struct {
	s      *session.Session
	filter summary.Filter
	span   *activity.Span
	wanted map[uint32]bool   // by class
	titles map[uint32]string // of units that bear no class's name, by number
	seen   map[string]bool   // the names of what was found
	tasks  Tasks
}

func (r *reader) inside(start units.MonoNs) bool {
	return r.span == nil || start >= r.span.From && start < r.span.To
}

// executions reads those recorded one by one.
func (r *reader) executions() error {
	parts, found := make([][]latency.Event, session.Workers()), make([]map[uint32]bool, session.Workers())
	err := r.s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd, func(worker int, c *session.Chunk) error {
		if found[worker] == nil {
			found[worker] = map[uint32]bool{}
		}
		for i, class := range c.Class {
			if r.wanted[class] && c.EndNs[i] != 0 && r.inside(c.StartNs[i]) {
				parts[worker] = append(parts[worker], latency.Event{Start: c.StartNs[i], End: c.EndNs[i]})
				found[worker][class] = true
			}
		}
		if len(parts[worker]) > maxEvents/len(parts) {
			return errTooMany
		}
		return nil
	})
	for _, classes := range found {
		for class := range classes {
			r.see(class)
		}
	}
	r.tasks.Events = slices.Concat(parts...)
	return err
}

var errTooMany = fmt.Errorf("more than %d executions: choose another class, or record with detail=summary", maxEvents)

// summaries reads the rest from the summaries of the classes.
func (r *reader) summaries() error {
	return r.s.Summaries(func(x *session.Summary) error {
		if !r.wanted[x.Class] {
			return nil
		}
		return r.summary(x)
	})
}

// ErrPartly is a span that begins or ends inside a summary.
var ErrPartly = fmt.Errorf("executions are summarised over more than this time: choose the whole session, or record with detail=all")

func (r *reader) summary(x *session.Summary) error {
	if w := r.span; w != nil {
		if x.ToNs <= w.From || x.FromNs >= w.To {
			return nil
		}
		if x.FromNs < w.From || x.ToNs > w.To {
			return ErrPartly
		}
	}
	for _, m := range x.Measures {
		if m.Count == 0 {
			continue
		}
		of := latency.Summary{Count: int64(m.Count), Timed: int64(x.TimedOf(&m)), Sum: m.SumNs, Min: m.MinNs, Max: m.MaxNs, Buckets: m.Buckets}
		switch {
		case m.Metric == wire.MetricWall:
			r.tasks.Summarised = append(r.tasks.Summarised, of)
			r.see(x.Class)
		case store.MetricName(m.Metric, nil) == "response":
			r.tasks.SummarisedResponses = append(r.tasks.SummarisedResponses, of)
		}
	}
	return nil
}

// units reads units of work: their responses and, where no execution has a class that
// matches, their times.
func (r *reader) units(responses bool) error {
	u, err := unit.Of(r.s)
	if err != nil {
		return err
	}
	names, err := r.names()
	if err != nil {
		return err
	}
	t := &r.tasks
	err = u.Each(func(x *unit.Unit) error {
		class := x.Class
		if names != nil && t.Units {
			class = names.OfUnit(x)
		}
		if !r.wanted[class] || x.End == 0 || !r.inside(x.Start) {
			return nil
		}
		if t.Units {
			t.Events = append(t.Events, latency.Event{Start: x.Start, End: x.End})
			r.see(class)
		}
		if responses && x.Queue.Measured() {
			t.Responses = append(t.Responses, x.Queue+units.Ns(x.End-x.Start))
		}
		if len(t.Events) > maxEvents || len(t.Responses) > maxEvents {
			return errTooMany
		}
		return nil
	})
	if err != nil || !t.Units {
		return err
	}
	return u.Summaries(func(x *session.Summary) error {
		class := x.Class
		if names != nil {
			class = names.OfSummaries(class, true)
		}
		if !r.wanted[class] || r.wanted[x.Class] {
			return nil // summaries has read those of the class itself
		}
		of := *x
		of.Class = class
		return r.summary(&of)
	})
}
