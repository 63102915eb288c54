package warmup

import (
	"math"

	"stackagent/granularity/estimate"
	"stackagent/internal/units"
)

// Iteration is what happened in one iteration of a run, or in one window of its time. What is not known is
// units.NotMeasured.
type Iteration struct {
	From, To units.MonoNs
	Label    string
	CPU      units.Ns // running time of all threads of the JVM but ours
	Compiler units.Ns // of the compiler's threads
	GC       units.Ns // of the collector's threads
	Stopped  units.Ns // in pauses for collections
	Tasks    int64    // executions that ended in it
	Deopts   int64    // deoptimisations; -1: not known
}

// Time is how long it took.
func (i *Iteration) Time() units.Ns { return units.Ns(i.To - i.From) }

// CompilerShare is the share of the running time that the compiler took.
func (i *Iteration) CompilerShare() float64 { return share(i.Compiler, i.CPU) }

// GCShare is the share of the running time that the collector's threads took.
func (i *Iteration) GCShare() float64 { return share(i.GC, i.CPU) }

// StoppedShare is the share of the time in pauses.
func (i *Iteration) StoppedShare() float64 { return share(i.Stopped, i.Time()) }

// share is NaN if either is not known, or there is nothing to share.
func share(part, of units.Ns) float64 {
	if !part.Measured() || !of.Measured() || of == 0 {
		return math.NaN()
	}
	return float64(part) / float64(of)
}

// Quantity is something to follow over the iterations.
type Quantity func(*Iteration) float64

// PerTask is a quantity for each task, which tells windows of equal length apart; NaN without tasks.
func (q Quantity) PerTask() Quantity {
	return func(i *Iteration) float64 { return known(i.Tasks > 0, q(i)/float64(i.Tasks)) }
}

// The quantities; NaN where it is not known.
var (
	Time     Quantity = func(i *Iteration) float64 { return float64(i.Time()) }
	CPU      Quantity = func(i *Iteration) float64 { return known(i.CPU.Measured(), float64(i.CPU)) }
	Compiler Quantity = (*Iteration).CompilerShare
	GC       Quantity = (*Iteration).GCShare
	Stopped  Quantity = (*Iteration).StoppedShare
	Tasks    Quantity = func(i *Iteration) float64 { return float64(i.Tasks) }
	Deopts   Quantity = func(i *Iteration) float64 { return known(i.Deopts >= 0, float64(i.Deopts)) }
)

func known(ok bool, v float64) float64 {
	if !ok {
		return math.NaN()
	}
	return v
}

// Of are the values of a quantity in the iterations of a run.
func (q Quantity) Of(run []Iteration) []float64 {
	out := make([]float64, len(run))
	for i := range run {
		out[i] = q(&run[i])
	}
	return out
}

// Over is the mean of a quantity over several runs, with its interval, for each iteration that all of them have. A run in
// which it is not known does not count.
func (q Quantity) Over(runs [][]Iteration) []estimate.Interval {
	out := make([]estimate.Interval, Common(runs))
	for k := range out {
		var values []float64
		for _, run := range runs {
			if v := q(&run[k]); !math.IsNaN(v) {
				values = append(values, v)
			}
		}
		out[k] = estimate.Mean(values)
	}
	return out
}

// Common is the number of iterations that all runs have.
func Common(runs [][]Iteration) int {
	if len(runs) == 0 {
		return 0
	}
	n := len(runs[0])
	for _, run := range runs {
		n = min(n, len(run))
	}
	return n
}

// Verdict says when a run is warm.
type Verdict struct {
	Best    float64 // the least value
	Warm    int     // see WarmFrom
	Reached int     // see Reached
	// Lost is what the iterations before Warm took beyond as many warm ones, of the mean length; NaN if it never got warm.
	Lost float64
}

// Judge judges the values of a run's iterations. Those that are not known do not count as warm.
func Judge(values []float64, within float64) Verdict {
	v := Verdict{Best: math.NaN(), Warm: WarmFrom(values, within), Reached: Reached(values, within), Lost: math.NaN()}
	if v.Reached < 0 {
		return v
	}
	v.Best = math.Inf(1)
	for _, x := range values {
		if x < v.Best {
			v.Best = x
		}
	}
	if v.Warm < 0 {
		return v
	}
	warm := estimate.Mean(values[v.Warm:]).Mean
	v.Lost = 0
	for _, x := range values[:v.Warm] {
		if !math.IsNaN(x) {
			v.Lost += x - warm
		}
	}
	return v
}
