// Package timeseries joins what a session has over time, from all layers, into series over the same samples: tasks,
// pauses, waits, scheduling, and the monitors that were sampled.
package timeseries

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
)

// Series is a monitor over the samples of a table.
type Series struct {
	monitor.Declaration
	Values []float64 // for each sample: the growth of a counter in it, the mean of a gauge; NaN: not measured then
	Dated  units.Ns  // a change of it cannot be dated better, as it is read less often than in each sample; 0: it is read in each
	Ends   []float64 // of a gauge: its value at the end of each sample that has one; nil: only means are known

	steps    []float64 // while it is filled: where levels over whole samples begin and end
	endSteps []float64 // and by how much each end is higher than the one before
}

// Table is all series of a session. Sample i is the interval from Edges[i] to Edges[i+1].
type Table struct {
	Edges        []units.MonoNs
	Series       []Series          // by layer, then by name
	NotAvailable map[string]string // monitor, prefix "hw.*" or what else there is not -> why
	Interval     units.Ns          // at which monitors were sampled; 0: none were
	Missed       int64             // samples that were due and not taken
	Damage       []error           // of samples that could not be read: their growth is missing
}

// Len is the number of samples.
func (t *Table) Len() int { return max(len(t.Edges)-1, 0) }

// Width is the length of sample i.
func (t *Table) Width(i int) units.Ns { return units.Ns(t.Edges[i+1] - t.Edges[i]) }

// Bounds of a table: samples, and values of all its series together, of which fewSeries are not sampled.
const (
	mostSamples = 200_000
	mostValues  = 100_000_000
	fewSeries   = 300
)

// mostLabels bounds how many classes, executors or locks have a series of their own.
const mostLabels = 30

// builder fills the series of a table.
type builder struct {
	edges  []units.MonoNs
	width  units.MonoNs // of samples of equal length; 0: they differ
	series []*Series
	index  map[string]*Series
	absent map[string]string
	damage []error
}

func newBuilder(edges []units.MonoNs) *builder {
	b := &builder{edges: edges, index: map[string]*Series{}, absent: map[string]string{}}
	if len(edges) > 1 {
		b.width = edges[1] - edges[0]
		for i := 1; i < len(edges); i++ {
			if edges[i]-edges[i-1] != b.width {
				b.width = 0
				break
			}
		}
	}
	return b
}

// of is the series of a monitor, made with zeros when it is new.
func (b *builder) of(d monitor.Declaration) *Series {
	if s := b.index[d.Name]; s != nil {
		return s
	}
	s := &Series{Declaration: d, Values: make([]float64, len(b.edges)-1)}
	b.index[d.Name] = s
	b.series = append(b.series, s)
	return s
}

// at is the sample in which the time t lies: a sample holds its end, not its begin. -1: none.
func (b *builder) at(t units.MonoNs) int {
	last := len(b.edges) - 1
	if t <= b.edges[0] || t > b.edges[last] {
		return -1
	}
	if b.width > 0 {
		return int((t - b.edges[0] - 1) / b.width)
	}
	i, _ := slices.BinarySearch(b.edges, t)
	return i - 1
}

// event adds an amount at a moment.
func (b *builder) event(s *Series, at units.MonoNs, amount float64) {
	if i := b.at(at); i >= 0 {
		s.Values[i] += amount
	}
}

// overlaps calls use for the samples that from..to overlaps, with how long.
func (b *builder) overlaps(from, to units.MonoNs, use func(i int, ns float64)) {
	from, to = max(from, b.edges[0]), min(to, b.edges[len(b.edges)-1])
	if to <= from {
		return
	}
	for i := b.at(from + 1); i < len(b.edges)-1 && from < to; i++ {
		until := min(b.edges[i+1], to)
		use(i, float64(until-from))
		from = until
	}
}

// spread adds an amount that came evenly from..to. What lies outside of the table is left out.
func (b *builder) spread(s *Series, from, to units.MonoNs, amount float64) {
	if to <= from {
		b.event(s, to, amount)
		return
	}
	whole := float64(to - from)
	b.overlaps(from, to, func(i int, ns float64) { s.Values[i] += amount * ns / whole })
}

// level adds to the mean of a gauge that it was higher by x from..to.
func (b *builder) level(s *Series, from, to units.MonoNs, x float64) {
	part := func(i int, ns float64) { s.Values[i] += x * ns / float64(b.edges[i+1]-b.edges[i]) }
	from, to = max(from, b.edges[0]), min(to, b.edges[len(b.edges)-1])
	if to <= from {
		return
	}
	first, last := b.at(from+1), b.at(to)
	if s.endSteps == nil {
		s.endSteps, s.Ends = make([]float64, len(s.Values)+1), make([]float64, len(s.Values))
	}
	s.endSteps[first] += x
	if s.endSteps[last] -= x; b.edges[last+1] == to {
		s.endSteps[last], s.endSteps[last+1] = s.endSteps[last]+x, s.endSteps[last+1]-x
	}
	if last-first < longLevel {
		b.overlaps(from, to, part)
		return
	}
	b.overlaps(from, b.edges[first+1], part)
	b.overlaps(b.edges[last], to, part)
	if s.steps == nil {
		s.steps = make([]float64, len(s.Values)+1)
	}
	s.steps[first+1] += x
	s.steps[last] -= x
}

// ramp adds to the ends of samples from..to what rises evenly from x to y meanwhile: between two readings nobody knows when
// a level changed, and a counter that is read at the same times is spread evenly, too.
func (b *builder) ramp(s *Series, from, to units.MonoNs, x, y float64) {
	if s.endSteps == nil || to <= from {
		return
	}
	for i, _ := slices.BinarySearch(b.edges, from+1); i < len(b.edges) && b.edges[i] <= to; i++ {
		if i > 0 {
			s.Ends[i-1] += x + (y-x)*float64(b.edges[i]-from)/float64(to-from)
		}
	}
}

// longLevel is from how many samples on a level is kept as its two ends: a queue may be long for long.
const longLevel = 8

// settle adds the levels that are kept as their ends.
func (b *builder) settle() {
	for _, s := range b.series {
		level := 0.0
		for i, step := range s.steps {
			if level += step; i < len(s.Values) {
				s.Values[i] += level
			}
		}
		level = 0
		for i := range s.Ends {
			if s.endSteps != nil {
				level += s.endSteps[i]
			}
			s.Ends[i] += level
		}
		s.steps, s.endSteps = nil, nil
	}
}

// unknown marks the samples that from..to overlaps as not measured.
func (b *builder) unknown(s *Series, from, to units.MonoNs) {
	b.overlaps(from, to, func(i int, _ float64) { s.Values[i] = math.NaN() })
}

// keepLargest keeps of the series whose names begin with prefix those with the largest sums. The others have none of
// their own; their values are in the series of the whole, if there is one.
func (b *builder) keepLargest(prefix string, most int) {
	b.settle()
	var with []*Series
	for _, s := range b.series {
		if strings.HasPrefix(s.Name, prefix) {
			with = append(with, s)
		}
	}
	if len(with) <= most {
		return
	}
	sums := map[*Series]float64{}
	for _, s := range with {
		for _, v := range s.Values {
			sums[s] += v
		}
	}
	sort.SliceStable(with, func(i, j int) bool { return sums[with[i]] > sums[with[j]] })
	out := map[*Series]bool{}
	for _, s := range with[most:] {
		out[s] = true
	}
	b.series = slices.DeleteFunc(b.series, func(s *Series) bool { return out[s] })
	b.absent[strings.TrimSuffix(prefix, "{")+" of more than "+fmt.Sprint(most)] = fmt.Sprintf("only the largest %d have a series of their own", most)
}

// table is the result.
func (b *builder) table() *Table {
	b.settle()
	t := &Table{Edges: b.edges, NotAvailable: b.absent, Damage: b.damage}
	for _, s := range b.series {
		t.Series = append(t.Series, *s)
	}
	sort.SliceStable(t.Series, func(i, j int) bool {
		a, c := &t.Series[i], &t.Series[j]
		if d, e := a.Layer.Depth(), c.Layer.Depth(); d != e {
			return d < e
		}
		return a.Name < c.Name
	})
	return t
}

// labelled is a monitor's name with a label, whose value comes from outside.
func labelled(name, key, value string) string {
	value = strings.Map(func(r rune) rune {
		if r == '"' || r == '\\' || r == '`' || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(value, "_"))
	if len(value) > maxLabel {
		value = strings.ToValidUTF8(value[:maxLabel], "")
	}
	return name + "{" + key + `="` + value + `"}`
}

const maxLabel = 300

// Sum is how many samples of a series have a value other than 0, and the total of a counter or the mean of a gauge over
// the time in which it was measured; NaN: it never was.
func Sum(t *Table, s *Series) (samples int, value float64) {
	var sum, weighted, measured float64
	for i, v := range s.Values {
		if math.IsNaN(v) {
			continue
		}
		if v != 0 {
			samples++
		}
		w := float64(t.Width(i))
		sum, weighted, measured = sum+v, weighted+v*w, measured+w
	}
	switch {
	case measured == 0:
		return 0, math.NaN()
	case s.Kind == monitor.Gauge:
		return samples, weighted / measured
	}
	return samples, sum
}
