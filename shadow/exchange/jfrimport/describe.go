package jfrimport

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// describe fills the manifest.
func (b *builder) describe() {
	m := &b.w.Manifest
	m.ImportedFrom = Source
	for _, why := range b.partOf() {
		m.PartOf = append(m.PartOf, strings.TrimPrefix(why, store.Incomplete)) // where it is shown, it begins so
	}
	m.StartNs, m.EndNs, m.Ended = units.MonoNs(b.clock.start), units.MonoNs(b.clock.end), store.EndedExit
	m.WallUnixNs = b.clock.start
	m.JVM, m.Labels = b.facts.jvm, b.labels()
	m.Metrics = []string{"wall"}
	m.Produced.Executions = uint64(b.result.Executions)
	m.NotAvailable = map[string]string{
		store.NoCreations: "a JFR recording does not say which tasks were created",
		store.NoLostCount: b.lost(),
	}
	if b.facts.ours > 0 {
		m.JVM.GC = cmp.Or(m.JVM.GC, b.facts.collection)
		m.Metrics = append(m.Metrics, "cpu")
	} else {
		m.NotAvailable["cpu"] = "a JFR recording has no CPU times of tasks"
		m.NotAvailable["threw"] = "a JFR recording does not say which executions ended by an exception"
	}
	if b.facts.submissions > 0 {
		m.Submissions = &store.RecordAccount{Produced: uint64(b.facts.submissions)}
	} else {
		m.NotAvailable["queue"] = "a JFR recording does not say when tasks were submitted, and to which executor"
	}
	if b.facts.traces > 0 {
		m.Traces = &store.RecordAccount{Produced: uint64(b.facts.traces)}
	}
	if b.result.Executions == 0 {
		m.NotAvailable[store.NoExecutions] = b.noExecutions()
	}
	if b.count["jdk.GCPhasePause"] == 0 && !b.settings.enabled["jdk.GCPhasePause"] {
		m.NotAvailable[store.NoPauses] = "the recording has no jdk.GCPhasePause events"
	}
	if b.facts.losses > 0 {
		m.Lost.ByReason = map[string]uint64{store.LostByJFR: uint64(b.facts.losses)}
	}
	if b.full {
		m.NotAvailable["stacks of some waits"] = fmt.Sprintf("the recording has more than %d different ones", maxContexts)
	}
	b.describeWaits(m)
	for _, n := range b.notes() {
		b.w.Note(n)
	}
}

// partOf says what the recording lacks of the session from which it was exported.
func (b *builder) partOf() []string {
	out := slices.Clone(b.facts.partOf)
	if n := b.facts.summarised; n > 0 {
		out = append(out, plural(n, "execution is", "executions are")+" only counted in the recording (events stackagent.Summary), and not in this session")
	}
	return out
}

// lost is what is known of lost events.
func (b *builder) lost() string {
	if b.facts.losses == 0 {
		return "a JFR recording does not count lost events, nor those that its size or age limit discarded; it reports no loss of data"
	}
	return fmt.Sprintf("a JFR recording does not count lost events; it reports %s of data, %s in all", plural(b.facts.losses, "loss", "losses"), units.FormatBytes(b.facts.lostBytes))
}

func (b *builder) noExecutions() string {
	switch {
	case b.facts.summarised > 0 || b.facts.submissions > 0 || len(b.facts.partOf) > 0: // exported from a session
		return "the recording has no event stackagent.Task"
	case b.facts.otherMethods > 0:
		return "the recording traced no method that executes tasks (run, call, exec, compute); with --methods, each traced method is a task"
	case b.count["jdk.VirtualThreadStart"]+b.count["jdk.VirtualThreadEnd"] > 0:
		return "the recording has no virtual thread with its start and its end; record with both jdk.VirtualThreadStart#enabled=true and jdk.VirtualThreadEnd#enabled=true"
	}
	return "the recording has neither traced methods (jdk.MethodTrace) nor virtual threads that start and end (jdk.VirtualThreadStart, jdk.VirtualThreadEnd)"
}

// sources are the kinds of waits, each with the types of events it takes.
var sources = []struct {
	kind  wire.WaitKind
	types []string
}{
	{wire.WaitMonitor, []string{"jdk.JavaMonitorEnter"}},
	{wire.WaitNotify, []string{"jdk.JavaMonitorWait"}},
	{wire.WaitPark, []string{"jdk.ThreadPark"}},
	{wire.WaitSleep, []string{"jdk.ThreadSleep"}},
	{wire.WaitIO, []string{"jdk.SocketRead", "jdk.SocketWrite", "jdk.FileRead", "jdk.FileWrite"}},
}

// describeWaits says which waits the recording has.
func (b *builder) describeWaits(m *store.Manifest) {
	if b.describeOurWaits(m) {
		return
	}
	r := &store.WaitRecording{}
	var limits []string
	for _, s := range sources {
		kind, there := store.WaitKindName(s.kind), false
		for _, t := range s.types {
			if !b.settings.enabled[t] && !b.facts.waitTypes[t] {
				continue
			}
			there = true
			if limit := b.settings.threshold[t]; limit > 0 {
				r.LimitNs = max(r.LimitNs, limit)
				limits = append(limits, fmt.Sprintf("%s below %s", t, units.FormatNs(limit)))
			}
		}
		if there {
			r.Sources = append(r.Sources, kind)
		} else {
			m.NotAvailable["waits: "+kind] = "the recording has no " + strings.Join(s.types, ", ")
		}
	}
	if len(r.Sources) == 0 && !b.facts.waitTypes["jdk.VirtualThreadPinned"] {
		for _, s := range sources {
			delete(m.NotAvailable, "waits: "+store.WaitKindName(s.kind))
		}
		m.NotAvailable["waits"] = "the recording has no events of waits (jdk.JavaMonitorEnter, jdk.JavaMonitorWait, jdk.ThreadPark, jdk.ThreadSleep, jdk.SocketRead, ...)"
		return
	}
	m.Waits = r
	if len(limits) > 0 {
		m.NotAvailable["waits: short ones"] = "JFR leaves out " + strings.Join(limits, ", ") + " (the thresholds of the recording)"
	}
}

// notes say what is particular about the recording.
func (b *builder) notes() []string {
	var out []string
	add := func(n int64, one, many, rest string) {
		if n > 0 {
			out = append(out, plural(n, one, many)+" "+rest)
		}
	}
	add(b.facts.otherMethods, "execution", "executions", "of traced methods other than run, call, exec and compute left out; --methods takes each traced method as a task")
	add(b.lives.noStart, "virtual thread", "virtual threads", "started before the recording: how long they ran is not known, and they are no executions")
	add(b.facts.submitFailed, "virtual thread", "virtual threads", "could not be scheduled (jdk.VirtualThreadSubmitFailed)")
	add(b.overlaps, "execution", "executions", "lay only partly inside another one of the thread; they stand beside it")
	add(b.facts.repeated, "chunk", "chunks", "left out: the file holds the same one before")
	add(b.facts.bad, "event", "events", "left out: without a thread, or with impossible times")
	add(b.facts.badTraces, "trace id", "trace ids", "of executions left out: the recording has other texts there")
	if n := b.count["jdk.MethodTiming"]; n > 0 {
		out = append(out, "jdk.MethodTiming left out: it has neither threads nor single executions; jfr view method-timing shows it")
	}
	return append(out, b.facts.ourNotes...)
}

// LeftOutText lists what was left out, most first.
func (r *Result) LeftOutText(most int) string {
	types := slices.SortedFunc(maps.Keys(r.LeftOut), func(x, y string) int {
		if d := r.LeftOut[y] - r.LeftOut[x]; d != 0 {
			return int(max(-1, min(1, d)))
		}
		return strings.Compare(x, y)
	})
	var parts []string
	for i, t := range types {
		if i == most {
			parts = append(parts, plural(int64(len(types)-i), "further type", "further types"))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", units.FormatExact(r.LeftOut[t]), t))
	}
	return strings.Join(parts, ", ")
}
