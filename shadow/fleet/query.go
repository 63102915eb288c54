package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"stackagent/internal/text"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store/objectstore"
)

// Store is a fleet's store, and what was asked of it.
type Store struct {
	Objects objectstore.Store
	Now     func() time.Time
	Cost    rollup.Answer // of all questions so far
}

// read passes the rows of a question to several listeners.
func (st *Store) read(ctx context.Context, q *Question, s Span, level rollup.Level, columns rollup.Columns, to ...func([]rollup.Row) error) error {
	a, err := rollup.Open(st.Objects).Read(ctx, rollup.Query{From: s.From, To: s.To, Services: q.Services, Sees: q.Sees, Level: level, Columns: columns}, func(rows []rollup.Row) error {
		for _, use := range to {
			if err := use(rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", st.Objects, err)
	}
	st.Cost.Files += a.Files
	st.Cost.Rows += a.Rows
	st.Cost.Requests += a.Requests
	st.Cost.Bytes += a.Bytes
	st.Cost.Missing = append(st.Cost.Missing, a.Missing...)
	return nil
}

// groups reads what several groupings need, each on the coarsest level that has it.
func (st *Store) groups(ctx context.Context, q *Question, s Span, by ...By) (func(By) []*Row, error) {
	groups := map[By]*Groups{}
	byLevel := map[rollup.Level][]func([]rollup.Row) error{}
	for _, b := range by {
		groups[b] = NewGroups(b, q.Select)
		level := q.level(s, st.Now(), groups[b].By)
		byLevel[level] = append(byLevel[level], groups[b].Add)
	}
	for _, level := range rollup.Levels {
		if to := byLevel[level]; len(to) > 0 {
			if err := st.read(ctx, q, s, level, 0, to...); err != nil {
				return nil, err
			}
		}
	}
	return func(b By) []*Row { return groups[b].Rows(ByName) }, nil
}

// Sorts are what the rows of Top can be sorted by.
func Sorts() []string { return slices.Sorted(maps.Keys(Weights)) }

// Top sums up roll-ups by what rows are about, the greatest first.
func (st *Store) Top(ctx context.Context, q *Question, s Span, by By, sort string) ([]*Row, error) {
	g := NewGroups(by, q.Select)
	if err := st.read(ctx, q, s, q.level(s, st.Now(), g.By), 0, g.Add); err != nil {
		return nil, err
	}
	return g.Rows(sort), nil
}

// Outliers are the instances that are unlike the others of their service.
func (st *Store) Outliers(ctx context.Context, q *Question, s Span) ([]Outlier, error) {
	rows, err := st.groups(ctx, q, s, Instance)
	if err != nil {
		return nil, err
	}
	return Outliers(rows(Instance)), nil
}

// Trends say how services develop from day to day.
func (st *Store) Trends(ctx context.Context, q *Question, s Span) ([]Trend, error) {
	rows, err := st.groups(ctx, q, s, Day)
	if err != nil {
		return nil, err
	}
	return Trends(rows(Day), st.Now()), nil
}

// Findings are those of sessions, grouped.
func (st *Store) Findings(ctx context.Context, q *Question, s Span) ([]Found, error) {
	f := NewFindings(q.Select)
	if err := st.read(ctx, q, s, q.level(s, st.Now(), Class), rollup.NoHistograms, f.Add); err != nil {
		return nil, err
	}
	return f.List(), nil
}

// VersionDiff is a comparison of two versions as JSON has it.
type VersionDiff struct {
	VersionA string `json:"version_a"` // the version before
	VersionB string `json:"version_b"` // the version after
	*diff.Diff
}

// ErrNothing is that there is nothing to compare.
var ErrNothing = errors.New("two versions are needed")

// Versions compares two versions of a service; "": the last ones to appear.
func (st *Store) Versions(ctx context.Context, q *Question, s Span, a, b string) (*VersionDiff, error) {
	v := NewVersions(q.Select)
	if err := st.read(ctx, q, s, rollup.Detail, rollup.NoHistograms, v.Add); err != nil {
		return nil, err
	}
	d, err := compare(v, a, b)
	if err != nil {
		return nil, err
	}
	return &VersionDiff{d.A.Program, d.B.Program, d}, nil
}

func compare(v *Versions, a, b string) (*diff.Diff, error) {
	if a == "" || b == "" {
		all := v.Versions()
		if len(all) < 2 {
			return nil, fmt.Errorf("%w, and that time has %s of the service; a longer one may have more", ErrNothing, text.PluralExact(len(all), "version", "versions"))
		}
		if b == "" {
			b = all[len(all)-1]
		}
		for i := len(all) - 1; i >= 0 && a == ""; i-- {
			if all[i] != b {
				a = all[i]
			}
		}
	}
	for _, version := range []string{a, b} {
		if all := v.Versions(); !slices.Contains(all, version) {
			return nil, &Wrong{Why: fmt.Sprintf("there is nothing of version %q; there is of %s", version, strings.Join(all, ", "))}
		}
	}
	return v.Compare(a, b)
}
