package page

import (
	"cmp"
	"iter"
	"maps"
	"math"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/histogram"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
)

// Limits of a cube. While it is filled it may be larger by far than the one that is written.
const (
	fillRows   = 1 << 14 // combinations
	fillSize   = 1 << 23 // cells and buckets
	mostRows   = 3000
	mostSize   = 600_000 // cells and buckets that are written
	leastRows  = 300
	leastSlots = 15
	cellSize   = 8 // a cell without its buckets, in buckets
)

// rowKey is a combination; a part of it may be none.
type rowKey struct{ class, executor, site, thread uint32 }

const none = math.MaxUint32

// less orders combinations.
func (k rowKey) compare(o rowKey) int {
	return cmp.Or(cmp.Compare(k.class, o.class), cmp.Compare(k.executor, o.executor), cmp.Compare(k.site, o.site), cmp.Compare(k.thread, o.thread))
}

// without leaves out what tells combinations apart, the finest first.
func (k rowKey) without(level int) rowKey {
	for i, part := range []*uint32{&k.thread, &k.site, &k.executor, &k.class} {
		if i < level {
			*part = none
		}
	}
	return k
}

// filler fills a cube. It halves the slots and leaves out threads, sites and so on as it becomes too large. A union of
// fillers is at least as large as each of them, so the result does not depend on how tasks are divided among fillers.
type filler struct {
	measures []summary.WorkMetric
	slots    int
	level    int // of rowKey.without
	rows     map[rowKey]*row
	size     int // of cells and buckets
	last     rowKey
	row      *row
}

type row struct {
	cells []*cell // by slot; nil: empty
}

// cell is what ended in a slot.
type cell struct {
	count, threw uint32
	measures     []measured
}

// measured is a measure of a cell. Buckets are those of scale.
type measured struct {
	known uint32
	sum   int64
	max   int64
	histogram.Counts[uint16, uint32]
}

func newFiller(measures []summary.WorkMetric, slots int) *filler {
	return &filler{measures: measures, slots: slots, rows: map[rowKey]*row{}}
}

// cell is the cell of a combination and slot.
func (f *filler) cell(k rowKey, slot int) *cell {
	if k = k.without(f.level); f.row == nil || k != f.last {
		f.last, f.row = k, f.rows[k]
		if f.row == nil {
			f.row = &row{cells: make([]*cell, f.slots)}
			f.rows[k] = f.row
		}
	}
	c := f.row.cells[slot]
	if c == nil {
		c = &cell{measures: make([]measured, len(f.measures))}
		f.row.cells[slot] = c
		f.size += cellSize
	}
	return c
}

// add adds a task. slot is of the most slots that there may be.
func (f *filler) add(k rowKey, slot, most int, x *summary.WorkItem) {
	c := f.cell(k, slot*f.slots/most)
	c.count++
	if x.Threw {
		c.threw++
	}
	for i := range f.measures {
		if v := int64(x.Values[f.measures[i].Metric]); units.Ns(v).Measured() {
			m := &c.measures[i]
			m.known++
			m.sum += v
			m.max = max(m.max, v)
			f.count(m, BucketOf(v), 1)
		}
	}
	f.shrink()
}

// count counts values in a bucket of a measure.
func (f *filler) count(m *measured, bucket uint16, times uint32) {
	if m.Add(bucket, times) {
		f.size++
	}
}

// shrink keeps the filler within its limits.
func (f *filler) shrink() {
	for len(f.rows) > fillRows && f.level < 4 {
		f.level++
		f.rekey(func(k rowKey) rowKey { return k.without(f.level) })
	}
	for f.size > fillSize && f.slots > leastSlots {
		f.halve()
	}
}

// rekey gives rows other keys and adds those of one key up.
func (f *filler) rekey(to func(rowKey) rowKey) {
	old := f.rows
	f.rows, f.row, f.size = map[rowKey]*row{}, nil, 0
	for k, r := range old {
		f.mergeRow(to(k), r)
	}
}

// halve adds up two slots each.
func (f *filler) halve() {
	f.slots /= 2
	f.rekey(func(k rowKey) rowKey { return k })
}

// merge adds what o has, which is empty then.
func (f *filler) merge(o *filler) {
	for f.level < o.level {
		f.level++
		f.rekey(func(k rowKey) rowKey { return k.without(f.level) })
	}
	for f.slots > o.slots {
		f.halve()
	}
	for k, r := range o.rows {
		f.mergeRow(k.without(f.level), r)
		f.shrink()
	}
	o.rows = nil
}

// mergeRow adds a row, the cells of which may be of finer slots.
func (f *filler) mergeRow(k rowKey, from *row) {
	to := f.rows[k]
	if to == nil {
		to = &row{cells: make([]*cell, f.slots)}
		f.rows[k] = to
	}
	for slot, c := range from.cells {
		at := &to.cells[slot*f.slots/len(from.cells)]
		switch {
		case c == nil:
		case *at == nil:
			*at = c
			f.size += c.size()
		default:
			f.size -= (*at).size()
			(*at).merge(c)
			f.size += (*at).size()
		}
	}
}

func (c *cell) size() int {
	n := cellSize
	for i := range c.measures {
		n += len(c.measures[i].Index)
	}
	return n
}

func (c *cell) merge(o *cell) {
	c.count += o.count
	c.threw += o.threw
	for i := range c.measures {
		to, from := &c.measures[i], &o.measures[i]
		to.known += from.known
		to.sum += from.sum
		to.max = max(to.max, from.max)
		to.Merge(&from.Counts)
	}
}

// addSummary spreads tasks that were not recorded one by one over the slots, with weights by slot that are the time of
// their interval in it. Counts, sums and buckets add up exactly.
func (f *filler) addSummary(k rowKey, weights []float64, x *summary.WorkSummary) {
	weights = coarser(weights, f.slots)
	counts, threw := granularity.Divide(x.Executions, weights), granularity.Divide(x.Threw, weights)
	for slot, n := range counts {
		if n > 0 || threw[slot] > 0 {
			c := f.cell(k, slot)
			c.count += uint32(n)
			c.threw += uint32(threw[slot])
		}
	}
	for i := range f.measures {
		if m := &x.Work[f.measures[i].Metric]; m.Count > 0 {
			known := counts
			if m.Count != x.Executions {
				known = granularity.Divide(m.Count, weights)
			}
			sums, left := granularity.Divide(int64(m.Sum), weights), slices.Clone(known)
			for slot, n := range known {
				if n > 0 || sums[slot] != 0 {
					to := &f.cell(k, slot).measures[i]
					to.known += uint32(n)
					to.sum += sums[slot]
					to.max = max(to.max, int64(m.Max))
				}
			}
			for bucket, times := range coarse(m.Buckets, m.Count, m.Sum) {
				for slot, n := range deal(left, int64(times)) {
					if n > 0 {
						f.count(&f.cell(k, slot).measures[i], bucket, uint32(n))
					}
				}
			}
		}
	}
	f.shrink()
}

// coarser are weights of fewer slots.
func coarser(weights []float64, slots int) []float64 {
	if slots == len(weights) {
		return weights
	}
	out := make([]float64, slots)
	for i, w := range weights {
		out[i*slots/len(weights)] += w
	}
	return out
}

// deal divides n among places of which each has so many left. It takes them.
func deal(left []int64, n int64) []int64 {
	all := int64(0)
	for _, l := range left {
		all += l
	}
	n = min(n, all)
	out, passed, given := make([]int64, len(left)), int64(0), int64(0)
	for i, l := range left {
		passed += l
		// No place gets more than it has left: its exact part is no more than that.
		until := int64(math.Round(float64(n) * (float64(passed) / float64(max(all, 1)))))
		out[i] = min(max(until-given, 0), l)
		given += out[i]
	}
	for i := range out { // what floating point has lost
		more := min(n-given, left[i]-out[i])
		out[i] += more
		given += more
		left[i] -= out[i]
	}
	return out
}

// coarse are the buckets of a summary in those of a cell. If they cannot be read, all values are like their mean.
func coarse(buckets []histogram.Bucket, count int64, sum units.Ns) iter.Seq2[uint16, uint32] {
	var c histogram.Counts[uint16, uint32]
	for _, b := range buckets {
		c.Add(BucketOf(int64(histogram.Middle(int(b.Index)))), uint32(b.Count))
	}
	if len(buckets) == 0 {
		c.Add(BucketOf(int64(sum)/count), uint32(count))
	}
	return c.All()
}

// finish folds and coarsens the cube until it is small enough, and returns the number of combinations that it has
// folded.
func (f *filler) finish() (folded int) {
	all, rows := len(f.rows), mostRows
	for {
		if len(f.rows) > rows {
			f.fold(rows)
		}
		switch {
		case f.size <= mostSize:
			return all - len(f.rows)
		case f.slots > 2*leastSlots:
			f.halve()
		case len(f.rows) > leastRows:
			rows = max(len(f.rows)/2, leastRows)
		case f.slots > leastSlots:
			f.halve()
		default:
			return all - len(f.rows)
		}
	}
}

// fold keeps the rows with the most work and adds the others up by class, or all of them if there are too many classes.
func (f *filler) fold(rows int) {
	type total struct {
		k         rowKey
		work, any int64
	}
	var list []total
	classes := map[uint32]bool{}
	for k, r := range f.rows {
		t := total{k: k}
		for _, c := range r.cells {
			if c != nil {
				t.any += int64(c.count)
				if len(c.measures) > 0 {
					t.work += c.measures[0].sum
				}
			}
		}
		list, classes[k.class] = append(list, t), true
	}
	slices.SortFunc(list, func(a, b total) int {
		return cmp.Or(cmp.Compare(b.work, a.work), cmp.Compare(b.any, a.any), a.k.compare(b.k))
	})
	level, others := 3, len(classes)
	if others > rows/2 {
		level, others = 4, 1
	}
	rows -= others
	kept := map[rowKey]bool{}
	for _, t := range list[:min(rows, len(list))] {
		kept[t.k] = true
	}
	f.rekey(func(k rowKey) rowKey {
		if kept[k] {
			return k
		}
		return k.without(level)
	})
}

// keys are the combinations in order.
func (f *filler) keys() []rowKey { return slices.SortedFunc(maps.Keys(f.rows), rowKey.compare) }

// write fills in the cells.
func (f *filler) write(cells *Cells) {
	cells.Measures = make([]CellsMeasured, len(f.measures))
	ends := make([]uint32, len(f.measures))
	for n, k := range f.keys() {
		for slot, c := range f.rows[k].cells {
			if c == nil {
				continue
			}
			cells.Row, cells.Slot = append(cells.Row, uint32(n)), append(cells.Slot, uint16(slot))
			cells.Count, cells.Threw = append(cells.Count, c.count), append(cells.Threw, c.threw)
			for i := range c.measures {
				from, m := &c.measures[i], &cells.Measures[i]
				m.Known, m.Sum, m.Max = append(m.Known, from.known), append(m.Sum, float64(from.sum)), append(m.Max, float64(from.max))
				m.Bucket, m.Times = append(m.Bucket, from.Index...), append(m.Times, from.Buckets...)
				ends[i] += uint32(len(from.Index))
				m.End = append(m.End, ends[i])
			}
		}
	}
}
