package estimate

import (
	"encoding/json"
	"math"

	"gonum.org/v1/gonum/stat"
)

// Effect says how large the difference between two samples is, in two ways that need no
// unit. Both are positive if the values of a are larger.
type Effect struct {
	// HedgesG is the difference of the means over the pooled standard deviation,
	// corrected for small samples (Hedges 1981). NaN if a sample has fewer than two
	// values; infinite if the means differ and no value deviates from its mean.
	HedgesG float64
	// CliffsDelta is the share of pairs in which the value of a is larger minus the share
	// in which that of b is (Cliff 1993): -1 to 1, whatever the distributions. NaN if a
	// sample is empty.
	CliffsDelta float64
}

// EffectOf compares a with b.
func EffectOf(a, b []float64) Effect { return Effect{HedgesG: hedges(a, b), CliffsDelta: cliff(a, b)} }

func hedges(a, b []float64) float64 {
	if len(a) < 2 || len(b) < 2 {
		return math.NaN()
	}
	ma, va := stat.MeanVariance(a, nil)
	mb, vb := stat.MeanVariance(b, nil)
	degrees := float64(len(a) + len(b) - 2)
	pooled := (va*float64(len(a)-1) + vb*float64(len(b)-1)) / degrees
	switch {
	case ma == mb:
		return 0
	case pooled == 0:
		return math.Inf(int(math.Copysign(1, ma-mb)))
	}
	whole, _ := math.Lgamma(degrees / 2)
	less, _ := math.Lgamma((degrees - 1) / 2)
	return (ma - mb) / math.Sqrt(pooled) * math.Exp(whole-less) / math.Sqrt(degrees/2)
}

func cliff(a, b []float64) float64 {
	dominance := 0
	for _, x := range a {
		for _, y := range b {
			switch {
			case x > y:
				dominance++
			case x < y:
				dominance--
			}
		}
	}
	return float64(dominance) / float64(len(a)*len(b)) // 0/0 is NaN
}

// words name magnitudes; the bounds of two scales are below each.
var (
	words       = [...]string{"negligible", "small", "medium", "large"}
	hedgesScale = [...]float64{0.2, 0.5, 0.8}      // Cohen 1988
	cliffScale  = [...]float64{0.147, 0.33, 0.474} // Romano and others 2006
)

// HedgesWord is the usual word for HedgesG: negligible, small, medium or large; "" if it
// is not known.
func (e Effect) HedgesWord() string { return word(e.HedgesG, hedgesScale) }

// CliffsWord is the usual word for CliffsDelta; "" if it is not known.
func (e Effect) CliffsWord() string { return word(e.CliffsDelta, cliffScale) }

func word(v float64, scale [len(words) - 1]float64) string {
	if math.IsNaN(v) {
		return ""
	}
	for i, bound := range scale {
		if math.Abs(v) < bound {
			return words[i]
		}
	}
	return words[len(scale)]
}

// effectJSON is an Effect in JSON.
type effectJSON struct {
	HedgesG     *float64 `json:"hedges_g"`                   // difference of the means in standard deviations; null: not known
	HedgesWord  string   `json:"hedges_magnitude,omitempty"` // in a word
	CliffsDelta *float64 `json:"cliffs_delta"`               // -1 to 1; null: not known
	CliffsWord  string   `json:"cliffs_magnitude,omitempty"` // in a word
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Effect) JSONSchemaAlias() any { return effectJSON{} }

// MarshalJSON writes null for what is not known or infinite.
func (e Effect) MarshalJSON() ([]byte, error) {
	return json.Marshal(effectJSON{Number(e.HedgesG), e.HedgesWord(), Number(e.CliffsDelta), e.CliffsWord()})
}
