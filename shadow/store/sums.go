package store

import (
	"cmp"
	"slices"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Sums are what the rows of a part add up to, by class. They stand in its footer, so that a first look at
// a large session need not read the rows. Counts, sums and extremes are exact.
type Sums struct {
	Rows        uint64
	First, Last units.MonoNs // the first start and the last end, or start of one that was still running; of executions
	Classes     []ClassSums  // by class
}

// ClassSums are the sums of one class.
type ClassSums struct {
	Class   uint32
	Flags   []FlagSum  // none is zero
	Threads []uint32   // ascending; of executions
	Work    []WorkSums // of executions; metrics of which no row has a value are left out
}

// FlagSum counts rows with the same flags.
type FlagSum struct {
	Flags  uint16
	Nested bool // inside another execution on their thread
	Count  uint64
}

// WorkSums are the values of one metric.
type WorkSums struct {
	Metric wire.Metric
	histogram.Histogram
}

const (
	sumsFrom  = 1 << 20 // rows of a table: smaller sessions are read as quickly
	sumsRows  = smallRows
	maxSums   = 1 << 10 // classes: of more, sums are hardly smaller than the rows
	sumsFlags = 1 << 8  // flags are below
)

// summer adds up rows.
type summer struct {
	sums    Sums
	metrics []wire.Metric
	byClass []*classSummer          // by class, if it is small
	others  map[uint32]*classSummer // the rest
	classes int
	failed  bool // there are no sums of such rows
}

// classSummer adds up the rows of a class.
type classSummer struct {
	flags   [2 * sumsFlags]uint64 // those of nested rows second
	threads []uint32
	work    []histogram.Counter // by place in metrics
}

func newSummer(metrics []wire.Metric) *summer {
	return &summer{metrics: metrics, byClass: make([]*classSummer, 1<<12), others: map[uint32]*classSummer{}}
}

func (s *summer) class(id uint32) *classSummer {
	if id < uint32(len(s.byClass)) && s.byClass[id] != nil {
		return s.byClass[id]
	}
	c := s.others[id]
	if c != nil {
		return c
	}
	s.classes++
	s.failed = s.failed || s.classes > maxSums
	c = &classSummer{work: make([]histogram.Counter, len(s.metrics))}
	if id < uint32(len(s.byClass)) {
		s.byClass[id] = c
	} else {
		s.others[id] = c
	}
	return c
}

// executionSums are the metrics of executions and where a chunk has them.
func executionSums(extra int) (want Columns, metrics []wire.Metric, of func(*ExecutionColumns) [][]units.Ns) {
	want = ExecutionClass | ExecutionThread | ExecutionDepth | ExecutionFlags | ExecutionStart | ExecutionEnd |
		ExecutionWall | ExecutionSelfWall | ExecutionCPU | ExecutionSelfCPU | ExecutionQueue | ExecutionDelay
	metrics = []wire.Metric{wire.MetricWall, wire.MetricSelfWall, wire.MetricCPU, wire.MetricSelfCPU, wire.MetricQueue, wire.MetricDelay}
	for k := range extra {
		want |= ExecutionExtra(k) | ExecutionSelfExtra(k)
		metrics = append(metrics, wire.MetricOfExtra(k, false), wire.MetricOfExtra(k, true))
	}
	return want, metrics, func(c *ExecutionColumns) [][]units.Ns {
		columns := [][]units.Ns{c.WallNs, c.SelfWallNs, c.CPUNs, c.SelfCPUNs, c.QueueNs, c.DelayNs}
		for k := range extra {
			columns = append(columns, c.Extra[k], c.SelfExtra[k])
		}
		return columns
	}
}

// executions adds the rows of a chunk that has all columns of executionSums.
func (s *summer) executions(c *ExecutionColumns, columns [][]units.Ns) {
	for i, id := range c.Class {
		if s.failed {
			return
		}
		g := s.class(id)
		flags := int(c.Flags[i])
		if flags >= sumsFlags {
			s.failed = true
			return
		}
		if c.Depth[i] > 0 {
			flags += sumsFlags
		}
		g.flags[flags]++
		if n := len(g.threads); n == 0 || g.threads[n-1] != c.Thread[i] {
			g.threads = append(g.threads, c.Thread[i])
		}
		for m := range columns {
			if v := columns[m][i]; v.Measured() {
				g.work[m].Add(int64(v))
			}
		}
		if s.sums.Rows == 0 || c.StartNs[i] < s.sums.First {
			s.sums.First = c.StartNs[i]
		}
		s.sums.Last = max(s.sums.Last, c.StartNs[i], c.EndNs[i])
		s.sums.Rows++
	}
}

// creations adds the rows of a chunk that has classes and flags.
func (s *summer) creations(class []uint32, flags []uint16) {
	for i, id := range class {
		g := s.class(id)
		if s.failed || flags[i] >= sumsFlags {
			s.failed = true
			return
		}
		g.flags[flags[i]]++
	}
	s.sums.Rows += uint64(len(class))
}

// done are the sums of all rows; nil if there are none.
func (s *summer) done() *Sums {
	if s.failed || s.sums.Rows == 0 {
		return nil
	}
	for id, c := range s.byClass {
		if c != nil {
			s.sums.Classes = append(s.sums.Classes, c.done(uint32(id), s.metrics))
		}
	}
	for id, c := range s.others {
		s.sums.Classes = append(s.sums.Classes, c.done(id, s.metrics))
	}
	slices.SortFunc(s.sums.Classes, func(a, b ClassSums) int { return cmp.Compare(a.Class, b.Class) })
	return &s.sums
}

func (c *classSummer) done(id uint32, metrics []wire.Metric) ClassSums {
	out := ClassSums{Class: id}
	for flags, n := range c.flags {
		if n > 0 {
			out.Flags = append(out.Flags, FlagSum{uint16(flags % sumsFlags), flags >= sumsFlags, n})
		}
	}
	slices.Sort(c.threads)
	out.Threads = slices.Compact(c.threads)
	for m := range c.work {
		if w := &c.work[m]; w.Count > 0 {
			out.Work = append(out.Work, WorkSums{metrics[m], w.Histogram()})
		}
	}
	return out
}
