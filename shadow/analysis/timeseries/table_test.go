package timeseries

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
)

func counter(name string) monitor.Declaration {
	return monitor.Declaration{Name: name, Kind: monitor.Counter}
}

// A sample holds what happens after its begin until its end. Amounts are spread by the time that overlaps.
func TestBuilder(t *testing.T) {
	for name, edges := range map[string][]units.MonoNs{"equal": {100, 200, 300, 400}, "different": {100, 200, 300, 401}} {
		b := newBuilder(edges)
		events := b.of(counter("events"))
		for _, at := range []units.MonoNs{99, 100, 101, 200, 201, 300, 400, 402} {
			b.event(events, at, 1)
		}
		if want := []float64{2, 2, 1}; !slices.Equal(events.Values, want) {
			t.Errorf("%s: events %v, want %v", name, events.Values, want)
		}
		spread := b.of(counter("spread"))
		b.spread(spread, 150, 250, 10) // half of it in each
		b.spread(spread, 0, 200, 4)    // half of it before the table
		b.spread(spread, 300, 300, 7)  // a moment
		b.spread(spread, 500, 600, 9)  // outside
		if want := []float64{7, 12, 0}; !slices.Equal(spread.Values, want) {
			t.Errorf("%s: spread %v, want %v", name, spread.Values, want)
		}
		level := b.of(monitor.Declaration{Name: "level", Kind: monitor.Gauge})
		b.level(level, 0, 150, 2)
		b.level(level, 150, 300, 4)
		if want := []float64{3, 4, 0}; !slices.Equal(level.Values, want) {
			t.Errorf("%s: level %v, want %v", name, level.Values, want)
		}
		b.unknown(level, 50, 101)
		if !math.IsNaN(level.Values[0]) || level.Values[1] != 4 {
			t.Errorf("%s: after unknown: %v", name, level.Values)
		}
		samples, mean := Sum(b.table(), level)
		if samples != 1 || math.Abs(mean-4*100/float64(edges[3]-200)) > 1e-9 {
			t.Errorf("%s: %d samples, mean %v", name, samples, mean)
		}
	}
}

// A level that lasts over many samples costs two updates; its mean is the same.
func TestLongLevel(t *testing.T) {
	var edges []units.MonoNs
	for i := range 101 {
		edges = append(edges, units.MonoNs(i*10))
	}
	b := newBuilder(edges)
	s := b.of(monitor.Declaration{Name: "level", Kind: monitor.Gauge})
	b.level(s, 15, 905, 2)
	b.level(s, 0, 1000, 1)
	got := b.table().Series[0].Values
	for i, want := range map[int]float64{0: 1, 1: 2, 2: 3, 50: 3, 89: 3, 90: 2, 91: 1, 99: 1} {
		if got[i] != want {
			t.Errorf("sample %d: %v, want %v", i, got[i], want)
		}
	}
}

// With too many labels the largest are kept, and that others are missing is said.
func TestKeepLargest(t *testing.T) {
	b := newBuilder([]units.MonoNs{0, 10})
	for i, class := range []string{"a", "b", "c"} {
		b.event(b.of(by(counter("x"), "class", class)), 5, float64(i))
	}
	b.event(b.of(counter("x")), 5, 3)
	b.keepLargest("x{", 2)
	var names []string
	for _, s := range b.table().Series {
		names = append(names, s.Name)
	}
	if want := []string{"x", `x{class="b"}`, `x{class="c"}`}; !slices.Equal(names, want) || b.absent["x of more than 2"] == "" {
		t.Errorf("%v, %v", names, b.absent)
	}
}

func TestLabelled(t *testing.T) {
	for value, want := range map[string]string{
		"a.b":          `x{class="a.b"}`,
		"a\"}\n\x1b\\": `x{class="a_}___"}`,
		"\xff\xfe":     `x{class="_"}`,
	} {
		if got := labelled("x", "class", value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// row makes rows of a sample.
func row(at int64, name string, thread int32, value float64) monitor.Row {
	return monitor.Row{AtNs: at, Monitor: name, Thread: thread, Value: value}
}

// A value belongs to the interval that its sample ends; a gauge keeps its value until it changes, for each thread.
func TestSample(t *testing.T) {
	b := newBuilder([]units.MonoNs{0, 10, 20, 30, 40})
	count := &sampled{Series: b.of(counter("count")), levels: map[int32]level{}}
	slow := counter("slow")
	slow.Interval = 20
	seldom := &sampled{Series: b.of(slow), levels: map[int32]level{}}
	gauge := &sampled{Series: b.of(monitor.Declaration{Name: "gauge", Kind: monitor.Gauge}), levels: map[int32]level{}}
	never := &sampled{Series: b.of(monitor.Declaration{Name: "never", Kind: monitor.Gauge}), levels: map[int32]level{}}
	take := func(s *sampled, before, at units.MonoNs, thread int32, value float64) {
		r := row(int64(at), s.Name, thread, value)
		b.sample(s, &r, 10, before, at)
	}
	take(count, 10, 20, 1, 5)
	take(count, 10, 20, 2, 6)
	take(count, 20, 30, 1, math.NaN())
	take(seldom, 20, 30, 0, 8) // read every 20: since 10
	take(gauge, 10, 20, 1, 3)
	take(gauge, 10, 20, 2, 4)
	take(gauge, 30, 40, 1, 1)
	accrued := &sampled{Series: b.of(monitor.Declaration{Name: "accrued", Accrued: true}), levels: map[int32]level{}}
	take(accrued, 20, 30, 0, 9) // of the time since it was read first
	for _, s := range []*sampled{count, seldom, gauge, never, accrued} {
		b.close(s, 10, 40)
	}
	nan := math.NaN()
	for _, c := range []struct {
		s    *sampled
		want []float64
	}{{count, []float64{nan, 11, 0, 0}}, {seldom, []float64{nan, 4, 4, 0}}, {gauge, []float64{nan, 7, 7, 5}}, {never, []float64{nan, nan, nan, nan}}, {accrued, []float64{nan, 4.5, 4.5, nan}}} {
		if !slices.EqualFunc(c.s.Values, c.want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s: %v, want %v", c.s.Name, c.s.Values, c.want)
		}
	}
}

// A level and a counter that are read at the same moments and grow alike change by the same in each sample, whether the
// samples begin at the readings or not. Seen by the sampler and by the agent, read each time or only where it changed.
func TestLevelsAtTheEnds(t *testing.T) {
	for name, edges := range map[string][]units.MonoNs{"at the readings": {100, 110, 120, 130, 140, 150}, "between them": {103, 114, 121, 138, 150}, "longer": {100, 120, 140, 150}} {
		b := newBuilder(edges)
		level := func(name string) *sampled {
			s := b.of(monitor.Declaration{Name: name, Kind: monitor.Gauge})
			return &sampled{Series: s, levels: map[int32]level{}}
		}
		sampled, counted := level("sampled"), b.of(counter("counted"))
		inside := map[bool]*insideMonitor{}
		for _, each := range []bool{true, false} {
			inside[each] = &insideMonitor{Series: &Series{Declaration: monitor.Declaration{Name: fmt.Sprint("inside ", each), Kind: monitor.Gauge}}, each: each}
		}
		total := 0.0
		for at, grew := range []float64{100, 0, 7, 0, 30, 1} {
			total += grew
			now := 100 + 10*units.MonoNs(at)
			before := max(100, now-10)
			if at > 0 {
				b.spread(counted, before, now, grew)
			}
			b.sample(sampled, &monitor.Row{Value: total}, 100, before, now)
			for _, each := range []bool{true, false} {
				b.insideValue(inside[each], now, before, total)
			}
		}
		b.close(sampled, 100, 150)
		for _, m := range inside {
			b.level(m.Series, m.at, 150, m.value)
		}
		b.settle()
		for _, s := range []*Series{sampled.Series, inside[true].Series, inside[false].Series} {
			if len(s.Ends) != len(edges)-1 || math.Abs(s.Ends[len(s.Ends)-1]-total) > 1e-9 {
				t.Fatalf("%s, edges %s: ends %v, the last value is %v", s.Name, name, s.Ends, total)
			}
			for i := 1; i < len(s.Ends); i++ {
				if d := s.Ends[i] - s.Ends[i-1]; math.Abs(d-counted.Values[i]) > 1e-9 {
					t.Errorf("%s, edges %s: grew by %v in sample %d, the counter by %v", s.Name, name, d, i, counted.Values[i])
				}
			}
		}
	}
	b := newBuilder([]units.MonoNs{0, 10, 20, 30})
	s := b.of(monitor.Declaration{Name: "events", Kind: monitor.Gauge})
	b.level(s, 0, 20, 2) // ends just there
	b.level(s, 5, 26, 1)
	b.settle()
	if want := []float64{3, 3, 0}; !slices.Equal(s.Ends, want) {
		t.Errorf("ends %v, want %v", s.Ends, want)
	}
}

func TestEdges(t *testing.T) {
	edges, err := regular(5, 36, 10)
	if want := []units.MonoNs{5, 15, 25, 36}; err != nil || !slices.Equal(edges, want) {
		t.Errorf("%v, %v", edges, err)
	}
	if edges, err := regular(5, 41, 10); err != nil || !slices.Equal(edges, []units.MonoNs{5, 15, 25, 35, 41}) {
		t.Errorf("with a shorter last sample: %v, %v", edges, err)
	}
	for _, bad := range [][]units.MonoNs{nil, {1}, {1, 1}, {2, 1, 3}} {
		if _, err := checked(bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	if _, err := regular(0, 1<<60, 1); err == nil {
		t.Error("too many samples: no error")
	}
	if _, err := regular(10, 12, 10); err == nil {
		t.Error("no sample: no error")
	}
}

// Series over executions that overlap: counters by the part of each sample, gauges by their mean.
func TestCut(t *testing.T) {
	table := &Table{Edges: []units.MonoNs{0, 10, 20, 30}}
	all := []Execution{{Start: 0, End: 30}, {Start: 5, End: 15}, {Start: 12, End: 14}, {Start: 22, End: 28}}
	count := &Series{Declaration: counter("count"), Values: []float64{10, 20, 30}}
	gauge := &Series{Declaration: monitor.Declaration{Kind: monitor.Gauge}, Values: []float64{1, 3, math.NaN()}}
	nan := math.NaN()
	for _, c := range []struct {
		s    *Series
		want []float64
	}{{count, []float64{60, 15, 4, 18}}, {gauge, []float64{2, 2, 3, nan}}} {
		got := cut(table, c.s, all).Values
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }) {
			t.Errorf("%s: %v, want %v", c.s.Name, got, c.want)
		}
	}
	var g growth
	g.add(0, 10, 4)
	g.add(10, 20, 6)
	g.add(40, 50, 10) // nothing from 20 to 40
	for _, c := range []struct {
		from, to units.MonoNs
		want     float64
	}{{0, 50, 20}, {5, 15, 5}, {20, 40, 0}, {30, 45, 5}, {60, 70, 0}} {
		if got := between(g.at, g.total, Execution{Start: c.from, End: c.to}); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%d to %d: %v, want %v", c.from, c.to, got, c.want)
		}
	}
}
