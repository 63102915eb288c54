package unit

import (
	"maps"
	"slices"

	"stackagent/granularity/unit"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// nested is what the summaries of a session say about where their executions were.
type nested struct {
	known bool // the agent recorded what was around them
	// parts are the classes of the program inside whose executions others were summarised that
	// belong to the same unit.
	parts map[uint32]bool
	// holds are those in whose units other units were summarised: how much of their work those
	// did is not known.
	holds map[uint32]bool
	// wrappers: tasks of the JDK that may be around such of the program were summarised, too.
	wrappers bool
}

// nested reports whether all summarised executions of a class are parts of units of others.
func (r *classRole) nested() bool { return r.parts && !r.proper }

// partOf reports whether summarised executions belong to the units of the class around them:
// nobody submitted them.
func (u *Reader) partOf(s *store.Summary) bool {
	if wire.SummaryFlags(s.Flags)&wire.SummaryPart == 0 {
		return false
	}
	x, around := u.roles.Get(s.Class), u.roles.Get(s.Outer)
	if x == nil || around == nil || around.role != unit.Task {
		return false
	}
	return !x.custom && (u.handOvers || !x.forkJoin)
}

// findNested reads where summarised executions were. The classes of loops are known by now.
func (u *Reader) findNested() error {
	n := nested{parts: map[uint32]bool{}, holds: map[uint32]bool{}}
	if u.s.Manifest.Summarised.Executions == 0 {
		return nil
	}
	type inside struct{ part, outer uint32 }                  // classes
	found, around := map[inside]bool{}, map[uint32][]uint32{} // by class of parts: those of the units around them
	err := u.s.SummaryHeads(func(x *store.Summary) {
		n.known = n.known || wire.SummaryFlags(x.Flags)&wire.SummaryOuterKnown != 0
		part := u.partOf(x)
		n.wrappers = u.summarisedAs(x, part) || n.wrappers
		switch {
		case x.Outer == 0 || x.Executions == 0:
		case !part:
			n.holds[x.Outer] = true
		default:
			n.parts[x.Outer] = true
			if key := (inside{x.Class, x.Outer}); !found[key] {
				found[key] = true
				around[x.Class] = append(around[x.Class], x.Outer)
			}
		}
	})
	// What holds a part that holds units, holds them.
	for left := slices.Collect(maps.Keys(n.holds)); len(left) > 0; {
		class := left[len(left)-1]
		left = left[:len(left)-1]
		for _, outer := range around[class] {
			if !n.holds[outer] {
				n.holds[outer] = true
				left = append(left, outer)
			}
		}
	}
	u.nested = n
	u.exact = u.exact && n.known
	return err
}

// summarisedAs takes down what a summary says of its class, and reports whether it is one that may be around tasks
// of the program.
func (u *Reader) summarisedAs(x *store.Summary, part bool) bool {
	r := u.roles.Get(x.Class)
	if r == nil {
		return false
	}
	r.submitted = r.submitted || x.Submissions > x.Inner
	if x.Executions == 0 {
		return false
	}
	r.parts, r.proper = r.parts || part, r.proper || !part
	if r.role == unit.Task && wire.SummaryFlags(x.Flags)&wire.SummaryVirtual != 0 {
		u.summarisedVirtual = true
	} else if r.role == unit.Task {
		u.summarised[x.Thread] = true
	}
	return r.role != unit.Task && r.role != unit.Loop
}

// whole reports whether all that is summarised inside executions of a class belongs to
// their unit.
func (n *nested) whole(class uint32) bool { return n.parts[class] && !n.holds[class] }

// withParts is x with the work of its parts: they are in the totals.
func (n *nested) withParts(x *session.Summary) *session.Summary {
	if !n.whole(x.Class) {
		return x
	}
	of := *x
	of.Measures = nil
	for _, m := range x.Measures {
		self, isSelf := selfOf(m.Metric)
		if isSelf {
			continue
		}
		of.Measures = append(of.Measures, m)
		if self != 0 {
			m.Metric = self
			of.Measures = append(of.Measures, m)
		}
	}
	return &of
}

// selfOf is the self metric of a total one, 0 if it has none; isSelf: m is a self metric.
func selfOf(m wire.Metric) (self wire.Metric, isSelf bool) {
	switch m {
	case wire.MetricWall:
		return wire.MetricSelfWall, false
	case wire.MetricCPU:
		return wire.MetricSelfCPU, false
	case wire.MetricSelfWall, wire.MetricSelfCPU:
		return 0, true
	}
	k, isSelf, ok := m.Extra()
	if !ok || isSelf {
		return 0, ok
	}
	return wire.MetricOfExtra(k, true), false
}

// isWhole reports whether what no record before the end of an execution stands for, though it was inside, belongs to its
// unit. A virtual thread leaves records in the rings of several carriers: those of one may be read after that of the
// execution around them, from another.
func (u *Reader) isWhole(class uint32, virtual bool) bool {
	return u.nested.whole(class) || virtual && u.exact && !u.nested.holds[class]
}

// isPart reports whether an execution that nobody submitted, inside one without a record so far, is a part of a unit: of
// a summarised one, or see isWhole. It may also be a unit in a summarised wrapper, unless its class or the session has
// none of these.
func (u *Reader) isPart(x *Unit) bool {
	if !u.exact || !u.nested.known {
		return u.exact && x.Virtual
	}
	r := u.roles.Get(x.Class)
	return !u.nested.wrappers || r != nil && r.parts && (!r.proper || r.submitted)
}

// leftOut reports whether a recorded unit is only a wrapper: around one that was summarised, or around a task that never ran. A
// worker takes a future that was cancelled from its queue like any other, and executes it for nothing.
func (u *Reader) leftOut(x *Unit) bool {
	if r := u.roles.Get(x.Class); r == nil || r.role != unit.Wrapper {
		return false
	}
	return u.summarised[x.Thread] || x.Virtual && u.summarisedVirtual || x.Executions == 1 && u.cancelled.Has(x.Root)
}
