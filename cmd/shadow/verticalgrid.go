package main

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/unit"
	"stackagent/shadow/vertical"
)

// spanOf is a time since the start of a session.
func spanOf(start units.MonoNs, from, to time.Duration) activity.Span {
	return activity.Span{From: start + units.MonoNs(from), To: start + units.MonoNs(to)}
}

// grid chooses the samples: of a fixed length, or from event to event.
func (f *verticalFlags) grid(s *session.Session, window *activity.Span, o *vertical.Options) (err error) {
	whole := activity.Span{From: s.Manifest.StartNs, To: s.Manifest.StartNs + units.MonoNs(s.Duration())}
	if window != nil {
		whole = *window
	}
	class, ofTasks := strings.CutPrefix(f.every, "task:")
	switch {
	case f.every == "":
		return nil
	case f.every == "gc":
		for _, p := range s.Spans() {
			o.Edges = append(o.Edges, p.From)
		}
		o.Edges = append(o.Edges, whole.From, whole.To)
	case f.every == "iteration":
		each, err := f.window.apart(s, whole)
		if err != nil {
			return err
		}
		for _, i := range each {
			o.Edges = append(o.Edges, i.From)
		}
		o.Edges = append(o.Edges, each[len(each)-1].To)
	case ofTasks:
		if o.Edges, err = startsOf(s, class); err != nil {
			return err
		}
		o.Edges = append(o.Edges, whole.To)
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

// startsOf are the starts of all executions of classes whose names match a glob.
func startsOf(s *session.Session, glob string) ([]units.MonoNs, error) {
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return nil, console.Usagef("--every task:%s: want a class, or a glob", glob)
	}
	r, err := unit.NewReader(s)
	if err != nil {
		return nil, err
	}
	var starts []units.MonoNs
	matches := map[uint32]bool{}
	err = r.Each(func(u *unit.Unit) error {
		is, known := matches[u.Class]
		if !known {
			is, _ = path.Match(glob, unit.ClassName(s, u.Class))
			matches[u.Class] = is
		}
		if is {
			starts = append(starts, u.Start)
		}
		return nil
	})
	if err == nil && len(starts) == 0 {
		err = fmt.Errorf("--every task:%s: no task class matches", glob)
	}
	return starts, err
}
