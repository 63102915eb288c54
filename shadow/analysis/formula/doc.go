// Package formula evaluates expressions over monitors: `os.minor_faults / vm.alloc.bytes`, `rate(tasks.finished{class~"Order*"})`,
// `gc_running == 0 and os.steal_ns < 1ms`. internal/expression parses them, by go/parser; this package knows names, units and time.
//
// An expression is evaluated for every sample at once. NaN is 'no value': a monitor that was not read then, or a quotient
// whose denominator is next to nothing (see TinyShare). Units are derived; what cannot be added or compared is an error.
package formula

import "stackagent/internal/units"

// Series is a monitor's value in each sample.
type Series struct {
	Name    string // as declared, labels in braces
	Unit    string
	Layer   string
	Doc     string
	Counter bool      // a sample holds its growth, not a level
	Values  []float64 // NaN: not measured in this sample
	Ends    []float64 // of a level: its values at the ends of the samples; nil: not known
}

// Samples are the monitors of a session on one grid: sample i is from Edges[i] to Edges[i+1].
type Samples struct {
	Edges  []units.MonoNs
	Series []Series
	Absent map[string]string // name, or prefix that ends in ".*", to why this session does not have it
}

// Len is the number of samples.
func (s *Samples) Len() int { return max(len(s.Edges)-1, 0) }

// Limits on an expression, which may come from anywhere.
const (
	maxNested = 8    // metrics in metrics
	maxWindow = 1000 // samples of avg
	maxCost   = 1e9  // values computed for one expression
)

// TinyShare is the guard of divisions: where a denominator is 0, or below this share of the median of its values that are not
// 0, the quotient has no value. A quotient of next to nothing is noise that a correlation would take for a signal.
const TinyShare = 0.01
