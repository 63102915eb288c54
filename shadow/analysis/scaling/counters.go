package scaling

import (
	"cmp"

	"stackagent/granularity/activity"
	"stackagent/hpc"
	"stackagent/shadow/session"
)

// Group is a set of threads whose events are summed up.
type Group int

// The groups. All has the threads of the JVM and of the profiler, too.
const (
	AllThreads Group = iota
	ApplicationThreads
	CollectorThreads
	NGroups
)

var groupNames = [NGroups]string{"all", "application", "gc"}

// String is the group in a word.
func (g Group) String() string { return groupNames[g] }

// Events from the scheduling record, beside those that hpc counts.
const (
	Voluntary   = "voluntary_switches"   // the thread blocked
	Involuntary = "involuntary_switches" // it was preempted
)

// Counted is the count of an event.
type Counted struct {
	Value     float64
	Estimated bool // the kernel multiplexed the counter on some thread
}

// Counters are the events of a whole run by name, counted from outside.
type Counters struct {
	By [NGroups]map[string]Counted
	// NotAvailable says why an event is missing.
	NotAvailable map[string]string
}

// EventNames are the events of Counters, software events first.
func EventNames() []string {
	var software, hardware []string
	for _, e := range countedEvents() {
		if e.Hardware() {
			hardware = append(hardware, e.String())
		} else {
			software = append(software, e.String())
		}
	}
	return append(append(software, RunningTime, Voluntary, Involuntary), hardware...)
}

func countedEvents() []hpc.Event { return append(hpc.AllEvents(), hpc.CacheEvents()...) }

// notAsked is why the events of the caches are missing where the run was not asked to count them.
const notAsked = "not counted: shadow run --cache-counters counts them where the machine can"

// RunningTime is the time on a CPU by the scheduling record. It stands for the task clock in a part of a run.
const RunningTime = "running_ns"

// countersOf sums up the counters of a session. Those of the kernel cover the whole run, so a part of it
// has only what the scheduling record says.
func countersOf(s *session.Session, a *session.Activity, r Region, w *switches) (Counters, error) {
	c := Counters{NotAvailable: map[string]string{}}
	for g := range c.By {
		c.By[g] = map[string]Counted{}
	}
	file, err := hpc.ReadFile(s.Dir)
	if err != nil {
		return c, err
	}
	why := "the run was not counted from outside (shadow run --counters)"
	if !r.Whole() {
		file, why = nil, "counters cover the whole run, not a region of it"
		c.addSwitches(a.Threads, w.count)
		for i, t := range a.Threads {
			c.add(groupOf(t.Kind), RunningTime, Counted{Value: float64(w.ran[i])})
		}
	} else {
		c.addSwitches(a.Threads, a.Switches)
	}
	if file == nil {
		for _, e := range countedEvents() {
			c.NotAvailable[e.String()] = why
		}
		return c, nil
	}
	if partial := file.Partial(); partial != "" {
		c.NotAvailable[hpc.SomeThreads] = partial
	}
	c.addFile(s, file)
	return c, nil
}

// addSwitches adds the switches of the scheduling record, by thread.
func (c *Counters) addSwitches(threads []activity.Thread, of []session.Switches) {
	for i, t := range threads {
		c.add(groupOf(t.Kind), Voluntary, Counted{Value: float64(of[i].Voluntary)})
		c.add(groupOf(t.Kind), Involuntary, Counted{Value: float64(of[i].Involuntary)})
	}
}

// addFile adds the events that hpc counted.
func (c *Counters) addFile(s *session.Session, file *hpc.File) {
	kinds := s.KindsByTID()
	for _, e := range countedEvents() {
		name, counted := e.String(), false
		for i := range file.Threads {
			t := &file.Threads[i]
			n := t.Counts[e]
			if n == nil {
				continue
			}
			counted = true
			kind, known := kinds[int32(t.TID)]
			if !known {
				kind = session.ServiceKind(t.Name)
			}
			value := Counted{Value: float64(n.Counted)}
			if n.Multiplexed {
				value = Counted{n.Estimate, true}
			}
			c.add(groupOf(kind), name, value)
		}
		switch reason := file.NotAvailable[e]; {
		case reason != "":
			c.NotAvailable[name] = reason
		case !counted && e.Cache():
			c.NotAvailable[name] = cmp.Or(file.NotAvailable[hpc.Instructions], notAsked)
		}
	}
}

func groupOf(kind string) Group {
	switch kind {
	case activity.KindApplication, activity.KindMain:
		return ApplicationThreads
	case activity.KindGC:
		return CollectorThreads
	}
	return AllThreads
}

func (c *Counters) add(g Group, name string, n Counted) {
	for _, to := range []Group{AllThreads, g} {
		old := c.By[to][name]
		c.By[to][name] = Counted{old.Value + n.Value, old.Estimated || n.Estimated}
		if g == AllThreads {
			return
		}
	}
}
