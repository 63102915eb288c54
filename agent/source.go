package agent

import (
	"slices"

	"stackagent/agent/drain"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// Reasons under which the probes lose events.
const (
	lostRingFull = "ring full"
	lostTooDeep  = "nested too deep"
	lostNoStack  = "stack nearly used up"
	lostNoRing   = "no memory for a ring"
)

// source is what the collector drains: the rings, and the news beside them.
type source struct {
	*jvmti.Drainer
	weaver  *weaver
	ends    ends
	refused uint64 // of jvmti.Totals.Refused, told
	waited  uint64 // of jvmti.ThreadWaits, told
	threads map[uint32]wire.Thread
	sites   *siteTable // nil: not told
	os      osThreads

	news  jvmti.News        // to be told first
	known func(*jvmti.News) // hears of new classes and executors
	dim   jvmti.Totals      // of what is told of hand-overs without a queue time
	lack  jvmti.Totals      // of what is told of what there was no memory for
}

func newSource(ringBytes int, w *weaver) *source {
	return &source{Drainer: jvmti.NewDrainer(ringBytes), weaver: w, threads: make(map[uint32]wire.Thread)}
}

// Site implements drain.Source.
func (s *source) Site(id uint32) (wire.Site, bool) { return s.sites.get(id) }

// Clock implements drain.Source.
func (s *source) Clock() wire.ClockPair { return jvmti.Clock() }

// Meta implements drain.Source.
func (s *source) Meta() drain.Meta {
	news := jvmti.ReadNews()
	if s.known != nil {
		s.known(&news)
	}
	news.Classes = append(s.news.Classes, news.Classes...)
	news.Executors = append(s.news.Executors, news.Executors...)
	s.news.Classes, s.news.Executors = nil, nil
	for i := range news.Threads {
		news.Threads[i] = s.merge(news.Threads[i])
	}
	snapshot := s.os.snapshot()
	news.Threads = append(news.Threads, s.findOSThreads(snapshot)...)
	news.Threads = append(news.Threads, s.ends.take(s.threads)...)
	t := jvmti.ReadTotals()
	return drain.Meta{
		Classes:   news.Classes,
		Threads:   news.Threads,
		OS:        snapshot,
		Executors: news.Executors,
		Virtual:   s.Virtual(),
		Refusals:  slices.Concat(news.Refusals, s.weaver.takeRefusals(), s.starved(), s.crowded(&t), s.unqueued(&t), s.untold(&t)),
		Totals:    s.totals(&t),
	}
}

// starved tells how often the agent had to wait for a thread since the last call.
func (s *source) starved() []wire.Refusal {
	n := jvmti.ThreadWaits() - s.waited
	s.waited += n
	if n == 0 {
		return nil
	}
	return []wire.Refusal{{Reason: "the agent waited for a thread: the system gave none", Count: n}}
}

// crowded tells of classes that stay recorded because there is no memory to count them.
func (s *source) crowded(t *jvmti.Totals) []wire.Refusal {
	n := t.Refused - s.refused
	s.refused = t.Refused
	if n == 0 {
		return nil
	}
	return []wire.Refusal{{Reason: "recorded one by one: no memory to summarise a thread's further classes", Count: n}}
}

// unqueued tells of hand-overs of which no queue time can be told since the last call.
func (s *source) unqueued(t *jvmti.Totals) []wire.Refusal {
	var list []wire.Refusal
	for _, r := range []wire.Refusal{
		{Reason: noQueueTime + "handed over again before it was executed, or not to be told from another", Count: t.Ambiguous - s.dim.Ambiguous},
		{Reason: noQueueTime + "too many wait", Count: t.Crowded - s.dim.Crowded},
		{Reason: noQueueTime + "not executed for ten minutes", Count: t.Aged - s.dim.Aged},
	} {
		if r.Count > 0 {
			list = append(list, r)
		}
	}
	s.dim = *t
	return list
}

// untold tells of what there was no memory to tell of, beside events, since the last call.
func (s *source) untold(t *jvmti.Totals) []wire.Refusal {
	var list []wire.Refusal
	for _, r := range []wire.Refusal{
		{Reason: "GC pause not recorded: no memory", Count: t.LostPauses - s.lack.LostPauses},
		{Reason: "refusals of which there was no memory to tell", Count: t.LostRefusals - s.lack.LostRefusals},
		{Reason: "no memory to follow how virtual threads were scheduled", Count: t.NoTurns - s.lack.NoTurns},
	} {
		if r.Count > 0 {
			list = append(list, r)
		}
	}
	s.lack = *t
	return list
}

// noQueueTime begins the reasons why there is none for a task whose class is older than the agent.
const noQueueTime = "queue time of a hand-over not known (its task's class was loaded before): "

func (s *source) totals(t *jvmti.Totals) wire.Totals {
	totals := wire.Totals{
		Executions: t.Executions + s.ends.running,
		Creations:  t.Creations,
		Classes:    s.weaver.woven.Load(),

		VirtualExecutions: t.VirtualExecutions + s.ends.virtualRunning,
		VirtualCreations:  t.VirtualCreations,
		VirtualLost:       t.VirtualLost,
		Scheduling:        t.Scheduling,

		Submissions:     t.Submissions,
		LostSubmissions: t.LostSubmissions,
		LostThreads:     t.LostThreads,

		Constructions:           t.Constructions,
		LostConstructions:       t.LostConstructions,
		SummarisedConstructions: t.SummarisedConstructions,
	}
	for _, loss := range []wire.Loss{
		{Reason: lostRingFull, Events: t.Lost - t.TooDeep - t.NoStack - t.NoRing},
		{Reason: lostTooDeep, Events: t.TooDeep},
		{Reason: lostNoStack, Events: t.NoStack},
		{Reason: lostNoRing, Events: t.NoRing},
	} {
		if loss.Events > 0 {
			totals.Lost = append(totals.Lost, loss)
		}
	}
	return totals
}

// merge fills what a later description of a platform thread no longer knows
// (a thread that has ended has no group) from the earlier one.
func (s *source) merge(t wire.Thread) wire.Thread {
	if t.Virtual {
		return t
	}
	if old, ok := s.threads[t.ID]; ok {
		t.Group = or(t.Group, old.Group)
		t.Name = or(t.Name, old.Name)
		t.Class = or(t.Class, old.Class)
		t.Start = max(t.Start, old.Start)
		t.OSID = max(t.OSID, old.OSID)
	}
	if t.End != 0 {
		delete(s.threads, t.ID)
	} else {
		s.threads[t.ID] = t
	}
	return t
}

// findOSThreads finds the kernel's threads of the JVM's early Java threads
// (Finalizer, ...), which JVMTI does not tell, by their names; it returns the
// threads that were found.
func (s *source) findOSThreads(snapshot []wire.OSThread) []wire.Thread {
	const longest = 15 // bytes of a name that the kernel keeps
	ids := make(map[string]int32)
	for _, t := range snapshot {
		if _, twice := ids[t.Name]; twice {
			t.OSID = 0
		}
		ids[t.Name] = t.OSID
	}
	var found []wire.Thread
	for id, t := range s.threads {
		if t.OSID != 0 {
			continue
		}
		if t.OSID = ids[t.Name[:min(len(t.Name), longest)]]; t.OSID != 0 {
			s.threads[id] = t
			found = append(found, t)
		}
	}
	return found
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
