package timeseries

import (
	"cmp"
	"errors"

	"stackagent/granularity/activity"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/logs/deopt"
	"stackagent/shadow/session/logs/marker"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// pauses adds the pauses of the collector.
func (b *builder) pauses(s *session.Session) error {
	count := b.of(monitor.Declaration{Name: "vm.gc.pauses", Layer: monitor.VM, Kind: monitor.Counter, Source: "agent",
		Doc: "pauses of the collector that ended in the sample"})
	running := b.of(monitor.Declaration{Name: "vm.gc.running", Layer: monitor.VM, Unit: "ratio", Kind: monitor.Gauge, Source: "agent",
		Doc: "share of the sample in which the collector had stopped the program; without the time to reach the safepoint"})
	for _, p := range s.Pauses {
		b.event(count, p.EndNs, 1)
	}
	whole := activity.Span{From: b.edges[0], To: b.edges[len(b.edges)-1]}
	for _, p := range activity.Union(s.Spans(), whole) {
		b.level(running, p.From, p.To, 1)
	}
	return nil
}

// ofWait is the monitor of waits of a kind: how long threads waited, summed over them.
var ofWait = map[string]monitor.Declaration{
	"monitor": {Name: "vm.monitor.wait_ns", Layer: monitor.VM, Unit: "ns", Source: "agent",
		Doc: "time in which threads waited to enter a synchronized block or method, summed over threads, by class of the object"},
	"park": {Name: "lib.park.wait_ns", Layer: monitor.Libraries, Unit: "ns", Source: "agent",
		Doc: "time in which tasks waited for a lock, a future, a latch or another synchroniser, by its class"},
	"notify": {Name: "lib.object_wait_ns", Layer: monitor.Libraries, Unit: "ns", Source: "agent",
		Doc: "time in which tasks waited in Object.wait, by class of the object"},
	"sleep": {Name: "lib.sleep_ns", Layer: monitor.Libraries, Unit: "ns", Source: "agent", Doc: "time in which tasks slept (Thread.sleep)"},
	"io": {Name: "lib.io.wait_ns", Layer: monitor.Libraries, Unit: "ns", Source: "agent",
		Doc: "time in which tasks waited for a socket, a pipe or a file, where the agent saw the wait"},
}

// waits adds what tasks waited for, and what all threads waited for at monitors. A worker that waits for work waits in
// the loop around its tasks, and is left out.
func (b *builder) waits(s *session.Session) error {
	blockers, err := s.Blockers()
	if err != nil {
		return err
	}
	units_, err := unit.Of(s)
	if err != nil {
		return err
	}
	add := func(kind string, blocker, within uint32, from, to units.MonoNs, waited float64) {
		d, known := ofWait[kind]
		if !known || kind != "monitor" && (within == 0 || units_.IsLoop(within)) {
			return
		}
		b.spread(b.of(d), from, to, waited)
		if x, ok := blockers[blocker]; ok {
			b.spread(b.of(by(d, "class", cmp.Or(x.Lock, x.Class))), from, to, waited)
		}
	}
	err = s.Waits(func(w *store.Wait) {
		add(w.Kind, w.Blocker, w.Within, units.MonoNs(w.StartNs), units.MonoNs(w.EndNs), float64(w.EndNs-w.StartNs))
	})
	if err != nil {
		return err
	}
	err = s.WaitSums(func(w *store.WaitSum) {
		add(w.Kind, w.Blocker, w.Within, units.MonoNs(w.FromNs), units.MonoNs(w.ToNs), float64(w.WaitedNs))
	})
	for _, d := range ofWait {
		b.keepLargest(d.Name+"{", mostLabels)
	}
	return err
}

// markers adds the lines of the output that marked something, and deopts the deoptimisations that the JVM logged.
func (b *builder) markers(s *session.Session) error {
	file, err := marker.Read(s.Dir)
	if err != nil || file == nil {
		return err
	}
	d := monitor.Declaration{Name: "app.markers", Layer: monitor.Application, Source: "shadow run --marker", Doc: "lines of the output that match --marker or --marker-begin, when their ends arrived"}
	all := b.of(d)
	for _, m := range file.Markers {
		b.event(all, m.At, 1)
	}
	if n := len(file.Markers); file.Dropped > 0 && n > 0 {
		b.unknown(all, file.Markers[n-1].At, b.edges[len(b.edges)-1])
	}
	return nil
}

func (b *builder) deopts(s *session.Session) error {
	d := monitor.Declaration{Name: "vm.deoptimizations", Layer: monitor.VM, Source: "shadow run --deopts", Doc: "methods that the JVM took compiled code away from, by its reason"}
	file, err := deopt.Read(s.Dir)
	if err != nil {
		return err
	}
	if file == nil {
		b.absent[d.Name] = "not recorded; shadow run --deopts does, with JDK 20 or newer"
		return nil
	}
	all := b.of(d)
	for _, e := range file.Events {
		b.event(all, e.At, 1)
		b.event(b.of(by(d, "reason", e.Reason)), e.At, 1)
	}
	b.keepLargest(d.Name+"{", mostLabels)
	if n := len(file.Events); file.Dropped > 0 && n > 0 {
		b.unknown(all, file.Events[n-1].At, b.edges[len(b.edges)-1])
	}
	return nil
}

// ofState is the monitor of what the program's threads did with their time; states without one are nobody's question.
var ofState = map[activity.ThreadState]monitor.Declaration{
	activity.Runnable:  {Name: "os.runnable_ns", Layer: monitor.OS, Unit: "ns", Doc: "time in which the program's threads were ready and waited for a CPU, summed over threads"},
	activity.IO:        {Name: "os.io_wait_ns", Layer: monitor.OS, Unit: "ns", Doc: "time in which the program's threads waited in the kernel for I/O, summed over threads; also those that wait for requests"},
	activity.Stalled:   {Name: "vm.gc.stall_ns", Layer: monitor.VM, Unit: "ns", Doc: "time in which the program's threads waited for the collector outside of its pauses' own count, summed over threads"},
	activity.Safepoint: {Name: "vm.safepoint.wait_ns", Layer: monitor.VM, Unit: "ns", Doc: "time in which the program's threads waited for the VM at safepoints without a collection, summed over threads"},
}

// scheduling adds what the scheduler did with the threads.
func (b *builder) scheduling(s *session.Session) error {
	a, err := s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		b.absent["os.cpu_ns"], b.absent["os.runnable_ns"] = err.Error(), err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	from, to := b.edges[0], b.edges[len(b.edges)-1]
	source := "scheduling record (" + a.Source + ")"
	running := map[string]*Series{}
	for _, t := range a.Threads {
		if running[t.Kind] == nil {
			running[t.Kind] = b.of(by(monitor.Declaration{Name: "os.cpu_ns", Layer: monitor.OS, Unit: "ns", Source: source,
				Doc: "CPU time of the JVM's threads by what they are for"}, "kind", t.Kind))
		}
	}
	states := map[activity.ThreadState]*Series{}
	for state, d := range ofState {
		d.Source = source
		states[state] = b.of(d)
	}
	switches := b.of(monitor.Declaration{Name: "os.context_switches", Layer: monitor.OS, Source: source, Doc: "times a thread of the JVM left a CPU"})
	err = a.Stream(from, to)(func(x activity.Slice) error {
		if int(x.Thread) >= len(a.Threads) {
			return nil
		}
		kind := a.Threads[x.Thread].Kind
		if x.State == activity.Running {
			b.spread(running[kind], x.From, x.To, float64(x.To-x.From))
			b.event(switches, x.To, 1)
			return nil
		}
		if of := states[x.State]; of != nil && (kind == activity.KindApplication || kind == activity.KindMain) {
			b.spread(of, x.From, x.To, float64(x.To-x.From))
		}
		return nil
	})
	for _, of := range states {
		b.unknown(of, from, a.From)
		b.unknown(of, a.To, to)
	}
	for _, of := range running {
		b.unknown(of, from, a.From)
		b.unknown(of, a.To, to)
	}
	b.unknown(switches, from, a.From)
	b.unknown(switches, a.To, to)
	return err
}
