package fleet

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/fleet"
	"stackagent/shadow/objects"
	"stackagent/shadow/rollup"
)

// queryFlags choose what a question is about.
type queryFlags struct {
	services       []string
	from, to, last string
	choose         fleet.Select
}

func (f *queryFlags) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.services, "service", nil, "only services whose names match (repeatable; * and ? allowed)")
	flags.StringVar(&f.choose.Version, "version", "", "only versions that match")
	flags.StringVar(&f.choose.Env, "env", "", "only environments that match")
	flags.StringVar(&f.choose.Instance, "instance", "", "only instances that match")
	flags.StringVar(&f.choose.Class, "class", "", "only classes that match")
	flags.BoolVar(&f.choose.App, "app", false, "leave out the JDK's own task classes")
	flags.StringVar(&f.last, "last", "7d", "how far back: 6h, 7d, 52w; from two days on, whole days (UTC)")
	flags.StringVar(&f.from, "from", "", "begin, instead of --last: 2026-03-01 or 2026-03-01T14:00:00Z")
	flags.StringVar(&f.to, "to", "", "end, not included (default: now)")
}

// span is a range of time.
type span struct{ from, to time.Time }

// wholeDays reports whether it begins and ends with days, or ends after now.
func (s span) wholeDays(now time.Time) bool {
	day := func(t time.Time) bool { return t.Equal(t.Truncate(24 * time.Hour)) }
	return day(s.from) && (day(s.to) || s.to.After(now))
}

// leastDays is the length from which a question is answered by days.
const leastDays = 48 * time.Hour

// check reads the flags.
func (f *queryFlags) check(now time.Time) (s span, err error) {
	for flag, pattern := range map[string]string{"version": f.choose.Version, "env": f.choose.Env, "instance": f.choose.Instance, "class": f.choose.Class} {
		if _, err := path.Match(pattern, ""); err != nil {
			return s, console.Usagef("--%s %s: a [ that nothing closes", flag, pattern)
		}
	}
	for _, pattern := range f.services {
		if _, err := path.Match(pattern, ""); err != nil {
			return s, console.Usagef("--service %s: a [ that nothing closes", pattern)
		}
	}
	f.choose.Match = glob
	s.to = now.UTC().Add(24 * time.Hour).Truncate(24 * time.Hour)
	if f.to != "" {
		if s.to, err = moment(f.to); err != nil {
			return s, console.Usagef("--to %s: %v", f.to, err)
		}
	}
	if f.from != "" {
		if s.from, err = moment(f.from); err != nil {
			return s, console.Usagef("--from %s: %v", f.from, err)
		}
	} else {
		d, err := units.ParseAge(f.last)
		if err != nil {
			return s, console.Usagef("--last %s: %v", f.last, err)
		}
		end := now.UTC()
		if f.to != "" {
			end = s.to
		}
		s.from = end.Add(-d)
		if d >= leastDays {
			s.from = s.from.Add(24*time.Hour - 1).Truncate(24 * time.Hour)
		}
	}
	if !s.from.Before(s.to) {
		return s, console.Usagef("nothing lies between %s and %s", s.from.Format(time.RFC3339), s.to.Format(time.RFC3339))
	}
	return s, nil
}

// glob matches names, in which slashes mean nothing.
func glob(pattern, name string) bool {
	plain := strings.NewReplacer("/", "\x00")
	ok, _ := path.Match(plain.Replace(pattern), plain.Replace(name)) // check has looked at the pattern
	return ok
}

func moment(s string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339, "2006-01-02T15:04"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("want a day (2026-03-01) or a time (2026-03-01T14:00:00Z)")
}

// store is a fleet's store and what asking it cost.
type store struct {
	env     console.Env
	objects objects.Store
	answers []*rollup.Answer
	began   time.Time
}

func openStore(ctx context.Context, env console.Env, address string) (*store, error) {
	s, err := objects.Open(ctx, address)
	if err != nil {
		return nil, fmt.Errorf("opening the fleet's store: %w", err)
	}
	return &store{env: env, objects: s, began: env.Now()}, nil
}

// level is the coarsest one that has what a question is about.
func (f *queryFlags) level(s span, now time.Time, by ...fleet.By) rollup.Level {
	if s.to.Sub(s.from) < leastDays || !s.wholeDays(now) {
		return rollup.Detail
	}
	instances := f.choose.Instance != "" || slices.Contains(by, fleet.Instance)
	classes := f.choose.Class != "" || f.choose.App || slices.ContainsFunc(by, func(b fleet.By) bool {
		return slices.Contains([]fleet.By{fleet.Class, fleet.Executor, fleet.Site, fleet.Wait}, b)
	})
	switch {
	case slices.Contains(by, fleet.Session), instances && classes:
		return rollup.Detail
	case instances:
		return rollup.Instance
	}
	return rollup.Day
}

// read passes the rows of a question to several listeners.
func (st *store) read(ctx context.Context, f *queryFlags, s span, level rollup.Level, columns rollup.Columns, to ...func([]rollup.Row) error) error {
	q := rollup.Query{From: s.from, To: s.to, Services: f.services, Level: level, Columns: columns}
	a, err := rollup.Open(st.objects).Read(ctx, q, func(rows []rollup.Row) error {
		for _, use := range to {
			if err := use(rows); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading %s: %w", st.objects, err)
	}
	st.answers = append(st.answers, a)
	return nil
}

// mostNamed bounds the objects that a note names.
const mostNamed = 3

// note says on stderr what is missing, and what the answer cost.
func (st *store) note(s span) {
	var all rollup.Answer
	for _, a := range st.answers {
		all.Files += a.Files
		all.Rows += a.Rows
		all.Requests += a.Requests
		all.Bytes += a.Bytes
		all.Missing = append(all.Missing, a.Missing...)
	}
	for i, m := range all.Missing {
		if i == mostNamed {
			st.env.Note("and %s more", text.PluralExact(len(all.Missing)-i, "object", "objects"))
			break
		}
		st.env.Note("the answer lacks %s: %s", text.Cell(m.Key), text.Cell(m.Why))
	}
	st.env.Note("%s to %s: %s of roll-ups in %s, %s, %s, %s",
		s.from.Format("2006-01-02 15:04"), s.to.Format("2006-01-02 15:04"), text.PluralExact(all.Rows, "row", "rows"), text.PluralExact(all.Files, "file", "files"),
		text.PluralExact(all.Requests, "request", "requests"), units.FormatBytes(all.Bytes), units.FormatNs(units.Ns(st.env.Now().Sub(st.began))))
}
