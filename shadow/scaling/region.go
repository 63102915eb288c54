// Package scaling computes the accounts of speedup stacks from sessions. It chooses the
// region and the application threads, and joins the scheduling record with pauses and
// tasks.
package scaling

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Region is the part of a session to account for.
type Region struct {
	// Markers: the executions of the marker class (Options.Marker); if Last > 0, only
	// the last ones.
	Markers bool
	Last    int
	// Tail is the length of the last part; 0: not given.
	Tail units.Ns
	// From and To are times since the start of the session; To 0: to the end.
	From, To units.Ns
}

// ByTime reports whether the region is given by times. Two runs do not do the same work in
// it.
func (r Region) ByTime() bool { return r.Tail > 0 || r.From > 0 || r.To > 0 }

// Errors of a region.
var (
	ErrRegion    = errors.New("no such region: use whole, markers, last:K (the last K markers), last:TIME (as last:10s) or FROM..TO (as 2s..5s)")
	ErrNoTime    = errors.New("its scheduling record has no time in it, as whoever recorded it was killed at once: record again")
	ErrNoMarkers = errors.New("no executions mark a region")
)

// ParseRegion reads a region: "whole", "markers", "last:K", "last:10s", "2s..5s".
func ParseRegion(text string) (Region, error) {
	bad := func() (Region, error) { return Region{}, fmt.Errorf("region %q: %w", text, ErrRegion) }
	if rest, ok := strings.CutPrefix(text, "last:"); ok {
		if n, err := strconv.Atoi(rest); err == nil && n > 0 {
			return Region{Markers: true, Last: n}, nil
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
		return Region{Markers: true}, nil
	}
	return bad()
}

// spans are the region's spans in a session observed during within, in order, without
// overlaps.
func (r Region) spans(s *session.Session, marker string, within activity.Span) ([]activity.Span, error) {
	if r.Markers {
		return markers(s, marker, r.Last, within)
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

// markers are the executions of classes matching glob, or of tasks that the user named
// if glob is empty; if last > 0, only the last ones.
func markers(s *session.Session, glob string, last int, within activity.Span) ([]activity.Span, error) {
	wanted := map[uint32]bool{}
	for _, c := range s.Classes {
		named := c.Kinds&units.KindCustom != 0
		if glob != "" {
			ok, err := path.Match(glob, c.Name)
			if err != nil {
				return nil, fmt.Errorf("marker %q: %w", glob, err)
			}
			named = ok
		}
		if named {
			wanted[c.ID] = true
		}
	}
	found := make([][]activity.Span, session.Workers())
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd, func(w int, c *session.Chunk) error {
		for i, class := range c.Class {
			if wanted[class] && c.EndNs[i] != 0 {
				found[w] = append(found[w], activity.Span{From: c.StartNs[i], To: c.EndNs[i]})
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("session %s: looking for markers: %w", s.Manifest.Session, err)
	}
	all := slices.Concat(found...)
	slices.SortFunc(all, func(a, b activity.Span) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	if last > 0 {
		all = all[max(0, len(all)-last):]
	}
	return apart(s, all, within)
}

// apart merges overlapping spans and cuts them to within.
func apart(s *session.Session, all []activity.Span, within activity.Span) ([]activity.Span, error) {
	var out []activity.Span
	for _, m := range all {
		m = m.Cut(within)
		if n := len(out); n > 0 && m.From < out[n-1].To {
			out[n-1].To = max(out[n-1].To, m.To)
		} else if m.Len() > 0 {
			out = append(out, m)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("session %s: %w: name their class with --marker, or a method of yours when recording (shadow run --task 'CLASS#METHOD')",
			s.Manifest.Session, ErrNoMarkers)
	}
	return out, nil
}
