// Package iteration finds the iterations of a session: between lines of the program's output, or the
// executions of a class.
package iteration

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/store"
)

// Iteration is one iteration of a program.
type Iteration struct {
	Index    int // from 1
	From, To units.MonoNs
	Label    string // the line that ended it, or the class executed
}

// Span is its time.
func (i Iteration) Span() activity.Span { return activity.Span{From: i.From, To: i.To} }

// Set is the iterations of a session, by their ends.
type Set struct {
	Source string // what they are: `lines that match "..."`, `executions of com.acme.Iteration`
	All    []Iteration
	// Dropped is the number of markers after the last one here: which iterations are the last is not known.
	Dropped uint64
}

// ErrNone is a session in which nothing marks iterations.
var ErrNone = errors.New("nothing marks its iterations: name the class whose executions they are with --iterations-of; or when recording a line of the output, or a method, that ends each (shadow run --marker REGEX, --task 'CLASS#METHOD')")

// Find finds the iterations of a session. They are the executions of classes matching the glob; without one, what its
// output markers separate, and where none were recorded the executions of tasks that the user named.
func Find(s *session.Session, glob string) (*Set, error) {
	if glob == "" {
		file, err := marker.Read(s.Dir)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
		}
		if file != nil {
			set := byMarkers(file, activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs})
			if len(set.All) == 0 {
				return nil, fmt.Errorf("session %s: no line of the output matched --marker %q while it was recorded", s.Manifest.Session, file.End)
			}
			return set, nil
		}
	}
	set, err := byExecutions(s, glob)
	if err != nil {
		return nil, fmt.Errorf("session %s: looking for iterations: %w", s.Manifest.Session, err)
	}
	if len(set.All) == 0 {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, ErrNone)
	}
	return set, nil
}

// byMarkers are the iterations that output markers separate, in a session that was recorded during whole.
func byMarkers(file *marker.File, whole activity.Span) *Set {
	set := &Set{Source: fmt.Sprintf("lines of the output that match %q", file.End), Dropped: file.Dropped}
	from := whole.From
	for _, m := range file.Markers {
		if m.At <= whole.From { // before this JVM
			continue
		}
		if m.Begin {
			from = m.At
			continue
		}
		// A line that the program prints as it ends may arrive after the agent's last word.
		if span := (activity.Span{From: from, To: m.At}).Cut(whole); span.Len() > 0 {
			set.All = append(set.All, Iteration{Index: len(set.All) + 1, From: span.From, To: span.To, Label: m.Line})
		}
		from = m.At
	}
	return set
}

// byExecutions are the executions of classes matching glob, or of tasks that the user named if it is empty.
func byExecutions(s *session.Session, glob string) (*Set, error) {
	wanted := map[uint32]string{}
	for _, c := range s.Classes {
		named := c.Kinds&units.KindCustom != 0
		if glob != "" {
			ok, err := path.Match(glob, c.Name)
			if err != nil {
				return nil, fmt.Errorf("class %q: %w", glob, err)
			}
			named = ok
		}
		if named {
			wanted[c.ID] = c.Name
		}
	}
	if err := noneSummarised(s, wanted); err != nil {
		return nil, err
	}
	found := make([][]Iteration, session.Workers())
	err := s.ScanExecutions(store.ExecutionClass|store.ExecutionStart|store.ExecutionEnd, func(w int, c *session.Chunk) error {
		for i, class := range c.Class {
			if name, ok := wanted[class]; ok && c.EndNs[i] != 0 {
				found[w] = append(found[w], Iteration{From: c.StartNs[i], To: c.EndNs[i], Label: name})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	set := &Set{Source: "executions of " + cmp.Or(glob, "methods named with --task"), All: slices.Concat(found...)}
	slices.SortFunc(set.All, func(a, b Iteration) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	for i := range set.All {
		set.All[i].Index = i + 1
	}
	return set, nil
}

// noneSummarised refuses a class of which some executions are known by number only.
func noneSummarised(s *session.Session, wanted map[uint32]string) error {
	return s.Summaries(func(x *session.Summary) error {
		if name, ok := wanted[x.Class]; ok && x.Executions > 0 {
			return fmt.Errorf("executions of %s were summarised: record with --detail=all to have them one by one", name)
		}
		return nil
	})
}

// ErrTogether are iterations of which two run at the same time.
var ErrTogether = errors.New("run at the same time, so neither has figures of its own: name another class with --iterations-of")

// Apart cuts iterations to span. Each must end before the next one begins.
func Apart(all []Iteration, span activity.Span) ([]Iteration, error) {
	var out []Iteration
	for _, i := range all {
		cut := i.Span().Cut(span)
		if cut.Len() == 0 {
			continue
		}
		i.From, i.To = cut.From, cut.To
		if n := len(out); n > 0 && i.From < out[n-1].To {
			return nil, fmt.Errorf("iterations %d and %d %w", out[n-1].Index, i.Index, ErrTogether)
		}
		out = append(out, i)
	}
	if len(out) == 0 {
		return nil, errors.New("no iteration lies in this time")
	}
	return out, nil
}

// Windows are stretches of equal length in a session, at most so many, in place of iterations; what is left at the end is none.
func Windows(s *session.Session, every units.Ns, most int) []Iteration {
	var out []Iteration
	for from := s.Manifest.StartNs; from+units.MonoNs(every) <= s.Manifest.EndNs && len(out) < most; from += units.MonoNs(every) {
		out = append(out, Iteration{Index: len(out) + 1, From: from, To: from + units.MonoNs(every)})
	}
	return out
}
