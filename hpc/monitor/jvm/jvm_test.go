package jvm

import (
	"testing"

	"stackagent/hpc/monitor"
	"stackagent/hpc/perfdata"
	"stackagent/internal/units"
)

// A counter's name, unit and kind follow from what the JVM says of it, and from the table of known ones.
func TestDeclaration(t *testing.T) {
	texts := map[string]string{
		"sun.gc.collector.0.name": "G1 young \x1bcollection{}\"", "sun.gc.generation.0.space.0.name": "Eden", "sun.gc.generation.1.space.0.name": "space",
		"sun.gc.generation.1.name": "old", "sun.gc.generation.0.name": "young",
	}
	text := func(name string) (string, bool) { s, ok := texts[name]; return s, ok }
	for _, c := range []struct {
		counter perfdata.Counter
		name    string // "": no monitor
		unit    string
		kind    monitor.Kind
	}{
		{perfdata.Counter{Name: "java.ci.totalTime", Unit: perfdata.Ticks, Variability: perfdata.Monotonic}, "vm.jit.time_ns", "ns", monitor.Counter},
		{perfdata.Counter{Name: "java.threads.live", Variability: 3}, "vm.threads.live", "", monitor.Gauge},
		{perfdata.Counter{Name: "sun.gc.collector.0.time", Unit: perfdata.Ticks, Variability: 3}, `vm.gc.time_ns{collector="G1 young _collection___"}`, "ns", monitor.Counter},
		{perfdata.Counter{Name: "sun.gc.collector.0.lastEntryTime", Unit: perfdata.Ticks, Variability: 3}, "", "", 0},
		{perfdata.Counter{Name: "sun.gc.generation.0.space.0.used", Unit: perfdata.Bytes, Variability: 3}, "vm.heap.eden.used_bytes", "bytes", monitor.Gauge},
		{perfdata.Counter{Name: "sun.gc.generation.1.space.0.capacity", Unit: perfdata.Bytes, Variability: 3}, "vm.heap.old.capacity_bytes", "bytes", monitor.Gauge},
		{perfdata.Counter{Name: "sun.gc.generation.0.capacity", Unit: perfdata.Bytes, Variability: 3}, "vm.heap.generation.young.capacity_bytes", "bytes", monitor.Gauge},
		{perfdata.Counter{Name: "sun.gc.generation.9.capacity", Unit: perfdata.Bytes, Variability: 3}, "vm.counter.sun.gc.generation.9.capacity", "bytes", monitor.Gauge},
		{perfdata.Counter{Name: "sun.os.hrt.frequency", Variability: perfdata.Constant}, "", "", 0},
		{perfdata.Counter{Name: "sun.x{y=\"\n", Variability: perfdata.Monotonic}, "vm.counter.sun.x_y___", "", monitor.Counter},
	} {
		d, ok := declaration(c.counter, text)
		if ok != (c.name != "") {
			t.Errorf("%s: a monitor: %v, %+v", c.counter.Name, ok, d)
			continue
		}
		if ok && (d.Name != c.name || d.Unit != c.unit || d.Kind != c.kind || d.Layer != monitor.VM || d.Doc == "" || d.Source == "") {
			t.Errorf("%s: %+v, want %s, %s, %s", c.counter.Name, d, c.name, c.unit, c.kind)
		}
	}
}

// No two counters have the same name, or it would be a sum of things that do not belong together.
func TestKnown(t *testing.T) {
	names := map[string]string{}
	for counter, k := range known {
		if other := names[k.name]; other != "" {
			t.Errorf("%s is the name of %s and %s", k.name, counter, other)
		}
		names[k.name] = counter
	}
}

// totals is a sink that keeps what it is given.
type totals struct {
	ids    []string
	total  map[string]int64
	value  map[string]float64
	passed int
}

func (s *totals) Declare(d monitor.Declaration) monitor.ID {
	for i, name := range s.ids {
		if name == d.Name {
			return monitor.ID(i)
		}
	}
	s.ids = append(s.ids, d.Name)
	return monitor.ID(len(s.ids) - 1)
}
func (s *totals) Absent(string, string)                       {}
func (s *totals) Total(id monitor.ID, _ int32, total int64)   { s.passed++; s.total[s.ids[id]] = total }
func (s *totals) Grew(monitor.ID, int32, int64)               {}
func (s *totals) Value(id monitor.ID, _ int32, value float64) { s.passed++; s.value[s.ids[id]] = value }

// file is a JVM's counters in memory.
type file struct {
	layout *perfdata.Layout
	values map[string]int64
}

func (f *file) Read() error                    { return nil }
func (f *file) Layout() *perfdata.Layout       { return f.layout }
func (f *file) Value(c perfdata.Counter) int64 { return f.values[c.Name] }
func (f *file) Long(name string) (int64, bool) { v, ok := f.values[name]; return v, ok }
func (f *file) Text(string) (string, bool)     { return "", false }
func (f *file) Close() error                   { return nil }

// Only what changed is passed on, ticks as nanoseconds, and the JVM may add counters.
func TestRead(t *testing.T) {
	compiles := perfdata.Counter{Name: "sun.ci.totalCompiles", Variability: perfdata.Monotonic}
	times := perfdata.Counter{Name: "java.ci.totalTime", Unit: perfdata.Ticks, Variability: perfdata.Monotonic}
	live := perfdata.Counter{Name: "java.threads.live", Variability: 3}
	f := &file{layout: perfdata.LayoutOf(compiles, times), values: map[string]int64{"sun.os.hrt.frequency": 1e6, compiles.Name: 3, times.Name: 50}}
	s, to := &source{data: f}, &totals{total: map[string]int64{}, value: map[string]float64{}}
	read := func() {
		t.Helper()
		to.passed = 0
		if err := s.Read(units.MonoNs(0), to); err != nil {
			t.Fatal(err)
		}
	}
	read()
	if to.passed != 2 || to.total["vm.jit.compilations"] != 3 || to.total["vm.jit.time_ns"] != 50_000 {
		t.Errorf("first: %d values, %v", to.passed, to.total)
	}
	if read(); to.passed != 0 {
		t.Errorf("nothing changed, and %d values were passed", to.passed)
	}
	f.layout, f.values[live.Name], f.values[compiles.Name] = perfdata.LayoutOf(live, compiles, times), 9, 4
	if read(); to.total["vm.jit.compilations"] != 4 || to.value["vm.threads.live"] != 9 {
		t.Errorf("with another counter: %v, %v", to.total, to.value)
	}
}
