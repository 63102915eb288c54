package runner

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
)

// tell prints a line about a run that has ended.
func (r *Runner) tell(p experiment.Progress) {
	var line strings.Builder
	fmt.Fprintf(&line, "%s, run %d: ", p.Result.Point, p.Result.Invocation)
	if p.Result.Invocation < 1 {
		line.Reset()
		fmt.Fprintf(&line, "%s, warm-up: ", p.Result.Point)
	}
	if p.Result.Failed() {
		fmt.Fprintf(&line, "%s (%s)", p.Result.Failure, p.Result.Why)
	} else {
		line.WriteString(units.FormatNs(p.Result.Usage.Wall))
	}
	if d := p.Result.Disturbed; d != "" {
		line.WriteString("; disturbed: " + d)
		if p.Repeats {
			line.WriteString("; once more")
		}
	}
	if p.Total > 0 && p.Done < p.Total {
		fmt.Fprintf(&line, "; %d of %d, about %s left", p.Done, p.Total, roughly(p.Left))
	}
	r.Note("%s", text.OneLine(line.String()))
}

// roughly shows a time that is estimated.
func roughly(d time.Duration) string {
	switch {
	case d >= 2*time.Hour:
		return text.Plural(int64((d+30*time.Minute)/time.Hour), "hour", "hours")
	case d >= 2*time.Minute:
		return text.Plural(int64((d+30*time.Second)/time.Minute), "minute", "minutes")
	}
	return text.Plural(int64((d+time.Second-1)/time.Second), "second", "seconds")
}

// NoteFailures says which points have failed runs, and why the first of them did.
func (r *Runner) NoteFailures(points []experiment.Point) {
	for _, p := range points {
		all := r.Of(p)
		failed := slices.DeleteFunc(slices.Clone(all), func(r *experiment.Result) bool { return !r.Failed() })
		if len(failed) > 0 {
			f := failed[0]
			r.Note("%s: %d of %s failed: %s (%s); see %s", text.OneLine(p.String()), len(failed), text.PluralExact(len(all), "run", "runs"), f.Failure, text.OneLine(f.Why), logOf(r.Path(f)))
		}
	}
}
