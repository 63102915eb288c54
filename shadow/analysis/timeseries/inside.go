package timeseries

import (
	"strings"

	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// insideDocs say what the monitors are that the agent reads inside the JVM, by the begin of their names.
var insideDocs = []struct{ prefix, doc string }{
	{"app.field.", "value of a field: static, or summed over the live objects of the class that were made since the session began"},
	{"app.calls", "calls of the methods of that name, exact; of <init>: objects made"},
	{"app.returns", "number that a method of that name returned last"},
	{"app.jmx.", "attribute of an MBean"},
	{"app.micrometer.", "meter of a Micrometer registry"},
	{"app.dropwizard.", "metric of a Dropwizard registry"},
	{"pool.threads", "threads of the pool"},
	{"pool.active", "threads of the pool that run a task"},
	{"pool.queued", "tasks that wait in the pool"},
	{"pool.completed", "tasks that the pool has completed"},
	{"lib.exceptions.created", "objects of java.lang.Throwable and its subclasses made; not those that the JVM throws without a constructor"},
	{"lib.finalizers.waiting", "objects that wait for their finalizer"},
	{"lib.buffers.direct", "direct byte buffers"},
	{"lib.buffers.mapped", "mapped files"},
	{"vm.code_cache.used_bytes", "compiled code and stubs in a segment of the code cache"},
}

func insideDoc(name string) string {
	for _, d := range insideDocs {
		if strings.HasPrefix(name, d.prefix) {
			return d.doc
		}
	}
	return ""
}

// insideMonitor is a monitor while its values are read.
type insideMonitor struct {
	*Series
	each  bool         // see store.InsideMonitor
	at    units.MonoNs // of its last value; 0: none yet
	value float64
}

// inside adds the monitors that the agent read inside the JVM.
func (b *builder) inside(s *session.Session) error {
	monitors, err := s.InsideMonitors()
	if err != nil || len(monitors) == 0 {
		return err
	}
	all := map[uint32]*insideMonitor{}
	for id, m := range monitors {
		if m.Why != "" {
			b.absent[m.Name] = m.Why
		}
		if b.index[m.Name] != nil { // the session knows it better
			continue
		}
		kind := monitor.Gauge
		if m.Counter {
			kind = monitor.Counter
		}
		d := monitor.Declaration{Name: m.Name, Layer: monitor.Layer(m.Layer), Unit: m.Unit, Kind: kind, Source: "agent: " + m.Source, Doc: insideDoc(m.Name)}
		all[id] = &insideMonitor{Series: &Series{Declaration: d}, each: m.Each}
	}
	var tick units.MonoNs // when all were read last
	err = s.InsideSamples(func(r *store.InsideSample) {
		at := units.MonoNs(r.AtNs)
		if r.Monitor == 0 {
			tick = at
		} else if m := all[r.Monitor]; m != nil {
			b.insideValue(m, at, tick, r.Value)
		}
	})
	for _, m := range all {
		if m.at == 0 {
			continue
		}
		last := max(tick, m.at)
		if m.Kind == monitor.Gauge {
			b.level(m.Series, m.at, last, m.value)
		}
		b.unknown(m.Series, last, b.edges[len(b.edges)-1])
	}
	return err
}

// insideValue takes a value. tick is when all monitors were read before it.
func (b *builder) insideValue(m *insideMonitor, at, tick units.MonoNs, value float64) {
	from := m.at // since when it may have changed
	if m.each {
		from = min(max(from, tick), at)
	}
	switch {
	case m.at == 0:
		m.Series = b.of(m.Declaration)
		b.unknown(m.Series, b.edges[0], at)
	case at <= m.at: // the clock's conversion may swap two that are very close
	case m.Kind == monitor.Gauge:
		b.level(m.Series, m.at, at, m.value)
		b.ramp(m.Series, from, at, 0, value-m.value)
	case value > m.value:
		b.spread(m.Series, from, at, value-m.value)
	}
	m.at, m.value = max(m.at, at), value
}
