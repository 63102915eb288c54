package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/estimate"
	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/show/view"
)

// hypothesisFileName is the file beside the runs that says what became of a hypothesis.
const hypothesisFileName = "hypothesis.json"

// hypothesisResult is the content of hypothesis.json, and the output of --validate with --explain.
type hypothesisResult struct {
	Verdict  explain.Verdict `json:"verdict"`
	Sentence string          `json:"sentence"`
	Metric   string          `json:"metric"`
	Cause    string          `json:"cause"`
	With     explain.Trial   `json:"with"`    // the session that was explained
	Without  []explain.Trial `json:"without"` // runs of the command without the cause
	Command  []string        `json:"command"`
}

// hypothesis explains a session, and holds the first cause against runs of a command from which it was taken away.
func (f *verticalFlags) hypothesis(ctx context.Context, env console.Env, session string, command []string) error {
	v, err := f.load(env, session)
	if err != nil {
		return err
	}
	_, e, err := f.explainAsked(v)
	if err != nil {
		return err
	}
	env.Note("%s", e.Sentence)
	h, ok := v.HypothesisOf(e)
	if !ok {
		return errors.New("there is no cause to test")
	}
	if h.Metric, _, err = v.rangeOf(f.explain); err != nil { // as it was written, so that each run finds it
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
	out := &hypothesisResult{Metric: h.Metric, Cause: h.Cause, With: with, Command: command, Without: []explain.Trial{}}
	for _, result := range r.x.Of(points[0]) {
		if result.Failed() || result.Invocation > f.repeat {
			continue
		}
		other, err := f.load(env, r.x.Path(result))
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
	out.Verdict = h.Judge(out.With, out.Without)
	out.Sentence = out.sentence(v, &h)
	if err := hpc.WriteJSON(filepath.Join(f.folder, hypothesisFileName), out); err != nil {
		return err
	}
	if f.Format == "json" {
		return view.Encode(env.Out, out)
	}
	if err := view.Rows(&f.Printer, out.rows(v, &h), trialColumns); err != nil {
		return err
	}
	if f.Format == "table" {
		env.Note("%s", out.Sentence)
	}
	return nil
}

// try looks at a session for a hypothesis.
func (f *verticalFlags) try(v *verticalView, h *explain.Hypothesis) (explain.Trial, bool) {
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

func (r *hypothesisResult) means() (loss, peak estimate.Interval) {
	var losses, peaks []float64
	for _, t := range r.Without {
		losses, peaks = append(losses, t.Loss), append(peaks, t.Peak)
	}
	return estimate.Mean(losses), estimate.Mean(peaks)
}

// sentence says what became of the hypothesis.
func (r *hypothesisResult) sentence(v *verticalView, h *explain.Hypothesis) string {
	loss, peak := r.means()
	unit := ""
	if m, err := v.rate("--explain", h.Cause); err == nil {
		unit = m.Unit
	}
	runs := text.PluralExact(len(r.Without), "run", "runs")
	cause := fmt.Sprintf("%s went up to %s in the session and to %s in %s without it", text.OneLine(h.Cause), explain.Format(r.With.Peak, unit), explain.Format(peak.Mean, unit), runs)
	if !h.Rises {
		cause = fmt.Sprintf("%s went down to %s in the session and to %s in %s without it", text.OneLine(h.Cause), explain.Format(r.With.Peak, unit), explain.Format(peak.Mean, unit), runs)
	}
	away := fmt.Sprintf("such changes took %s of the usual %s away, now %s", units.FormatPercent(r.With.Loss), text.OneLine(h.Metric), units.FormatPercent(loss.Mean))
	switch r.Verdict {
	case explain.Confirmed:
		return "Confirmed: " + cause + "; " + away + "."
	case explain.Refuted:
		return "Refuted: " + cause + ", and the change is still there: " + away + "."
	}
	return "Not tested: " + cause + ": the command did not take the cause away."
}

// trialRow is a quantity of the session and of the runs without the cause.
type trialRow struct {
	quantity string
	with     float64
	without  estimate.Interval
	show     func(float64) string
}

func (r *hypothesisResult) rows(v *verticalView, h *explain.Hypothesis) []*trialRow {
	loss, peak := r.means()
	unit := ""
	if m, err := v.rate("--explain", h.Cause); err == nil {
		unit = m.Unit
	}
	return []*trialRow{
		{h.Cause + ", largest", r.With.Peak, peak, func(x float64) string { return explain.Format(x, unit) }},
		{h.Metric + ", lost", r.With.Loss, loss, units.FormatPercent},
	}
}

var trialColumns = []listing.Column[*trialRow]{
	{Name: "quantity", Title: "quantity", Kind: listing.Name, Doc: "the cause's most extreme level, and the share of the metric that such changes took away", Value: func(r *trialRow) listing.Value { return listing.NameOf(r.quantity) }},
	{Name: "with", Title: "session", Kind: listing.Float, Doc: "in the session that was explained", Value: func(r *trialRow) listing.Value { return listing.FloatOf(r.with) }, Show: func(r *trialRow) string { return r.show(r.with) }},
	{Name: "without", Title: "without the cause", Kind: listing.Float, Doc: "mean of the runs without the cause", Value: func(r *trialRow) listing.Value { return listing.FloatOf(r.without.Mean) }, Show: func(r *trialRow) string { return r.show(r.without.Mean) }},
	{Name: "low", Title: "95 % from", Kind: listing.Float, Optional: true, Doc: "low end of its 95 % confidence interval", Value: func(r *trialRow) listing.Value { return listing.Opt(estimate.Number(r.without.Low), listing.FloatOf) }, Show: func(r *trialRow) string { return unlessNaN(r.without.Low, r.show) }},
	{Name: "high", Title: "to", Kind: listing.Float, Optional: true, Doc: "high end of it", Value: func(r *trialRow) listing.Value { return listing.Opt(estimate.Number(r.without.High), listing.FloatOf) }, Show: func(r *trialRow) string { return unlessNaN(r.without.High, r.show) }},
}
