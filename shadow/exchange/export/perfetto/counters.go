package perfetto

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
	"stackagent/shadow/exchange/export"
	"stackagent/shadow/session"
)

// maxQueues is how many executors have a counter each; the others share one.
const maxQueues = 32

// counters are the queues by executor and the CPUs in use, over time.
type counters struct {
	t      *trace
	queues map[uint32]*export.Bins // by executor; 0: the start of threads, and tasks whose executor is not known
	others *export.Bins
	tasks  *export.Bins // CPUs in use by tasks
	n      uint64
}

func newCounters(t *trace) *counters { return &counters{t: t, queues: map[uint32]*export.Bins{}} }

// execution counts the time that a task was queued, and its CPU time, spread evenly over the execution.
func (c *counters) execution(e *export.Execution) {
	origin := c.t.origins.Executed(e.Task)
	if from := e.Start - units.MonoNs(e.Queue); e.Queue.Measured() && c.inWindow(from, e.Start) {
		c.queue(origin.Executor).Add(from, e.Start, 1)
	}
	if e.SelfCPU.Measured() && e.End > e.Start && c.inWindow(e.Start, e.End) {
		if c.tasks == nil {
			c.tasks = export.NewBins(c.t.src.Span)
		}
		c.tasks.Add(e.Start, e.End, float64(e.SelfCPU)/float64(e.End-e.Start))
	}
}

func (c *counters) inWindow(from, to units.MonoNs) bool {
	return from < c.t.src.Span.To && to > c.t.src.Span.From
}

func (c *counters) queue(executor uint32) *export.Bins {
	b := c.queues[executor]
	switch {
	case b != nil:
		return b
	case len(c.queues) < maxQueues:
		b = export.NewBins(c.t.src.Span)
		c.queues[executor] = b
		return b
	case c.others == nil:
		c.others = export.NewBins(c.t.src.Span)
	}
	return c.others
}

func (c *counters) write() error {
	if len(c.queues) > 0 && c.t.origins.Waiting() {
		c.t.notes.add("the counters of queues leave out tasks that were submitted and whose execution is not recorded: they were never executed, or are in summaries")
	}
	for _, id := range slices.Sorted(maps.Keys(c.queues)) {
		name := c.t.src.ExecutorName(id)
		if id == 0 {
			name = "no executor known"
		}
		if err := c.series("queue of "+name, "tasks", c.queues[id]); err != nil {
			return err
		}
	}
	if c.others != nil {
		if err := c.series("queues of other executors", "tasks", c.others); err != nil {
			return err
		}
	}
	found, err := c.cpus()
	if err != nil || found || c.tasks == nil {
		return err
	}
	c.t.notes.add("the counter of CPUs in use is an estimate from the CPU times of tasks: the session has no scheduling record")
	return c.series("CPUs in use by tasks (estimate)", "CPUs", c.tasks)
}

// cpus are the CPUs in use by kind of thread, where the scheduling was recorded.
func (c *counters) cpus() (found bool, err error) {
	a, err := c.t.s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	kinds := map[string]*export.Bins{}
	err = a.Stream(c.t.src.Span.From, c.t.src.Span.To)(func(x activity.Slice) error {
		if x.State != activity.Running {
			return nil
		}
		kind := a.Threads[x.Thread].Kind
		if kinds[kind] == nil {
			kinds[kind] = export.NewBins(c.t.src.Span)
		}
		kinds[kind].Add(x.From, x.To, 1)
		return nil
	})
	if err != nil {
		return false, err
	}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if err := c.series("CPUs in use: "+cmp.Or(kind, "other"), "CPUs", kinds[kind]); err != nil {
			return false, err
		}
	}
	return len(kinds) > 0, nil
}

// series writes a counter.
func (c *counters) series(name, unit string, b *export.Bins) error {
	c.n++
	track := trackCounter + c.n
	err := c.t.tracks.named(track, trackProcess, name, func(d []byte) []byte { return message(d, descriptorCounter, str(nil, 6, unit)) })
	if err != nil {
		return err
	}
	return b.Each(func(at units.MonoNs, value float64) error {
		c.t.start(counter, track)
		c.t.value(value)
		return c.t.end(at)
	})
}
