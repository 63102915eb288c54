package wait

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/waiting"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Limits of what is held in memory: 64 and 48 bytes each. Waits and units beyond them are summed up by class.
const (
	maxWaits = 8_000_000
	maxUnits = 20_000_000
)

// tables are the waits and the units of a session, by thread and begin.
type tables struct {
	*Namer
	names *callsite.Names // nil: classes have their own names

	whats   []What
	whatIDs map[What]uint32
	classes []string // of units, by waiting.Unit.Class
	classID map[string]uint32
	within  map[uint32]uint32 // the class of units of an execution's class, + 1

	waits    []waiting.Wait
	details  []detail // by waiting.Wait.Index; nil: not asked for
	singles  bool     // they are
	seesTask bool     // the agent says in which execution a waker was
	units    []waiting.Unit
	sums     map[sumKey]*sum
	pins     []activity.Span    // waits of virtual threads that kept their carriers
	pinned   *activity.Covered  // by them
	spans    map[uint32][2]span // of waits and units of a thread, once sorted
	// Beyond the limits.
	moreWaits, moreUnits int64
	totals               map[uint32]*Unit // of units that are not held, by class
	slots                slots
}

// span is a part of a slice.
type span struct{ from, to int }

// sumKey is what waits that have no record of their own are summed up by.
type sumKey struct {
	thread, what, within uint32
	part                 waiting.Part
}

type sum struct {
	waits  int64
	waited units.Ns
	most   units.Ns
}

// readTables reads the waits and, if wanted, the units; singles: and what only a list of single waits shows.
func readTables(s *session.Session, work, singles bool, over granularity.Grid) (*tables, error) {
	fail := func(err error) error { return fmt.Errorf("waits of session %s: %w", s.Manifest.Session, err) }
	namer, err := NamerOf(s)
	if err != nil {
		return nil, fail(err)
	}
	t := &tables{Namer: namer, whatIDs: map[What]uint32{}, classID: map[string]uint32{}, within: map[uint32]uint32{}, sums: map[sumKey]*sum{}, totals: map[uint32]*Unit{},
		singles: singles, slots: slots{over, map[uint32][]waiting.Times{}}}
	steps := []func() error{t.readWaits, t.readSums}
	if work {
		steps = append(steps, t.readNames, t.readUnits, t.readSummaries)
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, fail(err)
		}
	}
	slices.SortFunc(t.units, func(a, b waiting.Unit) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From), cmp.Compare(b.To, a.To))
	})
	slices.SortFunc(t.waits, func(a, b waiting.Wait) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From))
	})
	t.pinned, t.pins = activity.Cover(t.pins), nil
	t.spans = map[uint32][2]span{}
	spansOf(t.waits, func(w *waiting.Wait) uint32 { return w.Thread }, func(id uint32, at span) { t.spans[id] = [2]span{at, {}} })
	spansOf(t.units, func(u *waiting.Unit) uint32 { return u.Thread }, func(id uint32, at span) { t.spans[id] = [2]span{t.spans[id][0], at} })
	return t, nil
}

// spansOf finds the rows of each thread in sorted rows.
func spansOf[T any](rows []T, thread func(*T) uint32, use func(uint32, span)) {
	for from := 0; from < len(rows); {
		id, to := thread(&rows[from]), from+1
		for to < len(rows) && thread(&rows[to]) == id {
			to++
		}
		use(id, span{from, to})
		from = to
	}
}

// of are the waits and units of a thread.
func (t *tables) of(thread uint32) ([]waiting.Wait, []waiting.Unit) {
	at := t.spans[thread]
	return t.waits[at[0].from:at[0].to], t.units[at[1].from:at[1].to]
}

// readNames finds what the units are called.
func (t *tables) readNames() error {
	if !callsite.MayName(t.s) {
		return nil
	}
	x, err := callsite.Of(t.s)
	if err == nil {
		t.names = callsite.NewNames(x)
	}
	return err
}

// class is the number of a class of units; id is of the session, or of a name.
func (t *tables) class(id uint32) uint32 {
	return t.named(callsite.Describe(t.s, t.names, id).Name)
}

func (t *tables) named(name string) uint32 {
	n, ok := t.classID[name]
	if !ok {
		n = uint32(len(t.classes))
		t.classes, t.classID[name] = append(t.classes, name), n
	}
	return n
}

// inside is the class of the units in whose executions of a class a thread waited.
func (t *tables) inside(class uint32) uint32 {
	if n, ok := t.within[class]; ok {
		return n
	}
	id := class
	if t.names != nil {
		id = t.names.OfSummaries(class, true)
	}
	t.within[class] = t.class(id)
	return t.within[class]
}

func (t *tables) readUnits() error {
	t.units = make([]waiting.Unit, 0, min(unit.Recorded(&t.s.Manifest), maxUnits))
	return t.reader.Each(func(x *unit.Unit) error {
		id := x.Class
		if t.names != nil {
			id = t.names.OfUnit(x)
		}
		u := waiting.Unit{From: x.Start, To: x.End, CPU: x.Work[granularity.CPU], Queue: x.Queue, Thread: x.Thread, Class: t.class(id), Task: x.Named}
		if x.Running || u.To == 0 {
			u.To = max(t.s.Manifest.EndNs, u.From)
		}
		if len(t.units) < maxUnits {
			t.units = append(t.units, u)
			return nil
		}
		t.moreUnits++
		times := waiting.Times{waiting.Unknown: units.Ns(max(u.To-u.From, 0))}
		if u.CPU.Measured() {
			times.Ran(u.CPU)
		}
		t.total(u.Class).add(1, u.Queue, &times)
		t.slots.add(u.Class, u.To, &times)
		return nil
	})
}

// total are the units of a class that are not held.
func (t *tables) total(class uint32) *Unit {
	u := t.totals[class]
	if u == nil {
		u = &Unit{Class: t.classes[class]}
		t.totals[class] = u
	}
	return u
}

func (t *tables) readSummaries() error {
	return t.reader.Summaries(func(x *session.Summary) error {
		if x.Executions == 0 {
			return nil
		}
		var times waiting.Times
		u, queue := t.total(t.inside(x.Class)), units.Ns(units.NotMeasured)
		cpu := units.Ns(units.NotMeasured)
		for _, m := range x.Measures {
			switch name := store.MetricName(m.Metric, nil); {
			case m.Count == 0:
			case name == "wall":
				times[waiting.Unknown] += m.SumNs
			case name == "cpu":
				cpu = m.SumNs
			case name == "queue":
				queue = m.SumNs
				u.Queued += int64(m.Count) - 1
			}
		}
		if cpu.Measured() {
			times.Ran(cpu)
		}
		u.add(int64(x.Executions), queue, &times)
		t.slots.spread(t.inside(x.Class), x.FromNs, x.Until(), &times)
		u.Summarised += int64(x.Executions)
		return nil
	})
}

// what is the number of what a wait was for.
func (t *tables) what(w What) uint32 {
	id, ok := t.whatIDs[w]
	if !ok {
		id = uint32(len(t.whats))
		t.whats, t.whatIDs[w] = append(t.whats, w), id
	}
	return id
}

// forWork is what a wait is for if its thread is a worker that has nothing to do, else w.
func (n *Namer) forWork(w What, thread, within uint32) What {
	if w.Kind != kindPark && w.Kind != kindNotify && !(w.Kind == kindIO && within != 0 && unit.IsPoller(unit.ClassName(n.s, within))) {
		return w
	}
	th := n.s.ThreadByID(thread)
	switch {
	case within != 0 && n.reader.IsLoop(within):
		return What{For: ForQueue, Kind: w.Kind, Class: unit.ClassName(n.s, within), Blocker: w.Blocker, Lock: w.Lock}
	case within == 0 && th != nil && th.Role() == "carrier":
		return What{For: ForQueue, Kind: w.Kind, Class: "carrier of virtual threads", Blocker: w.Blocker, Lock: w.Lock}
	case within == 0 && th != nil && th.Executor != 0:
		e := n.s.ExecutorByID(th.Executor)
		if e == nil {
			return w
		}
		return What{For: ForQueue, Kind: w.Kind, Class: e.Class, Blocker: w.Blocker, Lock: w.Lock}
	}
	return w
}

// ofProgram reports whether a thread is one of the program; one that is not known may be.
func (n *Namer) ofProgram(id uint32) bool {
	th := n.s.ThreadByID(id)
	return th == nil || ofProgram(th)
}

func ofProgram(t *session.Thread) bool {
	return t.Kind == session.KindApplication || t.Kind == session.KindMain
}
