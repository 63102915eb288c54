package summary

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"stackagent/hpc"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/advice/evidence"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/session/virtual"
	"stackagent/shadow/store"
)

// Limits of the analyses, in executions with a record of their own.
const (
	adviceLimit = 2_000_000  // units and advice, unless Options.Advice: more take longer than the rest of a summary
	unitsLimit  = 50_000_000 // units and advice for a report: a few minutes
)

// analysis is a session with what several parts of a summary need, each computed
// once, when first needed.
type analysis struct {
	s       *session.Session
	opts    Options
	origins func() (*callsite.Index, error)
	names   func() (*callsite.Names, error)
	trace   func() (*session.TraceScan, error)
}

func newAnalysis(s *session.Session, opts Options) *analysis {
	a := &analysis{
		s: s, opts: opts,
		origins: sync.OnceValues(func() (*callsite.Index, error) {
			x, err := callsite.Of(s)
			if err == nil && opts.Each {
				x = x.Each()
			}
			return x, err
		}),
	}
	a.trace = sync.OnceValues(a.scanTrace)
	a.names = sync.OnceValues(func() (*callsite.Names, error) {
		x, err := a.origins()
		if err != nil {
			return nil, err
		}
		return callsite.NewNames(x), nil
	})
	return a
}

// Build condenses a session. It reads the executions once for counts, sums and
// shapes, and again, as often as necessary, for exact quantiles. Memory depends on the
// numbers of classes and threads and, where submissions are known, on that of tasks.
func Build(s *session.Session, opts Options) (*Summary, error) {
	a := newAnalysis(s, opts)
	sum, err := a.build()
	if err == nil {
		err = a.leaveRun(sum)
	}
	if err != nil || opts.Brief || opts.Filter.Trace != "" {
		return sum, err
	}
	sum.analysis = a
	if sum.Hidden, err = findHidden(s); err != nil {
		return nil, err
	}
	if err := addWaits(sum, s, opts); err != nil {
		return nil, err
	}
	sum.Virtual, err = Virtual(s, opts.Filter)
	return sum, err
}

// addWaits adds what threads waited for.
func addWaits(sum *Summary, s *session.Session, opts Options) (err error) {
	n := unit.Recorded(&s.Manifest)
	if opts.Filter.Active() || n > unitsLimit || n > adviceLimit && !opts.report() && !opts.Advice {
		return nil
	}
	sum.Waits, err = wait.ReadBrief(s)
	return err
}

// report reports whether what a report shows beside is wanted.
func (o *Options) report() bool { return o.Report || o.Shapes }

// Virtual sums up the virtual threads of s whose class passes the filter; nil if none
// was mounted.
func Virtual(s *session.Session, filter Filter) (*virtual.Threads, error) {
	return virtual.Read(s, func(c *session.Class) bool {
		if c == nil {
			return !filter.Active()
		}
		return filter.Match(c.Name, c.Kinds)
	})
}

func (a *analysis) build() (*Summary, error) {
	if a.opts.Units && a.opts.Filter.Trace == "" {
		return a.buildUnits()
	}
	src := FromSession(a.s)
	if err := a.ofTrace(&src); err != nil {
		return nil, err
	}
	if a.wantsSites() {
		x, err := a.origins()
		if err != nil {
			return nil, err
		}
		src.SiteOf = x.SiteOf
	}
	if a.fromSums() {
		src.Sums = a.s.SumExecutions
	} else {
		names, err := a.named()
		if err != nil {
			return nil, err
		}
		if names != nil {
			name(&src, names, false)
		}
	}
	sum, err := BuildFrom(src, a.opts)
	if err != nil || a.opts.Brief || a.opts.Filter.Active() {
		return sum, err
	}
	if sum.facts.Allocated, err = a.allocated(sum); err != nil {
		return nil, err
	}
	switch n := unit.Recorded(&a.s.Manifest); {
	case !unit.SubmissionsKnown(a.s):
		if a.opts.report() && unit.SubmissionsSummarised(a.s) {
			if sum.InUnits, err = a.inUnits(); err != nil {
				return nil, err
			}
		}
	case n <= adviceLimit || a.opts.Advice && n <= unitsLimit:
		if a.opts.report() {
			if sum.InUnits, err = a.inUnits(); err != nil {
				return nil, err
			}
		}
		return sum, a.advise(sum)
	default:
		sum.facts.Skipped = &advice.Skipped{Recorded: n, Asked: a.opts.Advice, Limit: unitsLimit}
	}
	sum.facts.Units = evidence.Machine(a.s, a.thresholds())
	sum.Findings = advice.Find(&sum.facts)
	return sum, nil
}

// wantsSites reports whether findings about executions can name sites: there are no
// findings about units, and the sites of summarised tasks are known.
func (a *analysis) wantsSites() bool {
	m := &a.s.Manifest
	return !a.opts.Brief && !a.opts.Filter.Active() && !unit.SubmissionsKnown(a.s) &&
		m.Rows[store.SiteSums.String()] > 0 && m.Stored.Creations-m.Summarised.Creations <= adviceLimit
}

func (a *analysis) thresholds() advice.Thresholds {
	if a.opts.Thresholds == nil {
		return advice.DefaultThresholds
	}
	return *a.opts.Thresholds
}

// advise adds the units to the facts and looks for findings again.
func (a *analysis) advise(sum *Summary) error {
	if h := a.s.Manifest.Submissions; h != nil {
		sum.facts.Submissions = &advice.Submissions{Produced: h.Produced, Stored: h.Stored, Summarised: h.Summarised}
	}
	if unit.SubmissionsKnown(a.s) {
		u, err := unit.Of(a.s)
		if err != nil {
			return err
		}
		x, err := a.origins()
		if err != nil {
			return err
		}
		names, err := a.named()
		if err != nil {
			return err
		}
		if sum.facts.Units, err = evidence.Units(a.s, u, x, names, a.thresholds()); err != nil {
			return err
		}
		if sum.facts.Kept, err = a.kept(sum, x); err != nil {
			return err
		}
		sum.facts.Allocated.OneTaskAThread(sum.facts.Units)
	}
	sum.Findings = advice.Find(&sum.facts)
	return nil
}

// allocated is what was allocated, by the class of the execution around it; nil: not known.
func (a *analysis) allocated(sum *Summary) (*advice.Allocated, error) {
	list, err := a.s.Allocations()
	if err != nil || len(list) == 0 {
		return nil, err
	}
	names, err := a.named()
	if err != nil {
		return nil, err
	}
	out := &advice.Allocated{}
	for i := range list {
		x, class, site := &list[i], "", ""
		switch {
		case x.Class != 0 && names != nil:
			class = names.TitleOf(x.Class)
		case x.Class != 0:
			class = unit.ClassName(a.s, x.Class)
		}
		if x.Site != nil {
			site = x.Site.Label()
		}
		out.Add(class, site, x.Samples, x.Bytes, x.ThreadLocal)
	}
	out.Sort()
	tasks := map[string]int64{}
	for i := range sum.Rows {
		tasks[sum.Rows[i].Class] += sum.Rows[i].Executions
	}
	for i := range out.Classes {
		out.Classes[i].Tasks = tasks[out.Classes[i].Class]
	}
	return out, nil
}

// kept lists the cancelled tasks that executors keep, unless it is known that fewer were cancelled.
func (a *analysis) kept(sum *Summary, x *callsite.Index) ([]advice.Kept, error) {
	if f := sum.Tasks.Fates; f != nil && f.Cancelled < a.thresholds().KeptTasks || sum.Tasks.NeverExecuted < a.thresholds().KeptTasks {
		return nil, nil
	}
	of, err := a.s.KeptCancelled()
	var list []advice.Kept
	for k, n := range of {
		c := a.s.ClassByID(k.Class)
		if c != nil && !unit.IsJDK(c.Name, c.Kinds) {
			e := a.s.ExecutorByID(k.Executor)
			list = append(list, advice.Kept{Class: c.Name, Executor: x.ExecutorLabel(k.Executor), Tasks: n, Subclass: e != nil && e.Class != "java.util.concurrent.ScheduledThreadPoolExecutor"})
		}
	}
	slices.SortFunc(list, func(x, y advice.Kept) int {
		return cmp.Or(cmp.Compare(y.Tasks, x.Tasks), cmp.Compare(x.Class, y.Class), cmp.Compare(x.Executor, y.Executor))
	})
	return list, err
}

// FromSession is the source that reads s.
func FromSession(s *session.Session) Source {
	src := Source{
		Manifest: s.Manifest, Warnings: s.Warnings, Classes: s.Classes,
		Threads: s.Threads, Pauses: s.Pauses, Own: s.Own, Executions: s.ScanExecutions, Summaries: s.Summaries, Counts: s.Counts, Found: s.Found,
		Activity:  s.Activity,
		Fates:     s.Fates,
		Uncounted: uncounted(s.Dir),
		Observed:  observed(s.Dir, &s.Manifest),
	}
	if s.Unlisted() > 0 {
		src.Unlisted = s.IsUnlisted
	}
	return src
}

// observed reads who observed the session's JVM. A damaged file is reported with the session's damage.
func observed(dir string, m *store.Manifest) *advice.Observed {
	o, err := store.ReadObserved(dir)
	if err != nil || o == nil || o.Process != m.Process {
		return nil
	}
	is := &advice.Observed{By: text.Clean(o.By, '?'), Host: text.Clean(o.Host, '?'), Refused: strings.TrimSuffix(text.Clean(o.Refused, ' '), ".")}
	if is.Loaded = o.LoadedNs > 0; is.Loaded {
		is.After = units.Ns(o.FromNs - o.LoadedNs)
	} else {
		is.After = units.Ns(o.FromNs - m.StartNs)
	}
	if !o.Complete && m.Ended != store.EndedRunning {
		until := units.Ns(o.UntilNs - m.StartNs)
		is.Until = &until
	}
	return is
}

// uncounted reads why events could not be counted from outside. It ignores an
// unreadable file: the listing of the counters reports it.
func uncounted(dir string) map[string]string {
	file, err := hpc.ReadFile(dir)
	if err != nil || file == nil {
		return nil
	}
	why := map[string]string{}
	for e, reason := range file.NotAvailable {
		why[e.String()] = reason
	}
	if partial := file.Partial(); partial != "" {
		why[hpc.SomeThreads] = partial
	}
	return why
}
