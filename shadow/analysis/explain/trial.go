package explain

import (
	"math"
	"slices"

	"stackagent/granularity/vertical"
	"stackagent/shadow/analysis/formula"
)

// Trial is what a test of a hypothesis looks at in a run, from when the metric first reached its usual level. Section 3.5
// of the paper on vertical profiling calls such a test validation.
type Trial struct {
	Loss float64 `json:"loss"` // share of the metric's usual level that it was away from it, in changes like the explained one
	Peak float64 `json:"peak"` // highest mean of the cause over a time as long as the change
}

// Hypothesis is that a monitor causes a change of a metric.
type Hypothesis struct {
	Metric string
	Cause  string
	Length int     // of the change, in samples
	Level  float64 // the metric in the change, as a share of that before; below 1: it fell
	Rises  bool    // the cause was higher in the change than before
}

// HypothesisOf is that of an explanation: its first cause. ok: there is one.
func (p *Profile) HypothesisOf(e *Explanation) (h Hypothesis, ok bool) {
	if len(e.Causes) == 0 || e.Before == nil || e.During == nil || *e.Before == 0 {
		return h, false
	}
	c := &e.Causes[0]
	length := p.samplesIn(e.Span)
	rises := c.Before == nil || c.During != nil && *c.During > *c.Before
	return Hypothesis{Metric: e.Metric, Cause: c.Monitor, Length: length, Level: *e.During / *e.Before, Rises: rises}, length > 0
}

func (p *Profile) samplesIn(s Span) int {
	if n := p.Lag(1); n > 0 {
		return int((s.ToNs - s.FromNs) / n)
	}
	return 0
}

// Try looks at a run for a hypothesis. ok: the metric has values there.
func (h *Hypothesis) Try(target, cause *formula.Metric) (t Trial, ok bool) {
	window := max(h.Length, 1)
	level := smooth(target.Values, max(window/4, 1)) // shorter, so that its edges stay
	usual := median(target.Values)
	if math.IsNaN(usual) || usual == 0 {
		return t, false
	}
	warm := slices.IndexFunc(level, func(v float64) bool { return v >= usual })
	if warm < 0 {
		return t, false
	}
	edge := (1 + h.Level) / 2
	lost, n := 0.0, 0
	for _, v := range level[warm:] {
		if math.IsNaN(v) {
			continue
		}
		n++
		share := v / usual
		if h.Level < 1 && share < edge || h.Level > 1 && share > edge {
			lost += math.Abs(1 - share)
		}
	}
	if n == 0 {
		return t, false
	}
	t.Loss = lost / float64(n)
	if cause == nil { // it never happened there
		return t, true
	}
	for i, v := range smooth(cause.Values, window)[warm:] {
		if higher := v > t.Peak; !math.IsNaN(v) && (i == 0 || higher == h.Rises) {
			t.Peak = v
		}
	}
	return t, true
}

// smooth is the mean of each window of n samples that begins at an index; of the last ones of what is left.
func smooth(values []float64, n int) []float64 {
	out := make([]float64, len(values))
	for i := range values {
		out[i] = vertical.Mean(values[i:min(i+n, len(values))])
	}
	return out
}

// Verdict is what runs without the supposed cause say about it.
type Verdict string

// The verdicts.
const (
	Confirmed Verdict = "confirmed" // without the cause, the change is gone
	Refuted   Verdict = "refuted"   // without the cause, the change is still there
	Untested  Verdict = "untested"  // the cause was still there
)

// gone is the share of what was there that may be left of something that is gone.
const gone = 0.5

// Judge compares a run with runs in which the cause was to be taken away, by their means.
func (h *Hypothesis) Judge(with Trial, without []Trial) Verdict {
	var loss, peak float64
	for _, t := range without {
		loss, peak = loss+t.Loss/float64(len(without)), peak+t.Peak/float64(len(without))
	}
	switch {
	case h.Rises && peak > gone*with.Peak, !h.Rises && peak < with.Peak/gone:
		return Untested
	case loss < gone*with.Loss:
		return Confirmed
	}
	return Refuted
}
