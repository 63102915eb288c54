package explain

import (
	"cmp"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/estimate"
	"stackagent/granularity/vertical"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/formula"
)

// Span is a time since the start of the session.
type Span struct {
	FromNs units.Ns `json:"from_ns"`
	ToNs   units.Ns `json:"to_ns"`
}

// Explanation is why a metric changed.
type Explanation struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Span
	Found    bool     `json:"found"`   // the range was not given, but found
	Similar  []Span   `json:"similar"` // ranges in which it changed in the same way
	Before   *float64 `json:"before"`
	During   *float64 `json:"during"`
	Sentence string   `json:"sentence"`
	Tried    int      `json:"tried"` // series
	Causes   []Cause  `json:"causes"`
	Others   []Cause  `json:"no_causes"` // changed with it, too, but for a reason are no candidates
}

// Cause is a monitor that changed with the metric.
type Cause struct {
	Rank    int       `json:"rank"`
	Layer   string    `json:"layer"`
	Monitor string    `json:"monitor"`
	Unit    string    `json:"unit"`
	Before  *float64  `json:"before"`
	During  *float64  `json:"during"`
	Change  string    `json:"change"`   // in words
	LagNs   *units.Ns `json:"lag_ns"`   // above 0: it changed so long after the metric; null: not clear, or it is read too seldom to say
	LagLow  *units.Ns `json:"lag_low"`  // its interval
	LagHigh *units.Ns `json:"lag_high"` //
	R       *float64  `json:"r"`        // with the metric over the run
	P       *float64  `json:"p"`        // corrected for the number of series tried
	Group   []string  `json:"group"`    // monitors that moved together with it, so that the data cannot say which one it is
	Remedy  string    `json:"remedy,omitempty"`
	Why     string    `json:"why,omitempty"` // it is no candidate
}

// Explain explains a metric in a range of samples; an empty one: in its most notable change.
func (p *Profile) Explain(target *formula.Metric, in vertical.Range) *Explanation {
	return p.describe(target, p.analyse(target, in))
}

func (p *Profile) analyse(target *formula.Metric, in vertical.Range) vertical.Explanation {
	o := vertical.ExplainOptions{Restates: p.restates(target), General: general}
	e := vertical.Explain(seriesOf(target), p.Monitors(), in, o)
	if !p.ownDemand(e.Range) {
		return e
	}
	// The program itself asks for more of the CPUs: that they are busy, and waited for, follows from whatever does.
	restates := p.restates(target)
	o.Restates = func(s vertical.Series) bool { return ofDemand(s.Name) || restates(s) }
	return vertical.Explain(seriesOf(target), p.Monitors(), in, o)
}

func (p *Profile) describe(target *formula.Metric, e vertical.Explanation) *Explanation {
	out := &Explanation{Metric: target.Name, Unit: target.Unit, Span: p.since(p.Span(e.Range)), Found: e.Found,
		Similar: []Span{}, Before: estimate.Number(e.Before), During: estimate.Number(e.During), Tried: e.Tried, Causes: []Cause{}, Others: []Cause{}}
	for _, r := range e.Similar {
		out.Similar = append(out.Similar, p.since(p.Span(r)))
	}
	for i, g := range e.Causes {
		c := p.cause(&g.Lead)
		c.Rank = i + 1
		for _, f := range g.Others {
			c.Group = append(c.Group, f.Name)
		}
		if known := remedyOf(c.Monitor); known != nil && g.Lead.During > g.Lead.Before {
			c.Remedy = known.try
		}
		out.Causes = append(out.Causes, c)
	}
	for i := range e.Demoted {
		c := p.cause(&e.Demoted[i])
		c.Why = whyNot(e.Demoted[i].Reason)
		out.Others = append(out.Others, c)
	}
	out.Sentence = sentence(out)
	return out
}

func (p *Profile) cause(f *vertical.Factor) Cause {
	c := Cause{Layer: f.Layer, Monitor: f.Name, Unit: f.Unit, Before: estimate.Number(f.Before), During: estimate.Number(f.During), Change: change(f.Before, f.During, f.Unit),
		R: estimate.Number(f.R), P: estimate.Number(f.Corrected), Group: []string{}}
	if f.OnsetKnown {
		lag, low, high := p.Lag(f.Onset), p.Lag(f.OnsetRange[0]), p.Lag(f.OnsetRange[1])
		c.LagNs, c.LagLow, c.LagHigh = &lag, &low, &high
		if f.Coarse > 0 && low <= 0 && high >= 0 {
			c.LagNs = nil // which of the two came first is not known
		}
	}
	return c
}

func (p *Profile) since(s activity.Span) Span {
	if s.Len() == 0 {
		return Span{}
	}
	return Span{units.Ns(s.From - p.Start), units.Ns(s.To - p.Start)}
}

// Phase is a time in which a metric differs from its usual level.
type Phase struct {
	Explanation
	Usual float64 `json:"usual"` // level of most of the run
}

const (
	// leastChange is by which share of the usual level a phase differs from it.
	leastChange = 0.25
	// mostPhases bounds how many are explained.
	mostPhases = 8
)

// Phases are the most notable times in which a metric differs from its usual level, in order, each explained. Those that
// are alike are one.
func (p *Profile) Phases(target *formula.Metric) []Phase {
	usual := median(target.Values)
	all := deviations(target.Values, usual)
	slices.SortStableFunc(all, func(a, b deviation) int { return cmp.Compare(b.weight, a.weight) })
	var out []Phase
	var covered []vertical.Range
	for _, d := range all {
		if len(out) == mostPhases {
			break
		}
		if slices.ContainsFunc(covered, d.Overlaps) {
			continue
		}
		e := p.analyse(target, d.Range)
		again := slices.ContainsFunc(covered, e.Range.Overlaps)
		if covered = append(append(covered, d.Range, e.Range), e.Similar...); !again {
			out = append(out, Phase{*p.describe(target, e), usual})
		}
	}
	slices.SortFunc(out, func(a, b Phase) int { return cmp.Compare(a.FromNs, b.FromNs) })
	return out
}

// deviation is a time in which a metric is above, or below, its usual level.
type deviation struct {
	vertical.Range
	above  bool
	weight float64 // how much is more, or missing
}

// deviations are the phases between change points that differ from the usual level; neighbours on the same side are one.
func deviations(values []float64, usual float64) (out []deviation) {
	points := append(append([]int{0}, vertical.ChangePoints(values, vertical.PhaseOptions{})...), len(values))
	for i := range len(points) - 1 {
		r := vertical.Range{From: points[i], To: points[i+1]}
		away := vertical.Mean(values[r.From:r.To]) - usual
		if r.Len() == len(values) || !(math.Abs(away) > leastChange*math.Abs(usual)) {
			continue
		}
		weight := math.Abs(away) * float64(r.Len())
		if n := len(out); n > 0 && out[n-1].To == r.From && out[n-1].above == (away > 0) {
			out[n-1].To, out[n-1].weight = r.To, out[n-1].weight+weight
			continue
		}
		out = append(out, deviation{r, away > 0, weight})
	}
	return out
}

func median(values []float64) float64 {
	known := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	if len(known) == 0 {
		return math.NaN()
	}
	slices.Sort(known)
	return known[len(known)/2]
}
