package vertical

import (
	"cmp"
	"math"
	"slices"
)

// The limits behind the reasons.
const (
	// late is how many samples a series may change after the target: its source may be read before the target's.
	late     = 1
	specific = 0.6 // the least specificity of a candidate
	explains = 0.5 // the least |r| with the target near the changes: a quarter of its variation
	covers   = 0.5 // the least coverage, if another candidate covers most
)

// judge corrects the factors for their number, demotes what can not be the cause, and ranks the others in groups.
func (s *scene) judge(e *Explanation, factors []Factor, signals []*signal, o ExplainOptions) {
	level := cmp.Or(o.Level, 0.05)
	p := make([]float64, len(factors))
	for i, f := range factors {
		p[i] = f.P
	}
	covered := 0.0
	var kept []Factor
	for i, c := range Holm(p) {
		factors[i].Corrected = c
		if f := &factors[i]; c <= level {
			f.Reason = cmp.Or(f.Reason, s.reason(e, f))
			f.Score = s.score(e, f)
			if f.Reason == "" {
				covered = max(covered, f.Coverage)
			}
			kept = append(kept, *f)
		}
	}
	var causes []Factor
	for _, f := range kept {
		if f.Reason == "" && f.Coverage < covers && covered >= 0.8 {
			f.Reason = Rarely
		}
		if f.Reason == "" {
			causes = append(causes, f)
		} else {
			e.Demoted = append(e.Demoted, f)
		}
	}
	slices.SortStableFunc(causes, strongest)
	slices.SortStableFunc(e.Demoted, strongest)
	e.Causes = group(causes, func(f *Factor) []float64 { return s.near(signals[f.Series], s.aligned(f)) })
	if o.Most > 0 && len(e.Causes) > o.Most {
		e.Causes = e.Causes[:o.Most]
	}
}

func strongest(a, b Factor) int { return cmp.Compare(b.Score, a.Score) }

// reason is why the factor is no candidate; "" if it is one.
func (s *scene) reason(e *Explanation, f *Factor) Reason {
	switch {
	case f.OnsetKnown && f.later(), !f.OnsetKnown && f.lag > 0:
		return Later
	case f.OnsetKnown && f.OnsetRange[1] < -s.maxLag:
		return Earlier
	case f.Specificity < specific:
		return Elsewhere
	case !(math.Abs(f.local) >= explains):
		return Weak
	case e.follows(f):
		return Follows
	}
	return ""
}

// later reports whether the factor changes after the target: with a probability of about 90 %.
func (f *Factor) later() bool {
	deviation := float64(f.Onset-f.OnsetRange[0]) / 2
	return float64(f.Onset-late) > 1.3*deviation && f.Onset > late
}

// growth is the logarithm of the ratio of two levels, limited to a factor of 50; NaN if there is none.
func growth(before, during float64) float64 {
	if before < 0 || during < 0 || before == 0 && during == 0 {
		return math.NaN()
	}
	const most = 50
	return min(max(math.Log(during/before), -math.Log(most)), math.Log(most))
}

// follows reports whether the factor changes by about the same proportion as the target, in the same direction and not
// before it, and is no ratio: then it is work that is done less, or more, because of the target's change (Hauswirth and
// others, section 5.4.4).
func (e *Explanation) follows(f *Factor) bool {
	x, y := growth(f.Before, f.During), growth(e.Before, e.During)
	same := math.Abs(x-y) <= 0.35*math.Abs(y)+0.05
	first := f.OnsetKnown && f.OnsetRange[1] < 0
	return same && x*y > 0 && !first && f.Unit != "ratio" && f.Unit != "Hz"
}

// score is how likely a factor is the cause, compared with others: that it goes with the target over the whole run,
// and with nothing else, in all similar changes, by more than the target, and
// shortly before it.
func (s *scene) score(e *Explanation, f *Factor) float64 {
	dose := math.Abs(f.local)
	if math.IsNaN(dose) {
		dose = 0
	}
	timing := 0.5
	if f.OnsetKnown {
		timing = 1 / (1 + math.Abs(float64(f.Onset))/float64(s.maxLag))
		if f.Onset > 0 {
			timing *= 0.7
		}
	}
	if f.general {
		dose *= similarScore
	}
	return dose * f.Specificity * (0.5 + 0.5*f.Coverage) * (0.5 + 0.5*e.extreme(f)) * timing
}

// extreme is by how much more than the target a factor changes, as a share of both; less of something is rather a
// consequence of less (Hauswirth and others, section 5.4.4).
func (e *Explanation) extreme(f *Factor) float64 {
	x, y := growth(f.Before, f.During), growth(e.Before, e.During)
	if math.IsNaN(x) || math.IsNaN(y) || x == 0 {
		return 0.75
	}
	v := math.Abs(x) / (math.Abs(x) + math.Abs(y))
	if x < 0 && y < 0 {
		v *= 0.7
	}
	return v
}

// together is the least |r| of series that are one group, near the changes.
const together = 0.8

// group joins factors that move together with the first of a group. The lead comes first, or else is the strongest; of
// equally strong ones the lowest in the layers.
func group(factors []Factor, values func(*Factor) []float64) (groups []Group) {
	var members [][]Factor
	var bins [][]float64
	for _, f := range factors {
		b := values(&f)
		i := slices.IndexFunc(bins, func(a []float64) bool {
			return math.Abs(pearson(pairs(a, b, 0))) >= together
		})
		if i < 0 {
			bins, members = append(bins, b), append(members, nil)
			i = len(bins) - 1
		}
		members[i] = append(members[i], f)
	}
	for _, m := range members {
		lead := 0
		for i := range m {
			if leads(&m[i], &m[lead]) {
				lead = i
			}
		}
		g := Group{Lead: m[lead]}
		g.Others = append(append(g.Others, m[:lead]...), m[lead+1:]...)
		groups = append(groups, g)
	}
	return groups
}

// earlier is by how many standard errors a series must come first to lead.
const earlier = 1.2

// similarScore is the ratio of scores that do not differ.
const similarScore = 0.6

// leads reports whether a is rather the lead of a group than b, which is at least as strong.
func leads(a, b *Factor) bool {
	if a.general != b.general {
		return b.general
	}
	if a.Score < similarScore*b.Score {
		return false
	}
	if a.OnsetKnown && b.OnsetKnown {
		if d := float64(b.Onset-a.Onset) / math.Hypot(a.own, b.own); math.Abs(d) > earlier {
			return d > 0
		}
	}
	return depth(a.Layer) > depth(b.Layer)
}

// Holm are the p values corrected for their number, so that the probability of any false one is kept (Holm 1979). They
// are in the order of p; NaN stays.
func Holm(p []float64) []float64 {
	order := make([]int, 0, len(p))
	out := slices.Clone(p)
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	largest := 0.0
	for k, i := range order {
		largest = max(largest, min(1, p[i]*float64(len(order)-k)))
		out[i] = largest
	}
	return out
}
