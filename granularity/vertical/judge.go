package vertical

import (
	"cmp"
	"math"
	"slices"
)

// The limits behind the reasons.
const (
	// late is how many samples a series may change after the target: its source may be read before the target's.
	late     = 2
	specific = 0.6  // the least specificity of a candidate
	explains = 0.4  // the least |r| with the target near the changes
	covers   = 0.5  // the least coverage of three changes or more
	least    = 0.01 // the smallest change of a series, as a share, that is worth a line
)

// judge corrects the factors for their number, demotes what can not be the cause, and ranks the others in groups.
func (s *scene) judge(e *Explanation, factors []Factor, signals []*signal, o ExplainOptions) {
	level := cmp.Or(o.Level, 0.05)
	p := make([]float64, len(factors))
	for i, f := range factors {
		p[i] = f.P
	}
	var causes []Factor
	for i, c := range BenjaminiHochberg(p) {
		f := &factors[i]
		if f.Corrected = c; c > level || math.Abs(growth(f.Before, f.During)) < least {
			continue
		}
		f.Score = s.score(e, f)
		if f.Reason = cmp.Or(f.Reason, s.reason(e, f)); f.Reason == "" {
			causes = append(causes, *f)
		} else {
			e.Demoted = append(e.Demoted, *f)
		}
	}
	slices.SortStableFunc(causes, strongest)
	slices.SortStableFunc(e.Demoted, strongest)
	e.Causes = group(causes, func(f *Factor) []float64 { return s.near(signals[f.Series], f.windows, s.aligned(f)) })
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
	case len(s.ranges) > 2 && f.Coverage < covers:
		return Rarely
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
		timing = 1 / (1 + math.Abs(float64(f.Onset))/float64(2*s.maxLag))
		if f.Onset > late {
			timing *= 0.7
		}
	}
	if f.general > 1 {
		dose *= generalScore
	}
	sure := 1 - math.Sqrt(max(f.Corrected, 1e-12))
	return sure * dose * f.Specificity * (0.5 + 0.5*f.Coverage) * (0.4 + 0.6*e.extreme(f)) * timing
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
		v *= 0.4
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

// What comes first leads unless its score is much lower; what is lower in the layers if its score is about as high.
const (
	firstScore = 0.6
	layerScore = 0.85
	// generalScore is the share of its score that a series has that most causes change.
	generalScore = 0.6
)

// slight is the share of another's growth below which a series has hardly changed beside it.
const slight = 0.25

// hardly reports whether a changed little beside b: by a few percent, where b went from nothing to something.
func hardly(a, b *Factor) bool {
	x, y := math.Abs(growth(a.Before, a.During)), math.Abs(growth(b.Before, b.During))
	return x < slight*y
}

// leads reports whether a is rather the lead of a group than b, which is at least as strong.
func leads(a, b *Factor) bool {
	if hardly(a, b) || hardly(b, a) {
		return hardly(b, a)
	}
	if a.general != b.general {
		return a.general < b.general
	}
	if a.Score < firstScore*b.Score {
		return false
	}
	if a.OnsetKnown && b.OnsetKnown {
		if d := float64(b.Onset-a.Onset) / math.Hypot(a.own, b.own); math.Abs(d) > earlier {
			return d > 0
		}
	}
	return depth(a.Layer) > depth(b.Layer) && a.Score >= layerScore*b.Score
}

// BenjaminiHochberg are the p values corrected for their number, so that of those up to a level at most that share is
// false (Benjamini and Hochberg 1995). They are in the order of p; NaN stays.
func BenjaminiHochberg(p []float64) []float64 {
	order := make([]int, 0, len(p))
	out := slices.Clone(p)
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		least = min(least, p[order[k]]*float64(len(order))/float64(k+1))
		out[order[k]] = least
	}
	return out
}
