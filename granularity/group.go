package granularity

import (
	"math/bits"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
)

// Execution is what a Group needs to know of one execution.
type Execution struct {
	Start, End            units.MonoNs // the end of the session where it was still running
	Work                  []units.Ns   // by Metric; not kept
	Thread                uint32
	Nested                bool // inside another execution on its thread
	Threw, Running, Cut   bool
	Virtual, CreateUnseen bool
}

// Group accumulates the executions of a class, of a thread or of a whole
// session. Work that was not measured is skipped and counted. The zero value
// is ready; not safe for concurrent use.
type Group struct {
	Counts
	Summarised int64   // of Executions, not recorded one by one
	Series     *Series // nil: not wanted
	threads    bitset
	work       []work // by Metric
}

// Counts are how many executions there are, and of which kinds.
type Counts struct {
	Executions   int64
	Nested       int64 // recorded executions inside another one
	Threw        int64 // ended by an exception
	Running      int64 // had not ended when the session did
	Cut          int64 // ended without an exit probe
	Virtual      int64 // ran on a virtual thread
	CreateUnseen int64 // the task's creation was not seen
}

func (c *Counts) add(o *Counts) {
	c.Executions += o.Executions
	c.Nested += o.Nested
	c.Threw += o.Threw
	c.Running += o.Running
	c.Cut += o.Cut
	c.Virtual += o.Virtual
	c.CreateUnseen += o.CreateUnseen
}

// work is what a group knows of one metric.
type work struct {
	values      Values
	notMeasured int64
}

// grow makes room for n metrics.
func (g *Group) grow(n int) {
	if n > len(g.work) {
		g.work = append(g.work, make([]work, n-len(g.work))...)
	}
}

// Of returns the values of metric m and how many executions have none; nil if no
// execution had that metric.
func (g *Group) Of(m Metric) (values *Values, notMeasured int64) {
	if int(m) >= len(g.work) {
		return nil, 0
	}
	return &g.work[m].values, g.work[m].notMeasured
}

// Sum adds up the values of metric m.
func (g *Group) Sum(m Metric) units.Ns {
	if int(m) >= len(g.work) {
		return 0
	}
	return g.work[m].values.Sum()
}

// Summarised stands for executions that the agent summarised.
type Summarised struct {
	From, To                               units.MonoNs
	Thread                                 uint32 // 0: not known
	Executions, Threw, Cut, CreationUnseen int64
	Virtual                                bool
	Work                                   []Measured // by Metric
}

// Measured is one metric of summarised executions: the count, sum and extremes,
// all exact, and the counts by bucket. If only a random part was timed, all but the count
// are estimates, the extremes those of the timed ones.
type Measured struct {
	Count         int64
	Timed         int64 // how many were timed; 0: all
	Sum, Min, Max units.Ns
	Buckets       []histogram.Bucket
}

// Like calls use with counts of values that differ by less than width, and their mean.
// The sum is exact but for rounding; the means have the error of the buckets.
func (m Measured) Like(width units.Ns, use func(n int64, mean units.Ns)) {
	if len(m.Buckets) == 0 {
		if m.Count > 0 {
			use(m.Count, m.Sum/units.Ns(m.Count))
		}
		return
	}
	all := 0.0
	for _, b := range m.Buckets {
		all += float64(b.Count) * histogram.Middle(int(b.Index))
	}
	scale := float64(m.Sum) / max(all, 1)
	for i := 0; i < len(m.Buckets); {
		first := histogram.Middle(int(m.Buckets[i].Index))
		n, sum := uint64(0), 0.0
		for ; i < len(m.Buckets); i++ {
			value := histogram.Middle(int(m.Buckets[i].Index))
			if n > 0 && value-first >= float64(width) {
				break
			}
			n += m.Buckets[i].Count
			sum += value * float64(m.Buckets[i].Count)
		}
		use(int64(n), units.Ns(scale*sum/float64(max(n, 1))))
	}
}

func (s *Summarised) sum(m Metric) units.Ns {
	if int(m) >= len(s.Work) {
		return 0
	}
	return s.Work[m].Sum
}

// AddSummarised adds summarised executions. Whether they were nested is not
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
	g.grow(len(s.Work))
	for m := range s.Work {
		from, to := &s.Work[m], &g.work[m]
		to.values.AddMeasured(from)
		to.notMeasured += s.Executions - from.Count
	}
	if g.Series != nil {
		g.Series.Spread(s.From, s.To, s.Executions, s.sum(Wall))
	}
}

// Counted stands for recorded executions that were added up before.
type Counted struct {
	Counts
	Threads []uint32
}

// AddCounted adds executions but for their work, which AddWork adds.
func (g *Group) AddCounted(c *Counted) {
	g.Counts.add(&c.Counts)
	for _, t := range c.Threads {
		g.threads.set(t)
	}
}

// AddWork adds the values of a metric in n executions of AddCounted; see Values.AddBinned.
func (g *Group) AddWork(at Metric, n int64, h *histogram.Histogram) {
	g.grow(int(at) + 1)
	g.work[at].notMeasured += n - h.Count
	if h.Count > 0 {
		g.work[at].values.AddBinned(h)
	}
}

// Merge adds o, which it leaves unchanged. Both have a series over the same grid or
// none.
func (g *Group) Merge(o *Group) {
	g.Counts.add(&o.Counts)
	g.Summarised += o.Summarised
	g.threads.or(o.threads)
	g.grow(len(o.work))
	for m := range o.work {
		g.work[m].values.Merge(&o.work[m].values)
		g.work[m].notMeasured += o.work[m].notMeasured
	}
	if g.Series != nil && o.Series != nil {
		g.Series.Merge(o.Series)
	}
}

// Add adds one execution. One that was still running has no wall time.
func (g *Group) Add(e *Execution) {
	g.Executions++
	count(&g.Nested, e.Nested)
	count(&g.Threw, e.Threw)
	count(&g.Running, e.Running)
	count(&g.Cut, e.Cut)
	count(&g.Virtual, e.Virtual)
	count(&g.CreateUnseen, e.CreateUnseen)
	g.threads.set(e.Thread)
	g.grow(len(e.Work))
	for m, n := range e.Work {
		if w := &g.work[m]; n.Measured() {
			w.values.Add(n)
		} else {
			w.notMeasured++
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
	for m := range g.work {
		if w := &g.work[m]; w.values.Count() > 0 {
			d := Describe(&w.values)
			d.NotMeasured = w.notMeasured
			out[Metric(m)] = d
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
