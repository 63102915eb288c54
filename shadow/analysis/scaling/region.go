// Package scaling computes the accounts of speedup stacks from sessions. It chooses the
// region and the application threads, and joins the scheduling record with pauses and
// tasks.
package scaling

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
)

// Region is the part of a session to account for.
type Region struct {
	// Iterations chooses iterations of the program; nil: it does not.
	Iterations *iteration.Choice
	// IterationsOf is a glob over classes whose executions are the iterations; "": see iteration.Find.
	IterationsOf string
	// Tail is the length of the last part; 0: not given.
	Tail units.Ns
	// From and To are times since the start of the session; To 0: to the end.
	From, To units.Ns
}

// Whole reports whether the region is all of the session.
func (r Region) Whole() bool { return r.Iterations == nil && !r.ByTime() }

// ByTime reports whether the region is given by times. Two runs do not do the same work in
// it.
func (r Region) ByTime() bool { return r.Tail > 0 || r.From > 0 || r.To > 0 }

// Errors of a region.
var (
	ErrRegion = errors.New("no such region: use whole, markers (all iterations), last:K (the last K iterations), last:TIME (as last:10s) or FROM..TO (as 2s..5s)")
	ErrNoTime = errors.New("its scheduling record has no time in it, as whoever recorded it was killed at once: record again")
)

// ParseRegion reads a region: "whole", "markers", "last:K", "last:10s", "2s..5s".
func ParseRegion(text string) (Region, error) {
	bad := func() (Region, error) { return Region{}, fmt.Errorf("region %q: %w", text, ErrRegion) }
	if rest, ok := strings.CutPrefix(text, "last:"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return Region{Iterations: &iteration.Choice{Last: n}}, nil
		}
		if d, err := time.ParseDuration(rest); err == nil && d > 0 {
			return Region{Tail: units.Ns(d)}, nil
		}
		return bad()
	}
	if from, to, ok := strings.Cut(text, ".."); ok {
		var r Region
		for _, end := range []struct {
			text string
			into *units.Ns
		}{{from, &r.From}, {to, &r.To}} {
			d, err := time.ParseDuration(cmp.Or(end.text, "0s"))
			if err != nil || d < 0 {
				return bad()
			}
			*end.into = units.Ns(d)
		}
		if r.To != 0 && r.To <= r.From {
			return bad()
		}
		return r, nil
	}
	switch text {
	case "", "whole":
		return Region{}, nil
	case "markers":
		return Region{Iterations: &iteration.Choice{}}, nil
	}
	return bad()
}

// spans are the region's spans in a session observed during within, in order, without
// overlaps.
func (r Region) spans(s *session.Session, within activity.Span) ([]activity.Span, error) {
	if r.Iterations != nil {
		return r.iterations(s, within)
	}
	w := within
	start := s.Manifest.StartNs
	if r.From > 0 {
		w.From = start + units.MonoNs(r.From)
	}
	if r.To > 0 {
		w.To = start + units.MonoNs(r.To)
	}
	if r.Tail > 0 {
		w.From = w.To - units.MonoNs(r.Tail)
	}
	if within.Len() == 0 {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, ErrNoTime)
	}
	if w = w.Cut(within); w.Len() == 0 {
		return nil, fmt.Errorf("session %s: the region lies outside the record, which is %s long: choose another",
			s.Manifest.Session, units.FormatNs(within.Len()))
	}
	return []activity.Span{w}, nil
}

// iterations are the times of the chosen iterations, merged where they overlap.
func (r Region) iterations(s *session.Session, within activity.Span) ([]activity.Span, error) {
	set, err := iteration.Find(s, r.IterationsOf)
	if err != nil {
		return nil, err
	}
	chosen, err := set.Choose(*r.Iterations)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	var out []activity.Span
	for _, i := range chosen {
		m := i.Span().Cut(within)
		if n := len(out); n > 0 && m.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, m.To)
		} else if m.Len() > 0 {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("session %s: the iterations lie outside the scheduling record", s.Manifest.Session)
	}
	return out, nil
}
