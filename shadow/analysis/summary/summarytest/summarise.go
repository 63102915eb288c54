package summarytest

import (
	"maps"
	"slices"

	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Summarise is src as if the agent had summarised the executions of the class
// that have ended and begun from the given time of the session on: a summary
// per thread.
func Summarise(src summary.Source, class uint32, from units.MonoNs) (summary.Source, error) {
	read := src.Executions
	summarised := func(c *session.Chunk, i int) bool {
		return c.Class[i] == class && c.WallNs[i].Measured() && c.StartNs[i] >= start+from
	}
	cells := map[uint32]*cell{}
	err := read(store.AllColumns, func(_ int, c *session.Chunk) error {
		for i := range c.Len() {
			if !summarised(c, i) {
				continue
			}
			if cells[c.Thread[i]] == nil {
				cells[c.Thread[i]] = newCell(class, c.Thread[i], c.StartNs[i])
			}
			cells[c.Thread[i]].add(c, i)
		}
		return nil
	})
	src.Executions = func(want store.Columns, use func(int, *session.Chunk) error) error {
		return read(want, func(worker int, c *session.Chunk) error {
			var rest Writer
			for i := range c.Len() {
				if !summarised(c, i) {
					rest.copy(c, i)
				}
			}
			return use(worker, &rest.chunk)
		})
	}
	src.Summaries = func(f func(*session.Summary) error) error {
		for _, id := range slices.Sorted(maps.Keys(cells)) {
			if err := f(cells[id].summary()); err != nil {
				return err
			}
		}
		return nil
	}
	return src, err
}

// copy adds execution i of c.
func (w *Writer) copy(c *session.Chunk, i int) {
	to := &w.chunk
	to.TaskID, to.OuterTaskID = append(to.TaskID, c.TaskID[i]), append(to.OuterTaskID, c.OuterTaskID[i])
	to.Class, to.Thread = append(to.Class, c.Class[i]), append(to.Thread, c.Thread[i])
	to.Depth, to.Flags = append(to.Depth, c.Depth[i]), append(to.Flags, c.Flags[i])
	to.StartNs, to.EndNs = append(to.StartNs, c.StartNs[i]), append(to.EndNs, c.EndNs[i])
	to.WallNs, to.CPUNs = append(to.WallNs, c.WallNs[i]), append(to.CPUNs, c.CPUNs[i])
	to.SelfWallNs, to.SelfCPUNs = append(to.SelfWallNs, c.SelfWallNs[i]), append(to.SelfCPUNs, c.SelfCPUNs[i])
}

// cell counts the executions of a class on a thread.
type cell struct {
	out      session.Summary
	measures [4]session.Measure
	buckets  [4]map[uint16]uint64
}

var cellMetrics = [4]wire.Metric{wire.MetricWall, wire.MetricSelfWall, wire.MetricCPU, wire.MetricSelfCPU}

func newCell(class, thread uint32, from units.MonoNs) *cell {
	c := &cell{out: session.Summary{Summary: store.Summary{Class: class, Thread: thread, FromNs: from}}}
	for i := range c.buckets {
		c.measures[i].Metric, c.buckets[i] = cellMetrics[i], map[uint16]uint64{}
	}
	return c
}

func (x *cell) add(c *session.Chunk, i int) {
	x.out.FromNs, x.out.ToNs = min(x.out.FromNs, c.StartNs[i]), max(x.out.ToNs, c.EndNs[i])
	x.out.Executions++
	if wire.ExecutionFlags(c.Flags[i])&wire.Threw != 0 {
		x.out.Threw++
	}
	for k, n := range []units.Ns{c.WallNs[i], c.SelfWallNs[i], c.CPUNs[i], c.SelfCPUNs[i]} {
		if !n.Measured() {
			continue
		}
		m := &x.measures[k]
		if m.Count == 0 {
			m.MinNs, m.MaxNs = n, n
		}
		m.Count++
		m.SumNs += n
		m.MinNs, m.MaxNs = min(m.MinNs, n), max(m.MaxNs, n)
		x.buckets[k][uint16(histogram.Index(uint64(n)))]++
	}
}

func (x *cell) summary() *session.Summary {
	out := x.out
	for k, m := range x.measures {
		if m.Count == 0 {
			continue
		}
		for _, b := range slices.Sorted(maps.Keys(x.buckets[k])) {
			m.Buckets = append(m.Buckets, histogram.Bucket{Index: b, Count: x.buckets[k][b]})
		}
		out.Measures = append(out.Measures, m)
	}
	return &out
}
