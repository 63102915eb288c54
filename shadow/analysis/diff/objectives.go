package diff

import (
	"fmt"

	"stackagent/granularity/latency"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// maxUnits bounds how many units of work are held in memory.
const maxUnits = 50_000_000

// served are the units of work that were handed over in a session, and how long they took for whoever handed them over.
type served struct {
	units                  int64
	queues, responses      []units.Ns
	roughQueue, roughReply []latency.Summary
}

// add adds a unit of its own record.
func (v *served) add(x *unit.Unit) error {
	v.units++
	if x.Queue.Measured() && x.End != 0 {
		v.queues, v.responses = append(v.queues, x.Queue), append(v.responses, x.Queue+units.Ns(x.End-x.Start))
	}
	if len(v.responses) > maxUnits {
		return fmt.Errorf("more than %d units of work: choose a class, or record with detail=summary", maxUnits)
	}
	return nil
}

// summary adds units that have no records of their own.
func (v *served) summary(x *session.Summary) {
	v.units += int64(x.Executions)
	for _, m := range x.Measures {
		of := latency.Summary{Count: int64(m.Count), Timed: int64(x.TimedOf(&m)), Sum: m.SumNs, Min: m.MinNs, Max: m.MaxNs, Buckets: m.Buckets}
		switch name := store.MetricName(m.Metric, nil); {
		case m.Count == 0:
		case name == "queue":
			v.roughQueue = append(v.roughQueue, of)
		case name == "response":
			v.roughReply = append(v.roughReply, of)
		}
	}
}

// objectives adds what the program did for others: how many units of work a second, and how long they took. A unit that forked
// itself into parts is one; a platform thread's life is one only where the program hands over nothing else.
func (r *Run) objectives(s *session.Session, f summary.Filter) error {
	if r.Partial || f.Trace != "" || !unit.SubmissionsKnown(s) && !unit.SubmissionsSummarised(s) {
		return nil
	}
	u, err := unit.Of(s)
	if err != nil {
		return fmt.Errorf("units of work: %w", err)
	}
	f.App = false // the JDK's own tasks are no units; what remains of its classes is work of the program
	kinds, wanted := map[uint32]units.Kinds{}, map[uint32]bool{}
	for i := range s.Classes {
		c := &s.Classes[i]
		kinds[c.ID], wanted[c.ID] = c.Kinds, f.Match(c.Name, c.Kinds)
	}
	part := func(class uint32) bool {
		return kinds[class]&(units.KindForkJoin|units.KindRunnable|units.KindCallable) == units.KindForkJoin
	}
	var tasks, threads served
	err = u.Each(func(x *unit.Unit) error {
		switch {
		case !wanted[x.Class] || part(x.Class):
		case x.StartedAs != 0 && !x.Virtual || kinds[x.Class]&units.KindThread != 0:
			return threads.add(x)
		case x.Submitted || x.StartedAs != 0:
			return tasks.add(x)
		}
		return nil
	})
	if err == nil {
		err = u.Summaries(func(x *session.Summary) error {
			if wanted[x.Class] && !part(x.Class) && kinds[x.Class]&units.KindThread == 0 {
				tasks.summary(x)
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("units of work: %w", err)
	}
	if tasks.units == 0 {
		tasks = threads
	}
	tasks.figures(r.Rows[Key{Whole, ""}])
	return nil
}

// figures adds those of the objectives to those of the whole run.
func (v *served) figures(to map[string]float64) {
	if v.units == 0 {
		return
	}
	n := float64(v.units)
	to["units"] = n
	if d := to["duration_ns"]; d > 0 {
		to["units_per_second"] = n / (d / 1e9)
	}
	if cpu, ok := to["cpu_ns"]; ok {
		to["cpu_ns_per_unit"] = cpu / n
	}
	for name, d := range map[string]*latency.Distribution{
		"response_ns_": latency.Describe(v.responses, v.roughReply), "queue_ns_": latency.Describe(v.queues, v.roughQueue),
	} {
		if d.Count() > 0 {
			to[name+"p50"], to[name+"p99"] = float64(d.At(50_000)), float64(d.At(99_000))
		}
	}
}
