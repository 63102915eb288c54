package fleet

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"time"

	"stackagent/internal/label"
	"stackagent/internal/units"
	"stackagent/shadow/fleet/rollup"
)

// Question is what all questions say.
type Question struct {
	Services       []string // globs; none: all
	From, To, Last string   // as a user writes them
	Select         Select
	// Sees says whose roll-ups may be read; nil: everybody's.
	Sees func(service string) bool
}

// Wrong is what is wrong with a part of a question.
type Wrong struct{ Part, Value, Why string }

// Error says it in one line.
func (w *Wrong) Error() string {
	if w.Part == "" {
		return w.Why
	}
	return fmt.Sprintf("%s %s: %s", w.Part, w.Value, w.Why)
}

// Span is a range of time; To is not in it.
type Span struct{ From, To time.Time }

// String is for messages.
func (s Span) String() string {
	return s.From.Format("2006-01-02 15:04") + " to " + s.To.Format("2006-01-02 15:04")
}

// wholeDays reports whether it begins and ends with days, or ends after now.
func (s Span) wholeDays(now time.Time) bool {
	day := func(t time.Time) bool { return t.Equal(t.Truncate(24 * time.Hour)) }
	return day(s.From) && (day(s.To) || s.To.After(now))
}

// byDaysFrom is the length from which a question is answered by days.
const byDaysFrom = 48 * time.Hour

// Check reads a question. An error is a Wrong.
func (q *Question) Check(now time.Time) (s Span, err error) {
	patterns := [][2]string{{"version", q.Select.Version}, {"env", q.Select.Env}, {"instance", q.Select.Instance}, {"class", q.Select.Class}}
	for _, pattern := range q.Services {
		patterns = append(patterns, [2]string{"service", pattern})
	}
	for _, p := range patterns {
		if _, err := path.Match(p[1], ""); err != nil {
			return s, &Wrong{p[0], p[1], "a [ that nothing closes"}
		}
	}
	q.Select.Match = label.Glob
	s.To = now.UTC().Add(24 * time.Hour).Truncate(24 * time.Hour)
	if q.To != "" {
		if s.To, err = moment(q.To); err != nil {
			return s, &Wrong{"to", q.To, err.Error()}
		}
	}
	if q.From != "" {
		if s.From, err = moment(q.From); err != nil {
			return s, &Wrong{"from", q.From, err.Error()}
		}
	} else {
		d, err := units.ParseAge(q.Last)
		if err != nil {
			return s, &Wrong{"last", q.Last, err.Error()}
		}
		end := now.UTC()
		if q.To != "" {
			end = s.To
		}
		s.From = end.Add(-d)
		if d >= byDaysFrom {
			s.From = s.From.Add(24*time.Hour - 1).Truncate(24 * time.Hour)
		}
	}
	if !s.From.Before(s.To) {
		return s, &Wrong{Why: fmt.Sprintf("nothing lies between %s and %s", s.From.Format(time.RFC3339), s.To.Format(time.RFC3339))}
	}
	return s, nil
}

func moment(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a day (2026-03-01) or a time (2026-03-01T14:00:00Z)")
}

// level is the coarsest one that has what a question is about.
func (q *Question) level(s Span, now time.Time, by By) rollup.Level {
	if s.To.Sub(s.From) < byDaysFrom || !s.wholeDays(now) {
		return rollup.Detail
	}
	instances := q.Select.Instance != "" || by == Instance
	classes := q.Select.Class != "" || q.Select.App || slices.Contains([]By{Class, Executor, Site, Wait}, by)
	switch {
	case by == Session, instances && classes:
		return rollup.Detail
	case instances:
		return rollup.Instance
	}
	return rollup.Day
}
