package timeseries

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// ofTasks declares a monitor of the program's tasks.
func ofTasks(name, unit, doc string, kind monitor.Kind) monitor.Declaration {
	return monitor.Declaration{Name: "app.tasks." + name, Layer: monitor.Application, Unit: unit, Kind: kind, Source: "agent", Doc: doc}
}

// The monitors of tasks. Those by class and by executor have the same names with a label.
var (
	started  = ofTasks("started", "tasks", "units of work that began to run", monitor.Counter)
	finished = ofTasks("finished", "tasks", "units of work that ended", monitor.Counter)
	threw    = ofTasks("threw", "tasks", "units of work that ended by an exception", monitor.Counter)
	inFlight = ofTasks("in_flight", "tasks", "units of work that were running, on average", monitor.Gauge)
	queued   = ofTasks("queued", "tasks", "units of work that were submitted and had not begun, on average; without those that never began", monitor.Gauge)
	wall     = ofTasks("wall_ns", "ns", "wall time of the units of work that ended in the sample", monitor.Counter)
	queue    = ofTasks("queue_ns", "ns", "queue time of the units of work that began in the sample", monitor.Counter)
	cpu      = ofTasks("cpu_ns", "ns", "CPU time of units of work, spread evenly over each", monitor.Counter)
)

// by is the declaration with a label.
func by(d monitor.Declaration, key, value string) monitor.Declaration {
	d.Name = labelled(d.Name, key, value)
	return d
}

// ofOne are the series of all tasks, or of one class or executor; nil fields are not kept of it.
type ofOne struct {
	started, finished, threw, inFlight, queued, wall, queue, cpu *Series
}

// tasks adds what the program's tasks did.
func (b *builder) tasks(s *session.Session) error {
	r, err := unit.Of(s)
	if err != nil {
		return err
	}
	x := &taskSeries{b: b, s: s, end: s.Manifest.StartNs + units.MonoNs(s.Duration()),
		all: &ofOne{started: b.of(started), finished: b.of(finished), threw: b.of(threw), inFlight: b.of(inFlight), queued: b.of(queued),
			wall: b.of(wall), queue: b.of(queue), cpu: b.of(cpu)},
		byClass: map[uint32]*ofOne{}, byExecutor: map[uint32]*Series{}}
	if x.kept, err = largestClasses(r); err != nil {
		return err
	}
	if x.pools, err = largestPools(s, r); err != nil {
		return err
	}
	if err := r.Each(x.add); err != nil {
		return err
	}
	if err := r.Summaries(x.addSummary); err != nil {
		return err
	}
	for _, d := range []monitor.Declaration{started, finished, inFlight, wall, queued} {
		b.keepLargest(d.Name+"{", mostLabels)
	}
	if !slices.Contains(s.Manifest.Metrics, "cpu") {
		b.series = slices.DeleteFunc(b.series, func(s *Series) bool { return s.Name == cpu.Name })
		b.absent[cpu.Name] = "the session has no CPU times (metric=wall)"
	}
	return nil
}

// taskSeries are the series of tasks while they are filled.
type taskSeries struct {
	b          *builder
	s          *session.Session
	end        units.MonoNs // of the session
	all        *ofOne
	byClass    map[uint32]*ofOne
	byExecutor map[uint32]*Series
	kept       map[uint32]bool // classes with series of their own
	pools      map[uint32]bool // the same of executors
}

// mostClasses is more than mostLabels: classes that several loaders define have one series. It bounds executors, too.
const mostClasses = 4 * mostLabels

// largestClasses are those with the most executions: a program may have thousands, and each has four series.
func largestClasses(r *unit.Reader) (map[uint32]bool, error) {
	counts, _, err := r.ClassCounts()
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(counts, func(a, b session.ClassCounts) int { return cmp.Compare(b.Executions, a.Executions) })
	kept := map[uint32]bool{}
	for _, c := range counts[:min(len(counts), mostClasses)] {
		if c.Class != nil {
			kept[c.Class.ID] = true
		}
	}
	return kept, nil
}

// largestPools are the executors whose tasks were queued longest: a program may make one for each call.
func largestPools(s *session.Session, r *unit.Reader) (map[uint32]bool, error) {
	queued := map[uint32]units.Ns{}
	for i := range s.Threads {
		queued[s.Threads[i].Executor] = 0
	}
	delete(queued, 0)
	if len(queued) > mostClasses { // else all are kept
		err := r.Each(func(u *unit.Unit) error {
			if t := s.ThreadByID(u.Thread); t != nil && t.Executor != 0 && u.Queue.Measured() && u.Queue >= 0 {
				queued[t.Executor] += u.Queue
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	order := slices.SortedFunc(maps.Keys(queued), func(a, b uint32) int { return cmp.Or(cmp.Compare(queued[b], queued[a]), cmp.Compare(a, b)) })
	kept := map[uint32]bool{}
	for _, id := range order[:min(len(order), mostClasses)] {
		kept[id] = true
	}
	return kept, nil
}

// class has the series of a class; nil: it has none of its own.
func (x *taskSeries) class(id uint32) *ofOne {
	c := x.byClass[id]
	if c == nil && x.kept[id] {
		name := unit.ClassName(x.s, id)
		of := func(d monitor.Declaration) *Series { return x.b.of(by(d, "class", name)) }
		c = &ofOne{started: of(started), finished: of(finished), inFlight: of(inFlight), wall: of(wall)}
		x.byClass[id] = c
	}
	return c
}

// executor is the series of the queue of a thread's executor; nil: it has none.
func (x *taskSeries) executor(thread uint32) *Series {
	t := x.s.ThreadByID(thread)
	if t == nil || !x.pools[t.Executor] {
		return nil
	}
	q := x.byExecutor[t.Executor]
	if q == nil {
		e := x.s.ExecutorByID(t.Executor)
		if e == nil {
			return nil
		}
		q = x.b.of(by(queued, "executor", fmt.Sprintf("%s#%d", cmp.Or(e.Name, e.MadeIn, e.Class), e.ID)))
		x.byExecutor[t.Executor] = q
	}
	return q
}

func (x *taskSeries) add(u *unit.Unit) error {
	b, class := x.b, x.class(u.Class)
	end := u.End
	if u.Running || end == 0 {
		end = x.end
	}
	for _, of := range []*ofOne{x.all, class} {
		if of == nil {
			continue
		}
		b.event(of.started, u.Start, 1)
		b.level(of.inFlight, u.Start, end, 1)
		if !u.Running {
			b.event(of.finished, end, 1)
			b.event(of.wall, end, float64(end-u.Start))
		}
	}
	if u.Threw {
		b.event(x.all.threw, end, 1)
	}
	if c := u.Work[granularity.CPU]; c.Measured() {
		b.spread(x.all.cpu, u.Start, end, float64(c))
	}
	if u.Queue.Measured() && u.Queue >= 0 {
		b.event(x.all.queue, u.Start, float64(u.Queue))
		from := u.Start - units.MonoNs(u.Queue)
		b.level(x.all.queued, from, u.Start, 1)
		if q := x.executor(u.Thread); q != nil {
			b.level(q, from, u.Start, 1)
		}
	}
	return nil
}

// addSummary spreads executions that were not recorded one by one evenly over their interval.
func (x *taskSeries) addSummary(m *session.Summary) error {
	b, from, to := x.b, m.FromNs, m.Until()
	sums := map[wire.Metric]float64{}
	for i := range m.Measures {
		if w := &m.Measures[i]; w.SumNs > 0 {
			sums[w.Metric] = float64(w.SumNs)
		}
	}
	for _, of := range []*ofOne{x.all, x.class(m.Class)} {
		if of == nil {
			continue
		}
		b.spread(of.started, from, to, float64(m.Executions))
		b.spread(of.finished, from, to, float64(m.Executions))
		b.spread(of.wall, from, to, sums[wire.MetricWall])
		if to > from {
			b.level(of.inFlight, from, to, sums[wire.MetricWall]/float64(to-from))
		}
	}
	b.spread(x.all.threw, from, to, float64(m.Threw))
	b.spread(x.all.cpu, from, to, sums[wire.MetricCPU])
	b.spread(x.all.queue, from, to, sums[wire.MetricQueue])
	if to > from {
		b.level(x.all.queued, from, to, sums[wire.MetricQueue]/float64(to-from))
	}
	return nil
}
