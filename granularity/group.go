package granularity

import (
	"math/bits"

	"stackagent/internal/units"
)

// Execution is what the accumulators need to know of one execution.
type Execution struct {
	Start, End            units.MonoNs // End 0: still running when the session ended
	Work                  [NMetrics]units.Ns
	Thread                uint32
	Nested                bool // inside another execution on its thread
	Threw, Running, Cut   bool
	Virtual, CreateUnseen bool
}

// Group accumulates the executions of a class, of a thread or of a whole
// session. Work that was not measured is skipped and counted. The zero value
// is ready; not safe for concurrent use.
type Group struct {
	Executions   int64
	Nested       int64 // executions that lay within another one
	Threw        int64 // ended by an exception
	Running      int64 // had not ended when the session did
	Cut          int64 // ended without an exit probe
	Virtual      int64 // ran on a virtual thread
	CreateUnseen int64 // the task's creation was not seen
	Work         [NMetrics]Values
	NotMeasured  [NMetrics]int64
	Series       *Series // nil: not wanted
	threads      bitset
}

// Add puts one execution in. An execution that was still running has no wall
// time; on the time axis it is drawn up to until.
func (g *Group) Add(e *Execution, until units.MonoNs) {
	g.Executions++
	count(&g.Nested, e.Nested)
	count(&g.Threw, e.Threw)
	count(&g.Running, e.Running)
	count(&g.Cut, e.Cut)
	count(&g.Virtual, e.Virtual)
	count(&g.CreateUnseen, e.CreateUnseen)
	g.threads.set(e.Thread)
	for m, w := range e.Work {
		if w.Measured() {
			g.Work[m].Add(w)
		} else {
			g.NotMeasured[m]++
		}
	}
	if g.Series != nil {
		end := e.End
		if end == 0 {
			end = until
		}
		g.Series.Add(e.Start, end)
	}
}

func count(n *int64, yes bool) {
	if yes {
		*n++
	}
}

// Threads is the number of distinct threads on which executions ran.
func (g *Group) Threads() int64 { return g.threads.count() }

// MarkThreads adds g's threads to the set that another group keeps.
func (g *Group) MarkThreads(into *Group) { into.threads.or(g.threads) }

// Measured tells whether any execution has a value of m.
func (g *Group) Measured(m Metric) bool { return g.Work[m].Len() > 0 }

// Describe computes the distribution of every metric in which at least one
// execution was measured.
func (g *Group) Describe() Metrics {
	out := Metrics{}
	for m := Metric(0); m < NMetrics; m++ {
		if g.Measured(m) {
			d := Describe(&g.Work[m])
			d.NotMeasured = g.NotMeasured[m]
			out[m] = d
		}
	}
	return out
}

// bitset is a set of small numbers: thread ids are dense.
type bitset []uint64

func (b *bitset) set(i uint32) {
	word := int(i >> 6)
	for len(*b) <= word {
		*b = append(*b, 0)
	}
	(*b)[word] |= 1 << (i & 63)
}

func (b *bitset) or(o bitset) {
	for len(*b) < len(o) {
		*b = append(*b, 0)
	}
	for i, w := range o {
		(*b)[i] |= w
	}
}

func (b bitset) count() int64 {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}
