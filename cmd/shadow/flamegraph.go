package main

import (
	"io"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/listflags"
	"stackagent/granularity"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

// writeStacks writes the work by executor, call site and class for tools that draw flame graphs.
func writeStacks(l *listflags.Flags, dir string, o summary.HotspotOptions, output string) error {
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	x := &exporting{env: l.Env, session: s, filter: o.Filter, output: output, units: o.Units, sort: o.Sort, before: len(s.Warnings)}
	if l.Format == "pprof" {
		err = exportPprof(x)
	} else {
		err = exportCollapsed(x)
	}
	if err != nil {
		return err
	}
	l.Env.NoteFound(s, x.before)
	return nil
}

// exportStacks writes the whole stacks on which tasks were executed, where the session has them, else what stands for them.
func exportStacks(x *exporting, stacks func(io.Writer, *session.Session, []summary.Stack) error,
	contexts func(io.Writer, *session.Session, []summary.Context) error) error {
	s := x.session
	if !wholeStacks(s, x.units) {
		found, err := summary.StacksOf(s, summary.Options{Filter: x.filter, Units: x.units})
		if err != nil {
			return err
		}
		choice.NoteNone(x.env, s, x.filter, len(found))
		return x.file(func(w io.Writer) error { return stacks(w, s, found) })
	}
	order := x.sort
	if order == "" {
		order = granularity.ByWork
	}
	found, err := summary.Contexts(s, x.filter, order)
	if err != nil {
		return err
	}
	choice.NoteNone(x.env, s, x.filter, len(found))
	if err := x.file(func(w io.Writer) error { return contexts(w, s, found) }); err != nil {
		return err
	}
	if n := s.Every(); n > 1 {
		x.env.Note("estimates: the context of one event in %d was recorded; the values are scaled by that", n)
	}
	return nil
}
