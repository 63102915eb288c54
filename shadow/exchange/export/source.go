// Package export reads what the exports of a session have in common: its executions, submissions and waits in a window,
// in bounded memory.
package export

import (
	"errors"
	"fmt"
	"strings"

	"stackagent/granularity/activity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Source is what of a session is exported: all that overlaps Span, with its true times.
type Source struct {
	Session  *session.Session
	Span     activity.Span
	Filter   summary.Filter // of executions and submissions
	Max      int            // executions; 0: all
	Progress func(what string, done, total uint64)
	// Counted, if not nil, gets each execution of the session, also outside the window, of other classes and beyond Max:
	// what is counted over time does not depend on what is written one by one.
	Counted func(*Execution)

	Written   int  // executions that were handed out last
	Truncated bool // there were more than Max

	pass map[uint32]bool // by class
}

// Execution is an execution of a task.
type Execution struct {
	Task, Outer uint64
	Class       uint32
	Thread      uint32
	Site        uint32 // that executes it; 0: not known
	Start, End  units.MonoNs
	Wall, CPU   units.Ns // or NotMeasured
	SelfCPU     units.Ns
	Queue       units.Ns
	Submitted   units.MonoNs // 0: not known
	Flags       wire.ExecutionFlags
	Extra       []units.Ns // by Session.ExtraMetrics; used again
}

// TraceSpan is the span in which it was executed; nil: none is known.
func (e *Execution) TraceSpan(t *session.Traces) *session.Span {
	end := e.End
	if e.Running() {
		end = 0
	}
	if span, ok := t.Of(e.Task, e.Start, end); ok {
		return &span
	}
	return nil
}

// Running reports whether it had not ended when the program did. Its End is that of the session then.
func (e *Execution) Running() bool { return e.Flags&wire.Running != 0 }

var errEnough = errors.New("enough rows")

// passes reports whether tasks of the class are exported.
func (s *Source) passes(class uint32) bool {
	if !s.Filter.Active() {
		return true
	}
	ok, known := s.pass[class]
	if !known {
		if s.pass == nil {
			s.pass = map[uint32]bool{}
		}
		c := s.Session.ClassByID(class)
		ok = c != nil && s.Filter.Match(c.Name, c.Kinds)
		s.pass[class] = ok
	}
	return ok
}

// overlaps reports whether a stretch of time lies in the window, at least in part. A window that reaches to the start or
// the end of the session has no bound there.
func (s *Source) overlaps(from, to units.MonoNs) bool {
	m := &s.Session.Manifest
	return (from <= s.Span.To || s.Span.To >= m.EndNs) && (to >= s.Span.From || s.Span.From <= m.StartNs)
}

// Left says what of the session is not exported by choice, or was never in it, in a sentence each.
func (s *Source) Left() (notes []string) {
	m := &s.Session.Manifest
	if from, to := units.Ns(s.Span.From-m.StartNs), units.Ns(s.Span.To-m.StartNs); from > 0 || s.Span.To < m.EndNs {
		notes = append(notes, fmt.Sprintf("only what overlaps %s to %s of the session is in it", units.FormatNs(from), units.FormatNs(to)))
	}
	if s.Filter.Active() {
		var only []string
		if s.Filter.App {
			only = append(only, "of the program and its libraries (--app)")
		}
		if s.Filter.Class != "" {
			only = append(only, fmt.Sprintf("that match %q (--class)", text.Clean(s.Filter.Class, '?')))
		}
		notes = append(notes, "only tasks of classes "+strings.Join(only, " and ")+" are in it")
	}
	if x := session.IncompleteOf(m); x != nil {
		notes = append(notes, x.Sentence())
	}
	return notes
}

func (s *Source) show(what string, done, total uint64) {
	if s.Progress != nil {
		s.Progress(what, done, total)
	}
}

// Executions calls f with the executions of the window, in the order of the batches: on each thread nearly that of
// their ends. f must not keep what it is given.
func (s *Source) Executions(f func(*Execution) error) error {
	m := &s.Session.Manifest
	total, done := m.Stored.Executions-min(m.Stored.Executions, m.Summarised.Executions), uint64(0)
	s.Written, s.Truncated = 0, false
	var e Execution
	err := s.Session.Executions(func(c *session.Chunk) error {
		for i := range c.TaskID {
			s.read(&e, c, i)
			if s.Counted != nil {
				s.Counted(&e)
			}
			if !s.overlaps(e.Start, e.End) || !s.passes(e.Class) {
				continue
			}
			if s.Max > 0 && s.Written == s.Max {
				s.Truncated = true
				if s.Counted != nil {
					continue
				}
				return errEnough
			}
			s.Written++
			if err := f(&e); err != nil {
				return err
			}
		}
		done += uint64(len(c.TaskID))
		s.show("writing executions", done, total)
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return fmt.Errorf("reading the executions of session %s: %w", m.Session, err)
	}
	return nil
}

func (s *Source) read(e *Execution, c *session.Chunk, i int) {
	*e = Execution{
		Task: c.TaskID[i], Outer: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Start: c.StartNs[i], End: c.EndNs[i],
		Wall: c.WallNs[i], CPU: c.CPUNs[i], SelfCPU: c.SelfCPUNs[i], Queue: units.NotMeasured, Flags: wire.ExecutionFlags(c.Flags[i]), Extra: e.Extra[:0],
	}
	if i < len(c.Site) {
		e.Site = c.Site[i]
	}
	if i < len(c.QueueNs) && c.QueueNs[i].Measured() {
		e.Queue = c.QueueNs[i]
		e.Submitted = e.Start - units.MonoNs(e.Queue)
		if i < len(c.DelayNs) && c.DelayNs[i].Measured() {
			e.Submitted -= units.MonoNs(c.DelayNs[i])
		}
	}
	for k := range c.Extra {
		e.Extra = append(e.Extra, c.Extra[k][i])
	}
	if e.Running() || e.End < e.Start {
		e.End = max(e.Start, s.Session.Manifest.EndNs)
	}
}

// Submission is the submission of a task.
type Submission struct {
	Task                          uint64
	Class, Thread, Executor, Site uint32
	Flags                         wire.SubmissionFlags
	At                            units.MonoNs
}

// Submissions calls f with the submissions of the window, without the records that are none.
func (s *Source) Submissions(f func(*Submission) error) error {
	return s.eachSubmission(func(x *Submission) error {
		if !s.overlaps(x.At, x.At) || !s.passes(x.Class) {
			return nil
		}
		return f(x)
	})
}

func (s *Source) eachSubmission(f func(*Submission) error) error {
	err := s.Session.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			flags := wire.SubmissionFlags(c.Flags[i])
			if flags&(wire.NoSubmission|wire.Rejected) != 0 {
				continue
			}
			x := Submission{Task: id, Class: c.Class[i], Thread: c.Thread[i], Executor: c.Executor[i], Site: c.Site[i], Flags: flags, At: c.AtNs[i]}
			if err := f(&x); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the submissions of session %s: %w", s.Session.Manifest.Session, err)
	}
	return nil
}

// Waits calls f with the waits of the window that were recorded one by one. Their number is bounded by the agent.
func (s *Source) Waits(f func(*store.Wait) error) error {
	var failed error
	err := s.Session.Waits(func(w *store.Wait) {
		if failed == nil && s.overlaps(units.MonoNs(w.StartNs), units.MonoNs(w.EndNs)) {
			failed = f(w)
		}
	})
	return errors.Join(err, failed)
}

// WaitSums calls f with the sums of the window: they stand for waits that were not recorded one by one.
func (s *Source) WaitSums(f func(*store.WaitSum) error) error {
	var failed error
	err := s.Session.WaitSums(func(w *store.WaitSum) {
		if failed == nil && w.Waits > 0 && s.overlaps(units.MonoNs(w.FromNs), units.MonoNs(w.ToNs)) {
			failed = f(w)
		}
	})
	return errors.Join(err, failed)
}

// Pauses are the pauses of the window.
func (s *Source) Pauses() []session.Pause {
	var all []session.Pause
	for _, p := range s.Session.Pauses {
		if s.overlaps(p.StartNs, p.EndNs) {
			all = append(all, p)
		}
	}
	return all
}

// Summaries calls f with the summaries of the window: they stand for executions that have no row.
func (s *Source) Summaries(f func(*session.Summary) error) error {
	err := s.Session.Summaries(func(x *session.Summary) error {
		if x.Executions == 0 || !s.overlaps(x.FromNs, x.ToNs) || !s.passes(x.Class) {
			return nil
		}
		return f(x)
	})
	if err != nil {
		return fmt.Errorf("reading the summaries of session %s: %w", s.Session.Manifest.Session, err)
	}
	return nil
}

// ExecutorName is what an executor is called; "" where there is none, or it is not known.
func (s *Source) ExecutorName(id uint32) string {
	x := s.Session.ExecutorByID(id)
	if x == nil {
		return ""
	}
	name := x.Class
	if x.Name != "" {
		name += " " + x.Name
	}
	return fmt.Sprintf("%s #%d", name, id)
}
