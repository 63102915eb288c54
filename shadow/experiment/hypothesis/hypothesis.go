// Package hypothesis holds a supposed cause against runs of a command from which it was taken away.
package hypothesis

import (
	"fmt"
	"path/filepath"

	"stackagent/granularity/estimate"
	"stackagent/hpc"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/experiment/perturb"
)

// FileName is the file beside the runs that says what became of a hypothesis.
const FileName = "hypothesis.json"

// Result is the content of hypothesis.json, and the output of --validate with --explain.
type Result struct {
	Verdict  explain.Verdict `json:"verdict"`
	Sentence string          `json:"sentence"`
	Metric   string          `json:"metric"`
	Cause    string          `json:"cause"`
	With     explain.Trial   `json:"with"`    // the session that was explained
	Without  []explain.Trial `json:"without"` // runs of the command without the cause
	Command  []string        `json:"command"`
}

// Judge says what became of a hypothesis, whose cause has this unit, and keeps that in dir.
func (r *Result) Judge(dir string, h *explain.Hypothesis, unit string) error {
	r.Metric, r.Cause = h.Metric, h.Cause
	r.Verdict = h.Judge(r.With, r.Without)
	r.Sentence = r.sentence(h, unit)
	return hpc.WriteJSON(filepath.Join(dir, FileName), r)
}

func (r *Result) means() (loss, peak estimate.Interval) {
	var losses, peaks []float64
	for _, t := range r.Without {
		losses, peaks = append(losses, t.Loss), append(peaks, t.Peak)
	}
	return estimate.Mean(losses), estimate.Mean(peaks)
}

// sentence says what became of the hypothesis.
func (r *Result) sentence(h *explain.Hypothesis, unit string) string {
	loss, peak := r.means()
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

// TrialRow is a quantity of the session and of the runs without the cause.
type TrialRow struct {
	quantity string
	with     float64
	without  estimate.Interval
	show     func(float64) string
}

// Rows are the table of the result; unit is that of the cause.
func (r *Result) Rows(h *explain.Hypothesis, unit string) []*TrialRow {
	loss, peak := r.means()
	return []*TrialRow{
		{h.Cause + ", largest", r.With.Peak, peak, func(x float64) string { return explain.Format(x, unit) }},
		{h.Metric + ", lost", r.With.Loss, loss, units.FormatPercent},
	}
}

// Columns are those of a TrialRow.
var Columns = []listing.Column[*TrialRow]{
	{Name: "quantity", Title: "quantity", Kind: listing.Name, Doc: "the cause's most extreme level, and the share of the metric that such changes took away", Value: func(r *TrialRow) listing.Value { return listing.NameOf(r.quantity) }},
	{Name: "with", Title: "session", Kind: listing.Float, Doc: "in the session that was explained", Value: func(r *TrialRow) listing.Value { return listing.FloatOf(r.with) }, Show: func(r *TrialRow) string { return r.show(r.with) }},
	{Name: "without", Title: "without the cause", Kind: listing.Float, Doc: "mean of the runs without the cause", Value: func(r *TrialRow) listing.Value { return listing.FloatOf(r.without.Mean) }, Show: func(r *TrialRow) string { return r.show(r.without.Mean) }},
	{Name: "low", Title: "95 % from", Kind: listing.Float, Optional: true, Doc: "low end of its 95 % confidence interval", Value: func(r *TrialRow) listing.Value { return listing.Opt(estimate.Number(r.without.Low), listing.FloatOf) }, Show: func(r *TrialRow) string { return perturb.UnlessNaN(r.without.Low, r.show) }},
	{Name: "high", Title: "to", Kind: listing.Float, Optional: true, Doc: "high end of it", Value: func(r *TrialRow) listing.Value { return listing.Opt(estimate.Number(r.without.High), listing.FloatOf) }, Show: func(r *TrialRow) string { return perturb.UnlessNaN(r.without.High, r.show) }},
}
