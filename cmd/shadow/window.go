package main

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

// windowFlags choose a stretch of a session by the time since its start.
type windowFlags struct {
	from, to time.Duration
	flags    *pflag.FlagSet
}

func (w *windowFlags) addTo(cmd *cobra.Command) {
	w.flags = cmd.Flags()
	cmd.Flags().DurationVar(&w.from, "from", 0, "start of the window, since the start of the session (as 1.5s)")
	cmd.Flags().DurationVar(&w.to, "to", 0, "end of the window (default: the end)")
}

func (w *windowFlags) check() error {
	switch {
	case w.from < 0:
		return console.Usagef("--from %v: want a time since the start of the session, 0 or more", w.from)
	case w.to < 0 || w.to == 0 && w.flags.Changed("to"):
		return console.Usagef("--to %v: want a time since the start of the session, above 0", w.to)
	case w.to > 0 && w.to <= w.from:
		return console.Usagef("--from %v --to %v: the end must be after the start", w.from, w.to)
	}
	return nil
}

// String is how the window was asked for.
func (w *windowFlags) String() string {
	text := fmt.Sprintf("--from %v", w.from)
	if w.to != 0 {
		text += fmt.Sprintf(" --to %v", w.to)
	}
	return text
}

// of is the window of a session that was observed from..to and started at start. It notes an end that
// lies beyond the record.
func (w *windowFlags) of(env console.Env, start, from, to units.MonoNs) (activity.Span, error) {
	span := activity.Span{From: max(start+units.MonoNs(w.from), from), To: to}
	if w.from == 0 {
		span.From = from
	}
	if w.to != 0 {
		span.To = min(start+units.MonoNs(w.to), to)
	}
	if span.To <= span.From {
		return span, fmt.Errorf("%s: nothing was recorded in this time; the record ends %s after the start of the session",
			w, units.FormatNs(units.Ns(to-start)))
	}
	if end := start + units.MonoNs(w.to); w.to != 0 && end > to {
		env.Note("--to %v: the record ends %s after the start of the session, and so does what is shown", w.to, units.FormatNs(units.Ns(to-start)))
	}
	return span, nil
}

// openActivity opens the scheduling record and notes what is missing in it.
func openActivity(env console.Env, s *session.Session) (*session.Activity, error) {
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

// noteDamage notes what of the scheduling record could not be read. Call it after reading.
func noteDamage(env console.Env, a *session.Activity) {
	for _, d := range a.Damage() {
		env.Note("%s", text.OneLine(d.Error()))
	}
}
