package layers

import (
	"fmt"
	"slices"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/timeseries"
	"stackagent/shadow/session"
)

// spanOf is a time since the start of a session.
func spanOf(start units.MonoNs, from, to time.Duration) activity.Span {
	return activity.Span{From: start + units.MonoNs(from), To: start + units.MonoNs(to)}
}

// grid chooses the samples: of a fixed length, or from event to event.
func (f *Flags) grid(s *session.Session, window *activity.Span, o *timeseries.Options) (err error) {
	whole := activity.Span{From: s.Manifest.StartNs, To: s.Manifest.StartNs + units.MonoNs(s.Duration())}
	if window != nil {
		whole = *window
	}
	switch {
	case f.every == "":
		return nil
	case f.every == "gc":
		for _, p := range s.Spans() {
			o.Edges = append(o.Edges, p.From)
		}
		o.Edges = append(o.Edges, whole.From, whole.To)
	case f.every == "iteration":
		each, err := f.window.Apart(s, whole)
		if err != nil {
			return err
		}
		for _, i := range each {
			o.Edges = append(o.Edges, i.From)
		}
		o.Edges = append(o.Edges, each[len(each)-1].To)
	default:
		length, err := time.ParseDuration(f.every)
		if err != nil || length <= 0 {
			return console.Usagef("--every %s: use a length as 10ms, gc, iteration or task:CLASS", f.every)
		}
		o.Every = units.Ns(length)
		return nil
	}
	slices.Sort(o.Edges)
	o.Edges = slices.DeleteFunc(slices.Compact(o.Edges), func(at units.MonoNs) bool { return at < whole.From || at > whole.To })
	if len(o.Edges) < 2 {
		return fmt.Errorf("--every %s: there is no such event in this time", f.every)
	}
	return nil
}
