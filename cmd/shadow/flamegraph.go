package main

import (
	"io"

	"stackagent/cmd/shadow/internal/files"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/shadow/flame"
	"stackagent/shadow/session"
	"stackagent/shadow/summary"
)

// writeStacks writes the work by executor, call site and class for tools that draw flame graphs.
func writeStacks(l *listing.Flags, dir string, o summary.HotspotOptions, output string) error {
	s, err := l.Env.Open(dir)
	if err != nil {
		return err
	}
	before := len(s.Warnings)
	if wholeStacks(s, o) {
		return writeContexts(l, s, o, output)
	}
	stacks, err := summary.StacksOf(s, summary.Options{Filter: o.Filter, Units: o.Units})
	if err != nil {
		return err
	}
	err = files.Write(l.Env.Out, output, func(w io.Writer) error {
		if l.Format == "collapsed" {
			return flame.Collapsed(w, stacks)
		}
		return flame.Pprof(w, s, stacks)
	})
	if err != nil {
		return err
	}
	l.Env.NoteFound(s, before)
	return nil
}

// writeContexts writes the whole stacks on which tasks were executed.
func writeContexts(l *listing.Flags, s *session.Session, o summary.HotspotOptions, output string) error {
	before := len(s.Warnings)
	contexts, err := summary.Contexts(s, o.Filter, o.Sort)
	if err != nil {
		return err
	}
	err = files.Write(l.Env.Out, output, func(w io.Writer) error {
		if l.Format == "collapsed" {
			return flame.CollapsedContexts(w, contexts)
		}
		return flame.PprofContexts(w, s, contexts)
	})
	if err != nil {
		return err
	}
	l.Env.NoteFound(s, before)
	if n := s.Every(); n > 1 {
		l.Env.Note("estimates: the context of one event in %d was recorded; the values are scaled by that", n)
	}
	return nil
}
