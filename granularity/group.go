package granularity

import (
	"math/bits"

	"stackagent/internal/loglinear"
	"stackagent/internal/units"
)

// Execution is what the accumulators need to know of one execution.
type Execution struct {
	Start, End            units.MonoNs // the end of the session where it was still running
	Work                  [NMetrics]units.Ns
	More                  []units.Ns // further metrics: at place k inclusive 2k, self 2k+1; nil: none
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
	Summarised   int64 // of these, not recorded one by one
	Nested       int64 // recorded executions that lay within another one
	Threw        int64 // ended by an exception
	Running      int64 // had not ended when the session did
	Cut          int64 // ended without an exit probe
	Virtual      int64 // ran on a virtual thread
	CreateUnseen int64 // the task's creation was not seen
	Work         [NMetrics]Values
	NotMeasured  [NMetrics]int64
	More         []Further // as in Execution
	Series       *Series   // nil: not wanted
	threads      bitset
}

// Further are the values of a further metric.
type Further struct {
	Values      Values
	NotMeasured int64
}

// more is the further metric m, made when first needed.
func (g *Group) more(i int) *Further {
	if i >= len(g.More) {
		g.More = append(g.More, make([]Further, i+1-len(g.More))...)
	}
	return &g.More[i]
}

// Of are the values of metric m and how many executions have none; nil where
// nothing was ever said of a further metric.
func (g *Group) Of(m Metric) (values *Values, notMeasured int64) {
	if !m.Further() {
		return &g.Work[m], g.NotMeasured[m]
	}
	i := int(m - NMetrics)
	if i >= len(g.More) {
		return nil, 0
	}
	return &g.More[i].Values, g.More[i].NotMeasured
}

// Summarised stands for executions that were counted where they ran.
type Summarised struct {
	From, To                               units.MonoNs
	Thread                                 uint32 // 0: not known
	Executions, Threw, Cut, CreationUnseen int64
	Virtual                                bool
	Work                                   [NMetrics]Measured
	More                                   []Measured // as in Execution
}

// Measured is one metric of summarised executions: the count, sum and extremes,
// all exact, and the counts by bucket.
type Measured struct {
	Count         int64
	Sum, Min, Max units.Ns
	Buckets       []loglinear.Bucket
}

// AddSummarised puts summarised executions in. Whether they were nested is not
// known. On the time axis they are spread evenly over their interval.
func (g *Group) AddSummarised(s *Summarised) {
	g.Executions += s.Executions
	g.Summarised += s.Executions
	g.Threw += s.Threw
	g.Cut += s.Cut
	g.CreateUnseen += s.CreationUnseen
	if s.Virtual {
		g.Virtual += s.Executions
	}
	if s.Executions > 0 && s.Thread != 0 {
		g.threads.set(s.Thread)
	}
	for m := range s.Work {
		w := &s.Work[m]
		g.Work[m].AddSummarised(w.Count, w.Sum, w.Min, w.Max, w.Buckets)
		g.NotMeasured[m] += s.Executions - w.Count
	}
	for i := range s.More {
		w, f := &s.More[i], g.more(i)
		f.Values.AddSummarised(w.Count, w.Sum, w.Min, w.Max, w.Buckets)
		f.NotMeasured += s.Executions - w.Count
	}
	if g.Series != nil {
		g.Series.Spread(s.From, s.To, s.Executions, s.Work[Wall].Sum)
	}
}

// Merge adds what o has gathered; o stays as it is. Both have a series over the
// same grid or none.
func (g *Group) Merge(o *Group) {
	g.Executions += o.Executions
	g.Summarised += o.Summarised
	g.Nested += o.Nested
	g.Threw += o.Threw
	g.Running += o.Running
	g.Cut += o.Cut
	g.Virtual += o.Virtual
	g.CreateUnseen += o.CreateUnseen
	g.threads.or(o.threads)
	for m := range g.Work {
		g.Work[m].Merge(&o.Work[m])
		g.NotMeasured[m] += o.NotMeasured[m]
	}
	for i := range o.More {
		f := g.more(i)
		f.Values.Merge(&o.More[i].Values)
		f.NotMeasured += o.More[i].NotMeasured
	}
	if g.Series != nil && o.Series != nil {
		g.Series.Merge(o.Series)
	}
}

// Add puts one execution in. One that was still running has no wall time.
func (g *Group) Add(e *Execution) {
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
	for i, w := range e.More {
		if f := g.more(i); w.Measured() {
			f.Values.Add(w)
		} else {
			f.NotMeasured++
		}
	}
	if g.Series != nil {
		g.Series.Add(e.Start, e.End)
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

// Measured reports whether any execution has a value of m.
func (g *Group) Measured(m Metric) bool {
	v, _ := g.Of(m)
	return v != nil && v.Count() > 0
}

// Describe computes the distribution of every metric in which at least one
// execution was measured.
func (g *Group) Describe() Metrics {
	out := Metrics{}
	for m := Metric(0); m < NMetrics+Metric(len(g.More)); m++ {
		if g.Measured(m) {
			v, missing := g.Of(m)
			d := Describe(v)
			d.NotMeasured = missing
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
