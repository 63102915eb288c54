package summary

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Work is the work of a session, task by task, for a report that divides it up: the units of work that the summary
// has, else its executions. The filter of the summary holds.
type Work struct {
	Of      text.Population
	Metrics []WorkMetric // by granularity.Metric
	// Executors and Sites are the labels by WorkItem.Executor and Site; both are empty if they are not known.
	Executors, Sites []string
	NoOrigins        string // why they are not known
	Recorded         uint64 // tasks that Each reads, or more: some are not of the work

	a       *analysis
	metrics *metrics
	names   *callsite.Names // nil: none
	sites   *groups         // nil: not known
	pools   *groups
}

// WorkMetric is a metric of Work.
type WorkMetric struct {
	Metric granularity.Metric
	Name   string // "self_cpu_ns", "queue_ns", "self_alloc_bytes"
	Label  string
	Unit   string // "ns", "bytes"; "": a count
	Self   bool
}

// WorkItem is a task. It is reused after the call.
type WorkItem struct {
	Class          uint32 // of Work.Class
	Executor, Site uint32
	Thread         uint32 // 0: a virtual thread without a row of its own
	Start, End     units.MonoNs
	Values         []units.Ns // by granularity.Metric
	Threw          bool
	Running        bool // it had not ended; End is that of the session
}

// WorkSummary is a number of tasks that were not recorded one by one. It is reused after the call.
type WorkSummary struct {
	Class, Executor, Site uint32
	granularity.Summarised
}

// FilterOf is the filter of the summary; the zero value, if all classes pass.
func (s *Summary) FilterOf() Filter {
	if s.Filter == nil {
		return Filter{}
	}
	return *s.Filter
}

// errNoWork is a summary that was not built from a session.
var errNoWork = errors.New("the summary has no session to read")

// Work reads where the tasks of the summary come from.
func (s *Summary) Work() (*Work, error) {
	if s.analysis == nil {
		return nil, errNoWork
	}
	of := *s.analysis
	of.opts.Units = s.InUnits != nil || s.Of == text.UnitsOfWork
	of.opts.AsRecorded = of.opts.AsRecorded || s.FromSums && !of.opts.Units // sums are by the classes that were recorded
	return of.work()
}

func (a *analysis) work() (*Work, error) {
	src := FromSession(a.s)
	w := &Work{a: a, Of: src.Of, metrics: metricsOf(&src), Recorded: unit.Recorded(&a.s.Manifest)}
	if a.opts.Units {
		w.Of = text.UnitsOfWork
	}
	for at := range w.metrics.list {
		m, self := &w.metrics.list[at], granularity.Metric(at)
		d := granularity.Distribution{Name: m.name, Unit: m.unit}
		w.Metrics = append(w.Metrics, WorkMetric{self, cmp.Or(m.name, self.String()), d.Title(self), cmp.Or(m.unit, "ns"), m.self})
		if m.of != nil {
			w.Metrics[at].Unit = m.of.Unit
		}
	}
	if w.Recorded > unitsLimit {
		w.NoOrigins = "the session has more than " + units.FormatCount(unitsLimit) + " recorded executions"
		return w, nil
	}
	var err error
	if w.names, err = a.named(); err != nil {
		return nil, err
	}
	switch w.pools, _, err = a.groups(callsite.ByExecutor); {
	case errors.Is(err, ErrNoSubmissions):
		w.NoOrigins = err.Error()
		return w, nil
	case err != nil:
		return nil, err
	}
	if w.sites, _, err = a.groups(callsite.BySite); err != nil {
		return nil, err
	}
	w.Executors, w.Sites = w.pools.labels, w.sites.labels
	return w, nil
}

// Class describes a class of WorkItem.Class.
func (w *Work) Class(id uint32) callsite.UnitName { return callsite.Describe(w.a.s, w.names, id) }

// passes reports whether the filter lets a class pass.
func (w *Work) passes(id uint32) bool {
	if !w.a.opts.Filter.Active() {
		return true
	}
	n := w.Class(id)
	return w.a.opts.Filter.MatchNamed(n.Name, n.From, n.Kinds)
}

// thread is the thread of an item.
func (w *Work) thread(id uint32) uint32 {
	if w.a.s.IsUnlisted(id) {
		return virtualThreads
	}
	return id
}

// Each calls use with the tasks that are recorded one by one. It is called from several goroutines at once, each with
// a number of its own below session.Workers().
func (w *Work) Each(use func(worker int, x *WorkItem) error) error {
	p := newProgress(w.a.opts.Progress, w.Recorded)
	p.pass("dividing the " + w.Of.Many())
	var err error
	if w.Of == text.UnitsOfWork {
		err = w.units(p, use)
	} else {
		err = w.executions(p, use)
	}
	if err != nil {
		return fmt.Errorf("reading the %s of session %s: %w", w.Of.Many(), w.a.s.Manifest.Session, err)
	}
	return nil
}

// progressEvery is after how many units progress is counted.
const progressEvery = 4096

func (w *Work) units(p *progress, use func(int, *WorkItem) error) error {
	u, err := unit.Of(w.a.s)
	if err != nil {
		return err
	}
	class, queue, delay := unitClass(w.names), w.metricNamed("queue"), w.metricNamed("delay")
	x := WorkItem{Values: slices.Repeat([]units.Ns{units.NotMeasured}, len(w.Metrics))}
	work := len(x.Values)
	if queue >= 0 {
		work = queue // the metrics of work come first
	}
	n := 0
	return u.Each(func(of *unit.Unit) error {
		if n++; n%progressEvery == 0 {
			p.add(progressEvery)
		}
		if x.Class, _ = class(of); !w.passes(x.Class) {
			return nil
		}
		copy(x.Values[:work], of.Work[:])
		if queue >= 0 {
			x.Values[queue] = of.Queue
		}
		if delay >= 0 {
			x.Values[delay] = of.Delay
		}
		x.Thread, x.Start, x.End, x.Threw, x.Running = w.thread(of.Thread), of.Start, of.End, of.Threw, of.Running
		if w.sites != nil {
			x.Executor = w.pools.numberOf(w.pools.OfUnit(of, callsite.ByExecutor), of.Class, of.Thread)
			x.Site = w.sites.numberOf(w.sites.OfUnit(of, callsite.BySite), of.Class, of.Thread)
		}
		w.end(&x)
		return use(0, &x)
	})
}

// metricNamed is the index of a metric of the session in Metrics; -1: it has none.
func (w *Work) metricNamed(name string) int {
	for at := range w.metrics.list {
		if m := &w.metrics.list[at]; m.of != nil && m.of.Name == name && !m.self {
			return at
		}
	}
	return -1
}

// end gives an item that had not ended the end of the session.
func (w *Work) end(x *WorkItem) {
	if x.End == 0 {
		x.End, x.Running = max(w.a.s.Manifest.EndNs, x.Start), true
	}
}

func (w *Work) executions(p *progress, use func(int, *WorkItem) error) error {
	want := store.ExecutionClass | store.ExecutionThread | store.ExecutionFlags | store.ExecutionStart | store.ExecutionEnd
	for _, m := range w.metrics.list {
		want |= m.columns
	}
	if w.sites != nil || w.names != nil {
		want |= store.ExecutionTaskID
	}
	each := make([]*unit.WorkColumns, session.Workers())
	return w.a.s.ScanExecutions(want, func(worker int, c *session.Chunk) error {
		if each[worker] == nil {
			each[worker] = unit.NewWorkColumns(w.metrics.session)
		}
		columns := each[worker].Of(c)
		x := WorkItem{Values: make([]units.Ns, len(columns))}
		for i := range c.Class {
			if x.Class = c.Class[i]; w.names != nil {
				x.Class = w.names.OfExecution(c, i)
			}
			if !w.passes(x.Class) {
				continue
			}
			flags := wire.ExecutionFlags(c.Flags[i])
			x.Thread, x.Start, x.End = w.thread(c.Thread[i]), c.StartNs[i], c.EndNs[i]
			x.Threw, x.Running = flags&wire.Threw != 0, flags&wire.Running != 0
			if w.sites != nil {
				x.Executor = w.pools.numberOf(w.pools.ofExecution(c, i), c.Class[i], c.Thread[i])
				x.Site = w.sites.numberOf(w.sites.ofExecution(c, i), c.Class[i], c.Thread[i])
			}
			for m := range columns {
				x.Values[m] = columns[m][i]
			}
			w.end(&x)
			if err := use(worker, &x); err != nil {
				return err
			}
		}
		p.add(c.Len())
		return nil
	})
}

// Summaries calls use with the tasks that were not recorded one by one.
func (w *Work) Summaries(use func(*WorkSummary) error) error {
	read, inUnits := w.a.s.Summaries, w.Of == text.UnitsOfWork
	if inUnits {
		u, err := unit.Of(w.a.s)
		if err != nil {
			return err
		}
		read = u.Summaries
	}
	err := read(func(of *session.Summary) error {
		x := WorkSummary{Class: of.Class}
		if w.names != nil {
			x.Class = w.names.OfSummaries(of.Class, inUnits)
		}
		if of.Executions == 0 || !w.passes(x.Class) {
			return nil
		}
		x.Summarised = w.metrics.summarised(of)
		if w.sites != nil {
			x.Executor, x.Site = w.pools.ofSummary(of), w.sites.ofSummary(of)
			w.Executors, w.Sites = w.pools.labels, w.sites.labels // it may have added one
		}
		return use(&x)
	})
	if err != nil {
		return fmt.Errorf("reading the summaries of session %s: %w", w.a.s.Manifest.Session, err)
	}
	return nil
}

// WorkOf reads where the executions of a session come from, of all classes, without condensing it first.
func WorkOf(s *session.Session) (*Work, error) { return newAnalysis(s, Options{}).work() }
