package graph

import (
	"fmt"

	"stackagent/granularity/graph"
	"stackagent/internal/units"
)

// whyNotSplit is why units of classes cannot be split: much of what such a class does is not in units of it that were submitted, which is what a
// replay can submit in parts. An element of a parallel stream may run on the thread that asked for the result, an event in the body of its loop.
func (s *Session) whyNotSplit(split map[uint32]int) error {
	if len(split) == 0 {
		return nil
	}
	submitted := make([]bool, len(s.Graph.Units))
	for i := range s.Steps {
		if x := &s.Steps[i]; x.Kind == graph.Submit {
			submitted[x.On] = true
		}
	}
	all, whole := map[uint32]units.Ns{}, map[uint32]units.Ns{}
	for i := range s.Graph.Units {
		u := &s.Graph.Units[i]
		for _, x := range s.StepsOf(i) {
			all[x.Class] += x.Len
			if submitted[i] && u.Class == x.Class {
				whole[x.Class] += x.Len
			}
		}
	}
	for class := range split {
		if rest := float64(all[class]-whole[class]) / float64(max(all[class], 1)); rest > mostNotKnown {
			return fmt.Errorf("%s of the time of %s is not in units of it that a thread submitted: it cannot be seen how it would be divided", units.FormatPercent(rest), s.Classes[class])
		}
	}
	return nil
}
