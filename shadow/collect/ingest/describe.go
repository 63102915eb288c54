package ingest

import (
	"fmt"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// describe puts what b says about its session into m. newest says that no
// later batch has been seen, so that its running sums count.
func describe(m *store.Manifest, b *wire.Batch, newest bool) {
	if b.Hello != nil && (newest || m.JVM.PID == 0) {
		describeJVM(m, b.Hello)
	}
	if m.StartNs == 0 {
		m.StartNs = b.Clock.Mono
	}
	m.EndNs = max(m.EndNs, b.Clock.Mono)
	if !newest {
		return
	}
	m.Produced = store.Counts{Executions: b.Totals.Executions, Creations: b.Totals.Creations}
	m.ClassesWoven = b.Totals.Classes
	describeAccounts(m, &b.Totals)
	describeContexts(m, &b.Contexts.Account)
	describeVirtual(m, &b.Totals)
	m.Lost.ByReason = make(map[string]uint64, len(b.Totals.Lost))
	for _, l := range b.Totals.Lost {
		m.Lost.ByReason[l.Reason] += l.Events
	}
	if len(b.Refusals) > 0 { // the whole list, sent when it has changed
		m.Refusals = m.Refusals[:0:0]
		for _, r := range b.Refusals {
			m.Refusals = append(m.Refusals, store.Refusal{Reason: r.Reason, Count: r.Count, Sample: r.Sample})
		}
	}
	if b.ExitNote != "" {
		m.ExitNote = b.ExitNote
	}
	m.Ended = store.EndedRunning
	if b.Last {
		m.Ended = store.EndedExit
	}
}

func describeJVM(m *store.Manifest, h *wire.Hello) {
	m.JVM = store.JVM{
		PID: h.PID, Host: h.Host, Version: h.JVMVersion, Name: h.JVMName, Home: h.JavaHome,
		MainClass: h.MainClass, GC: h.GC, MaxHeapBytes: max(h.MaxHeapBytes, 0), CPUs: h.CPUs, AgentVersion: h.AgentVersion,
		Clock: h.ClockName, CPUClock: h.CPUClock, StartTicks: uint64(h.StartClock.Ticks),
	}
	if h.HostID != "" {
		m.JVM.HostID, m.JVM.ObserverWaitNs = h.HostID, &h.ObserverWait
	}
	m.Labels = h.Labels
	if h.StartClock.Mono != 0 {
		m.StartNs = h.StartClock.Mono
	}
	m.WallUnixNs = h.WallUnixNs
	m.Metrics = h.Metrics
	m.NotAvailable = h.NotAvailable
	m.Detail, m.Tasks = h.Detail, h.Tasks
	if h.WaitLimit > 0 {
		m.Waits = &store.WaitRecording{LimitNs: h.WaitLimit, Sources: h.WaitSources}
	}
	if len(m.Extra) == 0 { // the columns of a session have their names for ever
		m.Extra = store.NewExtra(h.Extra)
	}
}

// checkService takes from a JVM the name of a service that it may not have: who may see a session depends on it.
func (o *Options) checkService(h *wire.Hello) {
	if h == nil || o.Services == nil || h.Labels.Service == "" || o.Services(h.Labels.Service) {
		return
	}
	if h.NotAvailable == nil {
		h.NotAvailable = map[string]string{}
	}
	h.NotAvailable["service"] = fmt.Sprintf("the JVM says %q, a service that this shadow does not take", h.Labels.Service)
	h.Labels.Service = ""
}

// describeVirtual takes over the sums of virtual threads; an agent that does
// not count them never sends any.
func describeVirtual(m *store.Manifest, t *wire.Totals) {
	n := store.ThreadCounts{
		Counts: store.Counts{Executions: t.VirtualExecutions, Creations: t.VirtualCreations}, Lost: t.VirtualLost,
	}
	if n != (store.ThreadCounts{}) {
		m.Virtual = &n
	}
	if s := t.Scheduling; s != (wire.VirtualScheduling{}) {
		m.Scheduling = new(store.VirtualScheduling(s))
	}
}

// sameJVM reports whether h is the JVM that m describes.
func sameJVM(m *store.Manifest, h *wire.Hello) bool {
	return m.JVM.PID == h.PID && m.JVM.Host == h.Host && m.JVM.StartTicks == uint64(h.StartClock.Ticks)
}

// check refuses a batch that contradicts its envelope.
func check(b *wire.Batch, from sender) error {
	switch {
	case b.Session != from.session:
		return fmt.Errorf("a batch of session %.40q came on the subject of %q", b.Session, from.session)
	case b.Process != from.process:
		return fmt.Errorf("a batch of process %q came with the header of %q", b.Process, from.process)
	case b.Seq < 1 || b.Seq > store.MaxSeq:
		return fmt.Errorf("sequence number %d", b.Seq)
	}
	return nil
}

// describeAccounts takes over the sums of submissions and constructions; an agent
// that records none never sends any.
func describeAccounts(m *store.Manifest, t *wire.Totals) {
	if t.Submissions|t.LostSubmissions != 0 {
		m.Submissions = &store.RecordAccount{Produced: t.Submissions, Lost: t.LostSubmissions}
	}
	if t.TracingSeen || t.TaskTraces != 0 {
		m.Traces = &store.RecordAccount{Produced: t.TaskTraces, Lost: t.LostTaskTraces}
	}
	if t.Constructions|t.LostConstructions != 0 {
		m.Constructions = &store.RecordAccount{Produced: t.Constructions, Summarised: t.SummarisedConstructions, Lost: t.LostConstructions}
	}
}

// describeContexts takes over the account; an agent that records none never sends one.
func describeContexts(m *store.Manifest, a *wire.ContextSampling) {
	if a.Every != 0 {
		account := store.ContextSampling(*a)
		m.Contexts = &account
	}
}
