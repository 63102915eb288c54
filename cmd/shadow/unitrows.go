package main

import (
	"errors"
	"fmt"
	"io"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/show/view"
)

// unitFormats are those of a listing of units.
var unitFormats = []string{"table", "csv", "json"}

// printUnits lists the units of a session in the order of their ends on each
// thread.
func printUnits(l *listflags.Flags, s *session.Session, filter summary.Filter, output string) error {
	u, err := unit.Of(s)
	if err != nil {
		return err
	}
	named, err := callsite.UnitNames(s)
	if err != nil {
		return err
	}
	before, n := len(s.Warnings), 0
	err = files.Write(l.Out, output, func(w io.Writer) error {
		to := view.Stream(&l.Printer, w, output != "", view.UnitsOfWork(s))
		limit := l.Limit()
		err := u.Each(func(x *unit.Unit) error {
			name := named(x)
			if !filter.MatchNamed(name.Name, name.From, name.Kinds) {
				return nil
			}
			if n++; limit > 0 && n > limit {
				return view.ErrEnough
			}
			return to.Write(view.UnitOfWork{Unit: x, Class: name.Name})
		})
		if err != nil && !errors.Is(err, view.ErrEnough) {
			return fmt.Errorf("listing the units of %s: %w", s.Dir, err)
		}
		l.NoteCut(errors.Is(err, view.ErrEnough))
		return to.Close()
	})
	if err != nil {
		return err
	}
	if err := noteSummarised(l, s, filter); err != nil {
		return err
	}
	if text := advice.NoteText(u.Note(0)); text != "" { // what was summarised has no row
		l.Note("%s", text)
	}
	if s.Manifest.Summarised.Sum() == 0 {
		choice.NoteNone(l.Env, s, filter, n)
	}
	l.Env.NoteFound(s, before)
	return nil
}
