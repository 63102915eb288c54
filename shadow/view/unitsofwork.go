package view

import (
	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/shadow/session"
)

// UnitOfWork is a unit with its name.
type UnitOfWork struct {
	*unit.Unit
	Class string // origin.UnitNames
}

// UnitsOfWork returns the columns of the units of work of s.
func UnitsOfWork(s *session.Session) []Column[UnitOfWork] {
	n := newNames()
	work := func(name, title, doc string, m granularity.Metric) Column[UnitOfWork] {
		return Column[UnitOfWork]{Name: name, Title: title, Kind: Int, Unit: Ns, Optional: true, Doc: doc,
			Value: func(u UnitOfWork) Value { return Measured(u.Work[m]) }}
	}
	flag := func(name, doc string, of func(UnitOfWork) bool) Column[UnitOfWork] {
		return Column[UnitOfWork]{Name: name, Kind: Bool, Doc: doc, Value: func(u UnitOfWork) Value { return BoolOf(of(u)) }}
	}
	threw := flag("threw", "it ended by an exception", func(u UnitOfWork) bool { return u.Threw })
	threw.Title, threw.Last, threw.Show = "threw", 1, threwText
	return []Column[UnitOfWork]{
		{Name: "root_task_id", Kind: Uint, Doc: "task of its outermost execution", Value: func(u UnitOfWork) Value { return UintOf(u.Root) }},
		{Name: "class", Title: "class", Last: 3, Kind: Name, Doc: "class of the program that the unit is named after; of a lambda or a task of the JDK the method and line of the program", Value: func(u UnitOfWork) Value { return NameOf(u.Class) }},
		{Name: "thread", Title: "thread", Last: 2, Kind: Name, Optional: true, Doc: "thread that executed it, as name#id",
			Value: func(u UnitOfWork) Value { return n.thread(s.ThreadByID(u.Thread)) }},
		{Name: "start_ns", Title: "start", Kind: Int, Unit: Ns, Doc: "start",
			Value: func(u UnitOfWork) Value { return IntOf(int64(u.Start)) }, Show: func(u UnitOfWork) string { return SinceStart(s, u.Start) }},
		{Name: "end_ns", Kind: Int, Unit: Ns, Optional: true, Doc: "end; empty: still running", Value: func(u UnitOfWork) Value { return UnlessZero(int64(u.End)) }},
		{Name: "queue_ns", Title: "queue", Kind: Int, Unit: Ns, Optional: true, Doc: "queue time", Value: func(u UnitOfWork) Value { return Measured(u.Queue) }},
		work("wall_ns", "wall", "wall time", granularity.Wall),
		work("cpu_ns", "", "CPU time", granularity.CPU),
		work("self_wall_ns", "self wall", "wall time; other units nested in it taken out", granularity.SelfWall),
		work("self_cpu_ns", "self CPU", "CPU time; other units nested in it taken out", granularity.SelfCPU),
		{Name: "executions", Title: "executions", Kind: Int, Doc: "executions that make it up", Value: func(u UnitOfWork) Value { return IntOf(u.Executions) }},
		{Name: "depth", Kind: Int, Doc: "deepest nesting of its executions", Value: func(u UnitOfWork) Value { return IntOf(u.Depth) }},
		flag("inside", "it ran inside another unit", func(u UnitOfWork) bool { return u.Inside }),
		threw,
		flag("swallowed", "its wrapper took the exception", func(u UnitOfWork) bool { return u.Swallowed }),
		{Name: "delay_ns", Kind: Int, Unit: Ns, Optional: true, Doc: "delay that was asked for, as in tasks", Value: func(u UnitOfWork) Value { return Measured(u.Delay) }},
	}
}

func threwText(u UnitOfWork) string {
	if u.Swallowed {
		return "inside"
	}
	return Yes(u.Threw)
}
