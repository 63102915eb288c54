package speedup

// worth is the share of N below which a component is not reported.
const worth = 0.05

// Outcome is what the largest component of a bar is.
type Outcome int

// The outcomes.
const (
	NoLoss    Outcome = iota // no component is large enough to report
	InOne                    // Largest.Component
	Elsewhere                // Largest.Part of the rest
	Gain                     // the rest is negative: less work than with one thread
)

// Largest is what costs a bar most.
type Largest struct {
	Outcome   Outcome
	Component Component
	Part      Part
	Threads   float64 // lost or gained, in threads; not negative
}

// Largest returns the component, or the part of the rest, that costs most.
func (b *Bar) Largest() Largest {
	most := Component(-1)
	for c := range Rest {
		if b.Components[c] >= worth*float64(b.Threads) && (most < 0 || b.Components[c] > b.Components[most]) {
			most = c
		}
	}
	part := Part(0)
	for p := range NParts {
		if b.Parts[p] > b.Parts[part] {
			part = p
		}
	}
	rest := b.Components[Rest]
	switch {
	case most >= 0 && b.Components[most] >= rest:
		return Largest{Outcome: InOne, Component: most, Threads: b.Components[most]}
	case rest >= worth*float64(b.Threads):
		return Largest{Outcome: Elsewhere, Part: part, Threads: rest}
	case rest <= -worth*float64(b.Threads):
		return Largest{Outcome: Gain, Threads: -rest}
	}
	return Largest{}
}
