package agent

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"stackagent/agent/instrument"
	"stackagent/internal/monitorspec"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// Kinds of slots, as java.lang.StackagentMonitor and stackagent.inside.Reader know them.
const (
	slotField      = 'F'
	slotCalls      = 'C'
	slotReturns    = 'R'
	slotJMX        = 'J'
	slotMicrometer = 'M'
	slotDropwizard = 'D'
	slotPools      = 'P'
	slotLibraries  = 'I'
)

// notWoven is why a monitor has no values as long as its class has not been met.
const notWoven = "no class of this name was loaded since the session began, or exclude= leaves it as it is"

// monitors are those that the agent reads inside the JVM. Each has a slot, its place in the lists of the Java side; those that
// are known before the JVM runs have an id as well.
type monitors struct {
	lines   []string // of the slots
	watched []instrument.Monitored
	ids     map[int32]uint32 // by slot

	mu    sync.Mutex
	known map[uint32]*wire.InsideMonitor // by id
	news  []uint32                       // ids
}

// newMonitors gives the monitors that the user asks for their slots.
func newMonitors(specs []monitorspec.Spec) *monitors {
	m := &monitors{ids: map[int32]uint32{}, known: map[uint32]*wire.InsideMonitor{}}
	for _, s := range specs {
		switch s.Kind {
		case monitorspec.Field:
			m.declare(slotField, s, instrument.WatchField, wire.InsideMonitor{Name: fmt.Sprintf("app.field.%s.%s", s.Class, s.Member)})
		case monitorspec.Calls:
			m.declare(slotCalls, s, instrument.WatchCalls, wire.InsideMonitor{Name: fmt.Sprintf("app.calls{method=\"%s.%s\"}", s.Class, s.Member), Counter: true})
		case monitorspec.Returns:
			m.declare(slotReturns, s, instrument.WatchReturns, wire.InsideMonitor{Name: fmt.Sprintf("app.returns{method=\"%s.%s\"}", s.Class, s.Member)})
		case monitorspec.JMX:
			m.slot(slotJMX, 0, s.Object, s.Path)
		case monitorspec.Registries:
			m.instances(slotMicrometer, "io.micrometer.core.instrument.MeterRegistry")
			m.instances(slotDropwizard, "com.codahale.metrics.MetricRegistry")
		case monitorspec.Inside:
			m.inside()
		}
	}
	return m
}

// inside are the pools and class libraries.
func (m *monitors) inside() {
	m.slot(slotLibraries, 0, "", "")
	m.instances(slotPools, "java.util.concurrent.ThreadPoolExecutor")
	m.instances(slotPools, "java.util.concurrent.ForkJoinPool")
	m.declare(slotCalls, monitorspec.Spec{Kind: monitorspec.Inside, Class: "java.lang.Throwable", Member: monitorspec.Constructor}, instrument.WatchCalls,
		wire.InsideMonitor{Name: "lib.exceptions.created", Layer: "libraries", Counter: true})
}

// slot makes a slot and returns its number.
func (m *monitors) slot(kind rune, id uint32, class, member string) int32 {
	m.lines = append(m.lines, fmt.Sprintf("%c\t%d\t%s\t%s", kind, id, class, member))
	return int32(len(m.lines) - 1)
}

// declare makes a slot with a monitor whose name is known.
func (m *monitors) declare(kind rune, s monitorspec.Spec, watch instrument.Watch, x wire.InsideMonitor) {
	x.ID, x.Source, x.Why, x.Each = uint32(len(m.known)+1), s.String(), notWoven, true
	if x.Layer == "" {
		x.Layer = "application"
	}
	slot := m.slot(kind, x.ID, s.Class, s.Member)
	m.ids[slot], m.known[x.ID] = x.ID, &x
	m.news = append(m.news, x.ID)
	m.watched = append(m.watched, instrument.Monitored{Class: s.Class, Member: s.Member, Watch: watch, Slot: slot})
}

// instances makes a slot for the objects of a class.
func (m *monitors) instances(kind rune, class string) {
	slot := m.slot(kind, 0, class, "")
	m.watched = append(m.watched, instrument.Monitored{Class: class, Watch: instrument.WatchInstances, Slot: slot})
}

// request is what the JVM's side is to read.
func (m *monitors) request(interval time.Duration) jvmti.MonitorRequest {
	r := jvmti.MonitorRequest{Lines: m.lines, FirstID: uint32(len(m.known) + 1), Interval: interval}
	if len(m.lines) > 0 {
		r.Classes = make([]string, len(m.lines))
	}
	for _, w := range m.watched {
		r.Classes[w.Slot] = strings.ReplaceAll(w.Class, ".", "/")
	}
	return r
}

// found takes note of what the weaver has found in a class.
func (m *monitors) found(list []instrument.Found) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range list {
		m.explain(m.ids[f.Slot], f.Why)
	}
}

// explain changes why a monitor has no values.
func (m *monitors) explain(id uint32, why string) {
	if x := m.known[id]; x != nil && x.Why != why {
		x.Why = why
		m.news = append(m.news, id)
	}
}

// read takes what is new since the last call.
func (m *monitors) read() (news []wire.InsideMonitor, samples []wire.InsideSample, lost []wire.Refusal) {
	if len(m.lines) == 0 {
		return nil, nil, nil
	}
	found, samples, without := jvmti.ReadMonitors()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range found {
		f := &found[i]
		if f.Found {
			m.known[f.ID] = &f.InsideMonitor
			m.news = append(m.news, f.ID)
			continue
		}
		m.explain(f.ID, f.Why)
	}
	seen := map[uint32]bool{}
	for _, id := range m.news {
		if !seen[id] {
			seen[id] = true
			news = append(news, *m.known[id])
		}
	}
	m.news = nil
	if without > 0 {
		lost = []wire.Refusal{{Reason: "sample of a monitor dropped: too many between two batches", Count: without}}
	}
	return news, samples, lost
}
