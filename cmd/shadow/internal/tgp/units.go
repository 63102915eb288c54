package tgp

import (
	"fmt"

	"stackagent/granularity"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// rowKey finds an execution in a trace.
type rowKey struct{ task, entry int64 }

// inUnits aggregates the trace of a session into the program's units of work. The rule of tgp knows no loops of pools'
// workers: there, a task that a worker runs would be merged into the worker.
func inUnits(s *session.Session, t *tgp.Trace, self granularity.Metric) (*tgp.Aggregated, error) {
	u, err := unit.Of(s)
	if err != nil {
		return nil, err
	}
	a, rows := &tgp.Aggregated{}, make(map[rowKey]int32, len(t.Tasks))
	for i := range t.Tasks {
		if x := &t.Tasks[i]; x.Executed() {
			a.Executions++
			rows[rowKey{x.ID, x.Entry}] = int32(i)
		} else {
			a.NotExecuted++
		}
	}
	classes := map[string]int32{}
	for i, name := range t.Classes {
		classes[name] = int32(i)
	}
	name, err := callsite.UnitNames(s)
	if err != nil {
		return nil, err
	}
	err = u.Each(func(x *unit.Unit) error {
		n := name(x)
		if !(summary.Filter{App: true}).Match(n.Name, n.Kinds) {
			return nil
		}
		class := n.Name
		row, ok := rows[rowKey{tgp.TraceID(x.Root), int64(x.Start)}]
		if !ok {
			return fmt.Errorf("the unit of work of task %d is not in the trace", x.Root)
		}
		if _, ok := classes[class]; !ok {
			classes[class] = int32(len(t.Classes))
			t.Classes = append(t.Classes, class)
		}
		task := t.Tasks[row]
		task.Class, task.Granularity = classes[class], tgp.None
		if w := x.Work[self]; w.Measured() {
			task.Granularity = max(0, int64(w))
		}
		a.Tasks, a.Merged = append(a.Tasks, task), append(a.Merged, x.Executions-1)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("the units of work of %s: %w", s.Dir, err)
	}
	return a, nil
}
