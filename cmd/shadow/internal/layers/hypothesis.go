package layers

import (
	"context"
	"errors"
	"fmt"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc/monitor"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/experiment/hypothesis"
	"stackagent/shadow/show/view"
)

// hypothesis explains a session, and holds the first cause against runs of a command from which it was taken away.
func (f *Flags) hypothesis(ctx context.Context, env console.Env, session string, command []string) error {
	v, err := f.Load(env, session)
	if err != nil {
		return err
	}
	_, e, err := f.ExplainAsked(v)
	if err != nil {
		return err
	}
	env.Note("%s", e.Sentence)
	h, ok := v.HypothesisOf(e)
	if !ok {
		return errors.New("there is no cause to test")
	}
	if h.Metric, _, err = v.rangeOf(f.Explain); err != nil { // as it was written, so that each run finds it
		return err
	}
	with, ok := f.try(v, &h)
	if !ok {
		return fmt.Errorf("%s has no values in %s", h.Metric, session)
	}
	r, points, err := f.sampled(ctx, env, "vertical-hypothesis", command, []string{monitor.All})
	if err != nil {
		return err
	}
	out := &hypothesis.Result{With: with, Command: command, Without: []explain.Trial{}}
	for _, result := range r.Good(points[0], f.Repeat) {
		other, err := f.Load(env, r.Path(result))
		if err != nil {
			return err
		}
		if t, ok := f.try(other, &h); ok {
			out.Without = append(out.Without, t)
		}
	}
	if len(out.Without) == 0 {
		return errors.New("every run of the command failed, or the metric has no values in them")
	}
	unit := ""
	if m, err := v.rate("--explain", h.Cause); err == nil {
		unit = m.Unit
	}
	if err := out.Judge(f.folder, &h, unit); err != nil {
		return err
	}
	if f.Format == "json" {
		return view.Encode(env.Out, out)
	}
	if err := view.Rows(&f.Printer, out.Rows(&h, unit), hypothesis.Columns); err != nil {
		return err
	}
	if f.Format == "table" {
		env.Note("%s", out.Sentence)
	}
	return nil
}

// try looks at a session for a hypothesis.
func (f *Flags) try(v *verticalView, h *explain.Hypothesis) (explain.Trial, bool) {
	target, err := v.rate("--explain", h.Metric)
	if err != nil {
		return explain.Trial{}, false
	}
	var cause *formula.Metric // a monitor that has no values there: it never happened
	if m, err := v.rate("--explain", h.Cause); err == nil {
		cause = m
	}
	return h.Try(target, cause)
}
