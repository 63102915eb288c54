package agent

import (
	"cmp"
	"os"
	"slices"
	"time"

	"stackagent/agent/drain"
	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// lostRingFull is the reason for lost events that the probes have no other one for.
const lostRingFull = "ring full"

// source is what the collector drains: the rings, the news and the totals.
type source struct {
	*jvmti.Drainer
	weaver  *weaver
	ends    ends
	threads map[uint32]wire.Thread
	sites   *siteTable // nil: call sites are not observed
	os      osThreads

	monitors *monitors

	news  jvmti.News        // of earlier sessions, reported first
	known func(*jvmti.News) // is called with new classes and executors
	last  []wire.Refusal    // at the last report
}

func newSource(ringBytes int, w *weaver) *source {
	return &source{Drainer: jvmti.NewDrainer(ringBytes), weaver: w, threads: make(map[uint32]wire.Thread)}
}

// Site implements drain.Source.
func (s *source) Site(id uint32) (wire.Site, bool) {
	if id > maxSites {
		return jvmti.WaitSite(id)
	}
	return s.sites.get(id)
}

// Clock implements drain.Source.
func (s *source) Clock() wire.ClockPair { return jvmti.Clock() }

// Running implements drain.Source.
func (s *source) Running() *wire.RunningReport { return jvmti.RunningNow() }

// Meta implements drain.Source.
func (s *source) Meta() drain.Meta {
	s.weaver.recaller.look(time.Now())
	news := jvmti.ReadNews()
	for i := range news.Classes {
		c := &news.Classes[i]
		c.LoopCall = s.weaver.loopCall(c.Name)
		c.Looped = c.LoopCall != ""
	}
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
	if snapshot != nil && s.unseen() {
		news.Threads = append(news.Threads, s.findOSThreads(snapshot, jvmti.OSIDs())...)
	}
	news.Threads = append(news.Threads, s.ends.take(s.threads)...)
	t := jvmti.ReadTotals()
	waits, blockers := s.WaitSums()
	monitors, samples, lost := s.monitors.read()
	return drain.Meta{
		WaitSums:  waits,
		Blockers:  blockers,
		Monitors:  monitors,
		Samples:   samples,
		Classes:   news.Classes,
		Threads:   news.Threads,
		OS:        snapshot,
		Executors: news.Executors,
		Virtual:   s.Virtual(),
		Refusals:  slices.Concat(news.Refusals, s.weaver.takeRefusals(), s.refusals(&t), lost),
		Totals:    s.totals(&t),
	}
}

// refusals are those that the probes counted since the last call.
func (s *source) refusals(t *jvmti.Totals) []wire.Refusal {
	now := append(t.Refusals(), wire.Refusal{Reason: "the agent waited: the system could not start a thread", Count: jvmti.ThreadWaits()})
	list := slices.Clone(now)
	for i := range s.last {
		list[i].Count -= s.last[i].Count
	}
	s.last = now
	return slices.DeleteFunc(list, func(r wire.Refusal) bool { return r.Count == 0 })
}

func (s *source) totals(t *jvmti.Totals) wire.Totals {
	totals := t.Totals
	totals.Executions += s.ends.running
	totals.VirtualExecutions += s.ends.virtualRunning
	totals.Classes = s.weaver.woven.Load()
	full := wire.Loss{Reason: lostRingFull, Events: t.LostEvents}
	for _, l := range t.Losses() {
		full.Events -= l.Events
		totals.Lost = append(totals.Lost, l)
	}
	totals.Lost = append(totals.Lost, full)
	totals.Lost = slices.DeleteFunc(totals.Lost, func(l wire.Loss) bool { return l.Events == 0 })
	return totals
}

// merge fills what a later description of a platform thread lacks (a thread that
// has ended has no group) from the earlier one.
func (s *source) merge(t wire.Thread) wire.Thread {
	if t.Virtual {
		return t
	}
	if old, ok := s.threads[t.ID]; ok {
		t.Group = cmp.Or(t.Group, old.Group)
		t.Name = cmp.Or(t.Name, old.Name)
		t.Class = cmp.Or(t.Class, old.Class)
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

// findOSThreads finds the OS threads of Java threads that were there before the agent, which JVMTI does not give: those
// that probes have seen (ids, by thread), then by their names in the snapshot, where only one thread can be meant.
// It returns the threads that it found.
func (s *source) findOSThreads(snapshot []wire.OSThread, ids map[uint32]int32) []wire.Thread {
	var found []wire.Thread
	taken := map[int32]bool{}
	give := func(t wire.Thread, osID int32) {
		t.OSID, taken[osID] = osID, true
		s.threads[t.ID] = t
		found = append(found, t)
	}
	for id, t := range s.threads {
		switch osID := ids[id]; {
		case t.OSID != 0:
			taken[t.OSID] = true
		case osID != 0:
			give(t, osID)
		}
	}
	byName, first := map[string][]int32{}, ""
	for _, o := range snapshot {
		if int(o.OSID) == os.Getpid() {
			first = o.Name // the thread that only started the one of main, which has its name
		} else if !taken[o.OSID] {
			byName[o.Name] = append(byName[o.Name], o.OSID)
		}
	}
	lost := map[string][]wire.Thread{}
	for _, t := range s.threads {
		if t.OSID == 0 {
			name := kernelName(&t, first)
			lost[name] = append(lost[name], t)
		}
	}
	for name, list := range lost {
		if one := byName[name]; len(one) == 1 && len(list) == 1 {
			give(list[0], one[0])
		}
	}
	return found
}

// kernelName is what the kernel calls a Java thread: the first bytes of its name. The thread of main keeps the name of the
// process's first.
func kernelName(t *wire.Thread, first string) string {
	const longest = 15
	if t.Name == "main" && t.Group == "main" && first != "" {
		return first
	}
	return t.Name[:min(len(t.Name), longest)]
}

// unseen reports whether the OS thread of a Java thread is not known.
func (s *source) unseen() bool {
	for _, t := range s.threads {
		if t.OSID == 0 {
			return true
		}
	}
	return false
}
