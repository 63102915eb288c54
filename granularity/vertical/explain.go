package vertical

import (
	"cmp"
	"math"
)

// ExplainOptions tune Explain. The zero value is good for most runs.
type ExplainOptions struct {
	// Restates reports whether a series says the same as the target in other words, or is counted from the same
	// events: it can not be the cause. Nil: none does.
	Restates func(Series) bool
	// General is how many things change a series: 0 for few, 1 for what is asked for by layers above it, 2 for the use of
	// a resource as a whole and for waits. Among series that move together the least general leads. Nil: all are 0.
	General func(Series) int
	// Level is the share of wrong ones among the series that are said to have changed with the target; 0: 0.05.
	Level float64
	// MaxLag is by how many samples a cause may come before the target changes; 0: half of the range, at most 20.
	MaxLag int
	// Most bounds the groups that are kept; 0: all.
	Most int
}

// Reason is why a series that changed with the target is no candidate.
type Reason string

// The reasons, from the strongest.
const (
	Restated  Reason = "restates"  // it restates the target
	Later     Reason = "later"     // it changes after the target
	Elsewhere Reason = "elsewhere" // it also changed as much while the target did not
	Earlier   Reason = "earlier"   // it changes too long before the target
	Weak      Reason = "weak"      // it does not go with the target within and around the change
	Follows   Reason = "follows"   // it changes in the same direction by the same proportion, as work does that is not done
	Rarely    Reason = "rarely"    // it does not change in most of the target's other changes of this kind
)

// Factor is how a series changed together with the target.
type Factor struct {
	Series int // index in the series that were given
	Name   string
	Unit   string
	Layer  string
	// Before is the mean outside of the changes, near them; During the one in them.
	Before, During float64
	// Effect is the change in standard deviations of its noise, compressed where large; its sign is the direction.
	Effect float64
	// R is Pearson's correlation with the target over the whole run, over means of windows as long as the change
	// allows; NaN if either is constant.
	R float64
	// P is the probability of such a change by chance; Corrected for the number of series (Benjamini and Hochberg 1995).
	P, Corrected float64
	// Onset is where it changes relative to where the target does, in samples: negative is earlier. It lies in
	// OnsetRange with a confidence of about 95 %. Without a clear onset OnsetKnown is false.
	Onset      int
	OnsetRange [2]int
	OnsetKnown bool
	Coarse     int // see Series; it is in OnsetRange
	// Specificity is the share of its time at this level in which the target had changed, too; Coverage the share of
	// the target's similar changes in which it changed.
	Specificity, Coverage float64
	// Score ranks the candidates: 0 to 1.
	Score  float64
	Reason Reason // "" for a candidate

	general int      // see ExplainOptions
	windows []window // that it was compared in: those of all changes, or of the one asked for
	lag     int      // at which it was compared
	local   float64  // Pearson's r with the target near the changes
	own     float64  // standard error of Onset, without that of the target's
}

// Group is series that move together, so that the data can not say which of them is the cause.
type Group struct {
	Lead   Factor   // comes first, or is lowest in the layers
	Others []Factor // the strongest first
}

// Explanation says what changed with the target.
type Explanation struct {
	// Range is what was explained; Found if it was looked for. It is empty if the target never changes.
	Range Range
	Found bool
	// Similar are further ranges of the run in which the target changed in the same way. They were used, too.
	Similar []Range
	// Before and During are the means of the target outside of and in these ranges. Effect is in standard deviations
	// of its noise.
	Before, During, Effect float64
	P                      float64  // of the target's own change by chance; above the level one that was found is none
	Tried                  int      // series that vary and were measured
	Causes                 []Group  // the most likely first; empty: nothing explains it
	Demoted                []Factor // changed with the target, but are no candidates, each with the reason
}

// Explain ranks the series by how likely they are the cause of what the target does in a range: they change together
// with it, there and in the run's similar ranges, by more than chance among all that were tried, not later, and not
// elsewhere. For an empty range it looks for the target's most notable change.
func Explain(target Series, others []Series, in Range, o ExplainOptions) Explanation {
	y := newSignal(target.Values)
	e := Explanation{Range: in.within(len(y.raw)), Before: math.NaN(), During: math.NaN(), Effect: math.NaN(), P: math.NaN()}
	if in.Len() == 0 {
		e.Range, e.Found = find(y), true
	}
	if e.Range.Len() == 0 || e.Range.Len() == len(y.raw) {
		e.Range, e.Found = Range{}, in.Len() == 0
		return e
	}
	s := newScene(y, e.Range, o.MaxLag)
	e.Range, e.Similar = s.ranges[0], s.ranges[1:]
	e.Before, e.During = s.levels(y, s.windows, 0)
	changes := s.contrasts(y, s.windows, 0)
	e.Effect, e.P = Mean(changes), s.chance(y, s.windows, 0)
	if !s.edged || e.Found && !(e.P <= cmp.Or(o.Level, 0.05)) {
		return e
	}
	signals := make([]*signal, len(others))
	factors := make([]Factor, 0, len(others))
	for i, other := range others {
		signals[i] = newSignal(other.Values)
		if f, ok := s.factor(signals[i]); ok {
			f.Series, f.Name, f.Unit, f.Layer = i, other.Name, other.Unit, other.Layer
			f.dated(other.Coarse)
			if o.General != nil {
				f.general = o.General(other)
			}
			if other.Name == target.Name || o.Restates != nil && o.Restates(other) {
				f.Reason = Restated
			}
			factors = append(factors, f)
		}
	}
	e.Tried = len(factors)
	s.judge(&e, factors, signals, o)
	return e
}
