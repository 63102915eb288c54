package summary

import (
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// named finds the program's names of tasks of the JDK; nil: there are none, or the rows
// are to have the classes as they are.
func (a *analysis) named() (*callsite.Names, error) {
	if a.opts.AsRecorded || !callsite.MayName(a.s) {
		return nil, nil
	}
	return a.names()
}

// name gives the tasks of the JDK in src the program's names. src.Executions of units is left
// alone: they are named where they are made.
func name(src *Source, n *callsite.Names, inUnits bool) {
	src.Classes = append(src.Classes[:len(src.Classes):len(src.Classes)], n.Classes()...)
	src.TaskClass = n.From()
	if read := src.Executions; !inUnits {
		buffers := make([][]uint32, session.Workers())
		src.Executions = func(want store.Columns, use func(int, *session.Chunk) error) error {
			want |= store.ExecutionTaskID | store.ExecutionClass | store.ExecutionFlags
			return read(want, func(worker int, c *session.Chunk) error {
				classes := buffers[worker][:0]
				for i := range c.Class {
					classes = append(classes, n.OfExecution(c, i))
				}
				buffers[worker] = classes
				of := *c
				of.Class = classes
				return use(worker, &of)
			})
		}
	}
	summaries, counts, fates := src.Summaries, src.Counts, src.Fates
	src.Summaries = func(use func(*session.Summary) error) error {
		return summaries(func(x *session.Summary) error {
			of := *x
			of.Class = n.OfSummaries(x.Class, inUnits)
			return use(&of)
		})
	}
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) {
		per, sum, err := counts()
		return n.Divide(per, inUnits), sum, err
	}
	src.Fates = func() (map[uint32]map[session.TaskState]int64, error) {
		of, err := fates()
		for class, states := range of {
			if id, ok := n.Single(class, inUnits); ok {
				of[id] = states
			}
		}
		return of, err
	}
}

// unitClass is the class, or the name, of a unit.
func unitClass(n *callsite.Names) func(*unit.Unit) (uint32, bool) {
	return func(x *unit.Unit) (uint32, bool) {
		if n == nil {
			return x.Class, true
		}
		return n.OfUnit(x), true
	}
}
