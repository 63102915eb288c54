package view

import (
	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/listing"
	"stackagent/shadow/session"
)

// UnitOfWork is a unit with its name.
type UnitOfWork struct {
	*unit.Unit
	Class string // callsite.UnitNames
}

// UnitsOfWork returns the columns of the units of work of s.
func UnitsOfWork(s *session.Session) []listing.Column[UnitOfWork] {
	n := newNames()
	work := func(name, title, doc string, m granularity.Metric) listing.Column[UnitOfWork] {
		return listing.Column[UnitOfWork]{Name: name, Title: title, Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: doc,
			Value: func(u UnitOfWork) listing.Value { return listing.Measured(u.Work[m]) }}
	}
	flag := func(name, doc string, of func(UnitOfWork) bool) listing.Column[UnitOfWork] {
		return listing.Column[UnitOfWork]{Name: name, Kind: listing.Bool, Doc: doc, Value: func(u UnitOfWork) listing.Value { return listing.BoolOf(of(u)) }}
	}
	threw := flag("threw", "it ended by an exception", func(u UnitOfWork) bool { return u.Threw })
	threw.Title, threw.Last, threw.Show = "threw", 1, threwText
	return []listing.Column[UnitOfWork]{
		{Name: "root_task_id", Kind: listing.Uint, Doc: "task of its outermost execution", Value: func(u UnitOfWork) listing.Value { return listing.UintOf(u.Root) }},
		{Name: "class", Title: "class", Last: 3, Kind: listing.Name, Doc: "class of the program that the unit is named after; of a lambda or a task of the JDK the method and line of the program", Value: func(u UnitOfWork) listing.Value { return listing.NameOf(u.Class) }},
		{Name: "thread", Title: "thread", Last: 2, Kind: listing.Name, Optional: true, Doc: "thread that executed it, as name#id",
			Value: func(u UnitOfWork) listing.Value { return n.thread(s.ThreadByID(u.Thread)) }},
		{Name: "start_ns", Title: "start", Kind: listing.Int, Unit: listing.Ns, Doc: "start",
			Value: func(u UnitOfWork) listing.Value { return listing.IntOf(int64(u.Start)) }, Show: func(u UnitOfWork) string { return SinceStart(s, u.Start) }},
		{Name: "end_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "end; empty: still running", Value: func(u UnitOfWork) listing.Value { return listing.UnlessZero(int64(u.End)) }},
		{Name: "queue_ns", Title: "queue", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "queue time", Value: func(u UnitOfWork) listing.Value { return listing.Measured(u.Queue) }},
		work("wall_ns", "wall", "wall time", granularity.Wall),
		work("cpu_ns", "", "CPU time", granularity.CPU),
		work("self_wall_ns", "self wall", "wall time; other units nested in it taken out", granularity.SelfWall),
		work("self_cpu_ns", "self CPU", "CPU time; other units nested in it taken out", granularity.SelfCPU),
		{Name: "executions", Title: "executions", Kind: listing.Int, Doc: "executions that make it up", Value: func(u UnitOfWork) listing.Value { return listing.IntOf(u.Executions) }},
		{Name: "depth", Kind: listing.Int, Doc: "deepest nesting of its executions", Value: func(u UnitOfWork) listing.Value { return listing.IntOf(u.Depth) }},
		flag("inside", "it ran inside another unit", func(u UnitOfWork) bool { return u.Inside }),
		threw,
		flag("swallowed", "its wrapper took the exception", func(u UnitOfWork) bool { return u.Swallowed }),
		{Name: "delay_ns", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "delay that was asked for, as in tasks", Value: func(u UnitOfWork) listing.Value { return listing.Measured(u.Delay) }},
	}
}

func threwText(u UnitOfWork) string {
	if u.Swallowed {
		return "inside"
	}
	return Yes(u.Threw)
}
