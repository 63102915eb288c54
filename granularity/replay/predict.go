package replay

import (
	"fmt"
	"math"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// Tolerance is how far the replay of an unchanged graph may be from what was recorded, as a
// share of it.
const Tolerance = 0.1

// Prediction is an answer to "what if".
type Prediction struct {
	Recorded  units.Ns // from the start to the last unit's end
	Replayed  units.Ns // the same of the unchanged graph's replay
	Predicted units.Ns // of the changed one's; graph.Never: cannot tell
	Why       error    // it cannot
}

// Error is how far the replay is off: 0.01 is 1 % too long.
func (p *Prediction) Error() float64 {
	if p.Recorded <= 0 {
		return 0
	}
	return float64(p.Replayed-p.Recorded) / float64(p.Recorded)
}

// Expected is the predicted length in the recorded time's measure: a replay that is 2 % too long is
// taken to be so with the change, too.
func (p *Prediction) Expected() units.Ns {
	if p.Predicted == graph.Never || p.Replayed <= 0 {
		return graph.Never
	}
	return units.Ns(math.Round(float64(p.Predicted) / float64(p.Replayed) * float64(p.Recorded)))
}

// Predict replays a graph that took recorded, with and without a change.
func Predict(g *graph.Graph, recorded units.Ns, c Change) (*Prediction, error) {
	p := &Prediction{Recorded: recorded, Predicted: graph.Never}
	s, err := Run(g)
	if err != nil {
		p.Why = fmt.Errorf("replaying the run as it was: %w", err)
		return p, nil
	}
	p.Replayed, _ = g.Length(s)
	all := g.All(s)
	if math.Abs(p.Error()) > Tolerance {
		p.Why = fmt.Errorf("the replay of the run as it was takes %s, the run took %s: more than %s apart",
			units.FormatNs(p.Replayed), units.FormatNs(recorded), units.FormatPercent(Tolerance))
		return p, nil
	}
	changed, err := Apply(g, c)
	if err != nil {
		return nil, fmt.Errorf("changing the graph: %w", err)
	}
	if s, err = Run(changed); err != nil {
		p.Why = fmt.Errorf("replaying the run with the change: %w", err)
		return p, nil
	}
	p.Predicted, _ = changed.Length(s)
	p.bound(units.Ns(float64(changed.All(s)) * float64(p.Replayed) / float64(max(all, 1))))
	return p, nil
}

// bound takes into account what threads compute that are none of the program's. If the program is done earlier, some of that may
// not have to be done (a compiler's work on code that is not needed any more), or the program may wait for all of it (slower code
// until it is compiled): it takes between Predicted and most. The middle is the prediction if it is within twice the tolerance of both.
func (p *Prediction) bound(most units.Ns) {
	least := p.Predicted
	if most <= least {
		return
	}
	if float64(most) > (1+4*Tolerance)*float64(least) {
		p.Predicted = graph.Never
		p.Why = fmt.Errorf("the JVM's own threads, such as JIT compilers, use the CPUs, too: with the change the run takes %s if it needs none of the work that they are late with, and %s if it needs all",
			units.FormatNs(least), units.FormatNs(most))
		return
	}
	p.Predicted = (least + most) / 2
}
