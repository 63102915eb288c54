package choice

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
)

// Window chooses a stretch of a session by the time since its start, or by iterations.
type Window struct {
	Iterations
	From, To time.Duration // since the start of the session; 0: its start and end
	flags    *pflag.FlagSet
	Gaps     bool // iterations may have others between them, as each is looked at by itself
}

// AddTo gives cmd the flags of a window.
func (w *Window) AddTo(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	cmd.Flags().DurationVar(&w.From, "from", 0, "start of the window, since the start of the session (as 1.5s)")
	cmd.Flags().DurationVar(&w.To, "to", 0, "end of the window (default: the end)")
	w.Iterations.AddIteration(cmd)
}

// Check refuses a window that ends before it begins, and one that is chosen twice.
func (w *Window) Check() error {
	switch {
	case w.From < 0:
		return console.Usagef("--from %v: want a time since the start of the session, 0 or more", w.From)
	case w.To < 0 || w.To == 0 && w.flags != nil && w.flags.Changed("to"):
		return console.Usagef("--to %v: want a time since the start of the session, above 0", w.To)
	case w.To > 0 && w.To <= w.From:
		return console.Usagef("--from %v --to %v: the end must be after the start", w.From, w.To)
	case w.iteration != "" && !w.byTime():
		return w.Iterations.CheckIteration()
	case w.iteration != "":
		return console.Usagef("--iteration %s: use it without --from and --to", w.iteration)
	}
	return nil
}

func (w *Window) byTime() bool { return w.From != 0 || w.To != 0 }

// Whole reports whether nothing less than the session was asked for.
func (w *Window) Whole() bool { return !w.byTime() && w.iteration == "" }

// String is how the window was asked for.
func (w *Window) String() string {
	if w.iteration != "" {
		return "--iteration " + w.iteration
	}
	text := fmt.Sprintf("--from %v", w.From)
	if w.To != 0 {
		text += fmt.Sprintf(" --to %v", w.To)
	}
	return text
}

// Of is the window of a session that was observed from..to. It notes an end that lies beyond the record.
func (w *Window) Of(env console.Env, s *session.Session, from, to units.MonoNs) (activity.Span, error) {
	span, start := activity.Span{From: from, To: to}, s.Manifest.StartNs
	if w.iteration != "" {
		chosen, err := w.chosen(s)
		if err != nil {
			return span, err
		}
		for k := range len(chosen) - 1 {
			if chosen[k+1].Index != chosen[k].Index+1 && !w.Gaps {
				return span, fmt.Errorf("%s: other iterations lie between these, and one window holds them too: look at each by itself", w)
			}
		}
		// From the begin of the first to the end of the last, with what is between them.
		span = activity.Span{From: chosen[0].From, To: chosen[len(chosen)-1].To}.Cut(span)
	}
	if w.From != 0 {
		span.From = max(start+units.MonoNs(w.From), from)
	}
	if w.To != 0 {
		span.To = min(start+units.MonoNs(w.To), to)
	}
	if span.Len() == 0 {
		return span, fmt.Errorf("%s: nothing was recorded in this time; the record ends %s after the start of the session",
			w, units.FormatNs(units.Ns(to-start)))
	}
	if end := start + units.MonoNs(w.To); w.To != 0 && end > to {
		env.Note("--to %v: the record ends %s after the start of the session, and so does what is shown", w.To, units.FormatNs(units.Ns(to-start)))
	}
	return span, nil
}

// Span is the window of a session; nil: the whole of it.
func (w *Window) Span(env console.Env, s *session.Session) (*activity.Span, error) {
	if w.Whole() {
		return nil, nil
	}
	span, err := w.Of(env, s, s.Manifest.StartNs, s.Manifest.EndNs)
	return &span, err
}

// OpenActivity opens the scheduling record and notes what is missing in it.
func OpenActivity(env console.Env, s *session.Session) (*session.Activity, error) {
	a, err := s.Activity()
	if err != nil {
		return nil, err
	}
	if a.Lost > 0 {
		env.Note("%s of switches lost; what the threads did there is unknown", text.PluralExact(a.Lost, "record", "records"))
	}
	if !a.Complete {
		env.Note("the scheduling record ends %s after the start of the session: it is still being written, or was cut",
			units.FormatNs(units.Ns(a.To-s.Manifest.StartNs)))
	}
	return a, nil
}

// NoteDamage notes what of the scheduling record could not be read. Call it after reading.
func NoteDamage(env console.Env, a *session.Activity) {
	for _, d := range a.Damage() {
		env.Note("%s", text.OneLine(d.Error()))
	}
}
