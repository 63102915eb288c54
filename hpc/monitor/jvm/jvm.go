// Package jvm samples the counters that a HotSpot JVM keeps in a mapped file (hsperfdata): of its compilers, class
// loading, heap, collectors, safepoints. Reading them costs the JVM nothing.
package jvm

import (
	"errors"
	"fmt"
	"strings"

	"stackagent/hpc/monitor"
	"stackagent/hpc/perfdata"
	"stackagent/internal/units"
)

// Group is the group of these monitors.
func Group() monitor.Group {
	return monitor.Group{
		Name: "jvm", Layer: monitor.VM, Prefixes: []string{"vm."},
		Doc: "the JVM's own counters (hsperfdata): compilation, class loading, heap, collections, safepoints",
		Open: func(o monitor.Target) (monitor.Source, error) {
			data, err := perfdata.Open(o.PID)
			if errors.Is(err, perfdata.ErrNone) {
				return nil, fmt.Errorf("%w: %w", monitor.ErrNotYet, err)
			}
			if err != nil {
				return nil, err
			}
			return &source{data: data}, nil
		},
	}
}

// counters are those of a JVM; perfdata.Process has them.
type counters interface {
	Read() error
	Layout() *perfdata.Layout
	Value(c perfdata.Counter) int64
	Long(name string) (int64, bool)
	Text(name string) (string, bool)
	Close() error
}

// source reads the counters of one JVM.
type source struct {
	data   counters
	layout *perfdata.Layout
	list   []counter
}

// counter is a monitor of the present layout.
type counter struct {
	perfdata.Counter
	id    monitor.ID
	kind  monitor.Kind
	scale float64 // ns of a tick; 0: no ticks
	last  int64
	seen  bool
}

func (s *source) Close() error { return s.data.Close() }

func (s *source) Read(_ units.MonoNs, to monitor.Sink) error {
	if err := s.data.Read(); err != nil {
		if errors.Is(err, perfdata.ErrNotReady) {
			return nil
		}
		return err
	}
	if l := s.data.Layout(); l != s.layout {
		s.layout = l
		s.declare(to)
	}
	for i := range s.list {
		c := &s.list[i]
		v := s.data.Value(c.Counter)
		if v == c.last && c.seen {
			continue
		}
		c.last, c.seen = v, true
		switch {
		case c.kind == monitor.Gauge && c.scale > 0:
			to.Value(c.id, 0, float64(v)*c.scale)
		case c.kind == monitor.Gauge:
			to.Value(c.id, 0, float64(v))
		case c.scale > 0:
			to.Total(c.id, 0, int64(float64(v)*c.scale))
		default:
			to.Total(c.id, 0, v)
		}
	}
	return nil
}

// declare makes the monitors of a layout known. Totals go on where they were: the sink knows them by name.
func (s *source) declare(to monitor.Sink) {
	tick := 1.0
	if f, ok := s.data.Long("sun.os.hrt.frequency"); ok && f > 0 {
		tick = 1e9 / float64(f)
	}
	s.list = s.list[:0]
	for _, c := range s.layout.Counters() {
		d, ok := declaration(c, s.data.Text)
		if !ok {
			continue
		}
		one := counter{Counter: c, kind: d.Kind}
		if c.Unit == perfdata.Ticks {
			one.scale = tick
		}
		one.id = to.Declare(d)
		s.list = append(s.list, one)
	}
}

// declaration is the monitor of a counter; not ok: it never changes, or another counter says the same.
func declaration(c perfdata.Counter, text func(string) (string, bool)) (d monitor.Declaration, ok bool) {
	if c.Variability == perfdata.Constant || strings.HasPrefix(c.Name, "sun.perfdata.") || repeats[c.Name] {
		return d, false
	}
	d = monitor.Declaration{Layer: monitor.VM, Source: "hsperfdata " + clean(c.Name), Kind: monitor.Gauge, Doc: "the JVM's counter of this name"}
	if c.Variability == perfdata.Monotonic {
		d.Kind = monitor.Counter
	}
	switch c.Unit {
	case perfdata.Bytes:
		d.Unit = "bytes"
	case perfdata.Ticks:
		d.Unit = "ns"
	}
	if k, found := known[c.Name]; found {
		d.Name, d.Doc, d.Accrued = k.name, k.doc, k.accrued
		if k.unit != "" {
			d.Unit = k.unit
		}
		if k.plain {
			d.Unit = ""
		}
		if k.counter {
			d.Kind = monitor.Counter
		}
		return d, true
	}
	if name, doc, found := ofCollector(c.Name, text); found {
		d.Name, d.Doc, d.Kind = name, doc, monitor.Counter
		return d, strings.HasPrefix(name, "vm.gc.")
	}
	if name, doc, found := ofSpace(c.Name, text); found {
		d.Name, d.Doc = name, doc
		return d, true
	}
	d.Name = "vm.counter." + clean(c.Name)
	return d, true
}

// ofCollector names the counters of one collector.
func ofCollector(counter string, text func(string) (string, bool)) (name, doc string, ok bool) {
	rest, ok := strings.CutPrefix(counter, "sun.gc.collector.")
	if !ok {
		return "", "", false
	}
	number, what, _ := strings.Cut(rest, ".")
	collector, _ := text("sun.gc.collector." + number + ".name")
	label := fmt.Sprintf("{collector=%q}", clean(collector))
	switch what {
	case "invocations":
		return "vm.gc.collections" + label, "collections begun by this collector", true
	case "time":
		return "vm.gc.time_ns" + label, "time of its pauses; it grows at the end of each", true
	}
	return "", "", true // lastEntryTime and lastExitTime: the pauses of the session have them
}

// ofSpace names the counters of a space or a generation of the heap.
func ofSpace(counter string, text func(string) (string, bool)) (name, doc string, ok bool) {
	rest, ok := strings.CutPrefix(counter, "sun.gc.generation.")
	if !ok {
		return "", "", false
	}
	dot := strings.LastIndex(rest, ".")
	if dot < 0 {
		return "", "", false
	}
	place, what := rest[:dot], rest[dot+1:]
	if what != "used" && what != "capacity" {
		return "", "", false
	}
	word, _ := text("sun.gc.generation." + place + ".name")
	if word == "" {
		return "", "", false
	}
	if generation, _, inside := strings.Cut(place, "."); inside && word == "space" { // G1 and ZGC have no other word for it
		word, _ = text("sun.gc.generation." + generation + ".name")
	}
	word = strings.ToLower(clean(word))
	if !strings.Contains(place, ".") {
		word = "generation." + word
	}
	doc = "committed size of this part of the heap; G1 updates it at collections"
	if what == "used" {
		doc = "bytes in use; Serial and Parallel update eden every 50 ms, other spaces and collectors at collections only"
	}
	return "vm.heap." + word + "." + what + "_bytes", doc, true
}

// clean keeps what may stand in a monitor's name: the file belongs to whoever runs the JVM.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-', r == ' ':
			return r
		}
		return '_'
	}, s)
}
