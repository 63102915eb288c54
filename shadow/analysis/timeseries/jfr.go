package timeseries

import (
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/jfr"
)

// flight adds the events of the JVM's flight recorder. Its times are those of the wall clock, and the session has a pair of
// both clocks at its start.
func (b *builder) flight(s *session.Session) error {
	file, err := jfr.Read(s.Dir)
	if err != nil || file == nil {
		return err
	}
	declare := func(name, unit, doc string) monitor.Declaration {
		return monitor.Declaration{Name: name, Layer: monitor.VM, Unit: unit, Source: "shadow run --jfr", Doc: doc}
	}
	events := declare("vm.jfr.events", "", "events of the JVM's flight recorder that began, by type")
	reasons := declare("vm.jfr.events_by", "", "these by reason, cause, operation or name, for types that have one")
	times := declare("vm.jfr.time_ns", "ns", "how long these events lasted, summed, by type")
	sizes := declare("vm.jfr.bytes", "bytes", "bytes that these events are about, by type")
	for _, t := range file.Types { // one that never happened is 0
		b.of(by(events, "type", t))
	}
	last := units.MonoNs(0)
	for _, e := range file.Events {
		from := s.Manifest.StartNs + units.MonoNs(e.WallUnixNs-s.Manifest.WallUnixNs)
		to := from + units.MonoNs(e.Ns)
		last = max(last, from)
		b.event(b.of(by(events, "type", e.Type)), from, 1)
		if e.By != "" {
			b.event(b.of(by(reasons, "by", e.Type+" "+e.By)), from, 1)
		}
		if e.Ns > 0 {
			b.spread(b.of(by(times, "type", e.Type)), from, to, float64(e.Ns))
		}
		if e.Bytes > 0 {
			b.event(b.of(by(sizes, "type", e.Type)), to, float64(e.Bytes))
		}
	}
	b.keepLargest(reasons.Name+"{", mostLabels)
	if file.Dropped > 0 {
		for _, t := range file.Types {
			b.unknown(b.of(by(events, "type", t)), last, b.edges[len(b.edges)-1])
		}
	}
	return nil
}
