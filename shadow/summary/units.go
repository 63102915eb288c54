package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Units turns a session's executions into units of work: a Source whose
// executions are units, so that everything that is computed of a Source is
// computed of them. Its memory is a few bits for each task that is the body of
// a thread; each reading of it makes the units anew.
type Units struct {
	s      *session.Session
	bodies *session.TaskSet
	roles  byID[classRole]
	handed bool // it was recorded which executions were handed over, and when
	// Of the latest reading: what the platform did for itself, by class.
	own           map[uint32]*unit.Own
	ownSummarised map[uint32]int64
}

// classRole is what a class id is in units.
type classRole struct {
	role     unit.Role
	forkJoin bool
	thread   bool
	inner    bool // its tasks are handed over only inside the hand-over of something else
	// Of the latest reading: its executions, and the units that bear its name.
	executions, named int64
}

// NewUnits reads which tasks are the bodies of threads.
func NewUnits(s *session.Session) (*Units, error) {
	u := &Units{s: s, bodies: session.NewTaskSet(), handed: handOvers(s) && s.Manifest.NotAvailable["queue"] == ""}
	for i := range s.Classes {
		c := &s.Classes[i]
		r := &classRole{forkJoin: c.Kinds&units.KindForkJoin != 0, thread: c.Kinds&units.KindThread != 0}
		switch {
		case knownBody(c.Name, c.Kinds):
			r.role = unit.Body
		case unit.IsWrapper(c.Name):
			r.role = unit.Wrapper
		case isInternal(c.Name, c.Kinds):
			r.role = unit.Internal
		case u.handed && IsJDK(c.Name, c.Kinds) && !r.forkJoin && !r.thread:
			r.role = unit.Platform // only a hand-over makes it one: without a record of them nobody knows
		case unit.IsLibrary(c.Name):
			r.role = unit.Library
		}
		u.roles.set(c.ID, r)
	}
	if err := u.findInner(); err != nil {
		return nil, fmt.Errorf("reading the hand-overs of session %s: %w", s.Manifest.Session, err)
	}
	if err := u.findBodies(); err != nil {
		return nil, fmt.Errorf("looking for the loops of threads of session %s: %w", s.Manifest.Session, err)
	}
	return u, nil
}

// handOvers tells whether the session recorded what was handed over.
func handOvers(s *session.Session) bool {
	return s.Manifest.Rows[store.Submissions.String()] > 0
}

// findInner tells which classes are handed over only by what the program hands
// over to: an executor that puts something of its own around each task.
func (u *Units) findInner() error {
	if !u.handed {
		return nil
	}
	var own, inner byID[bool]
	err := u.s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.Class {
			of := &own
			switch flags := wire.SubmissionFlags(c.Flags[i]); {
			case flags&wire.NoSubmission != 0:
				continue
			case flags&wire.Inner != 0:
				of = &inner
			}
			if of.get(id) == nil {
				of.set(id, new(true))
			}
		}
		return nil
	})
	for id, r := range u.roles.all() {
		r.inner = !r.thread && inner.get(id) != nil && own.get(id) == nil
	}
	return err
}

// findBodies collects the tasks that are loops of threads, by their class. Of a
// thread class of the program the figures decide, see looksLikeBody.
func (u *Units) findBodies() error {
	if err := u.judgeThreads(); err != nil {
		return err
	}
	var mu sync.Mutex
	return u.s.ScanExecutions(store.ExecutionClass|store.ExecutionTaskID, func(_ int, c *session.Chunk) error {
		for i, id := range c.Class {
			if r := u.roles.get(id); r != nil && r.role == unit.Body {
				mu.Lock()
				u.bodies.Add(c.TaskID[i])
				mu.Unlock()
			}
		}
		return nil
	})
}

// judgeThreads tells which thread classes of the program are loops.
func (u *Units) judgeThreads() error {
	own := map[uint32]*granularity.Group{}
	for id, r := range u.roles.all() {
		if r.thread && r.role != unit.Body {
			own[id] = &granularity.Group{}
		}
	}
	if len(own) == 0 {
		return nil
	}
	var mu sync.Mutex
	const columns = store.ExecutionClass | store.ExecutionWall | store.ExecutionCPU | store.ExecutionSelfWall | store.ExecutionSelfCPU
	err := u.s.ScanExecutions(columns, func(_ int, c *session.Chunk) error {
		for i, id := range c.Class {
			if g := own[id]; g != nil {
				mu.Lock()
				g.Add(&granularity.Execution{Work: workOf(c, i)})
				mu.Unlock()
			}
		}
		return nil
	})
	for id, g := range own {
		if loops(g) {
			u.roles.get(id).role = unit.Body
		}
	}
	return err
}

// workOf is the work of execution i of c.
func workOf(c *session.Chunk, i int) [granularity.NMetrics]units.Ns {
	return [granularity.NMetrics]units.Ns{granularity.Wall: c.WallNs[i], granularity.CPU: c.CPUNs[i], granularity.SelfWall: c.SelfWallNs[i], granularity.SelfCPU: c.SelfCPUNs[i]}
}

func addMeasured(to *units.Ns, n units.Ns) {
	if n.Measured() {
		*to += n
	}
}

// Each hands out all units, in the order in which they ended on each thread; the
// one for which it was started comes when the thread has ended.
// What is given is used again after the call.
func (u *Units) Each(f func(*unit.Unit) error) error {
	for _, r := range u.roles.all() {
		r.executions, r.named = 0, 0
	}
	var failed error
	b := unit.NewBuilder(u.bodies.Has, len(u.s.Manifest.Extra), func(x *unit.Unit) {
		if r := u.roles.get(x.Class); r != nil {
			r.named++
		}
		if failed == nil {
			failed = f(x)
		}
	})
	err := u.s.Executions(func(c *session.Chunk) error {
		var e unit.Execution
		for i := range c.TaskID {
			u.execution(&e, c, i)
			b.Add(&e)
		}
		return failed
	})
	if err == nil {
		b.Close()
		err, u.own = failed, b.Own
	}
	return err
}

func (u *Units) execution(e *unit.Execution, c *session.Chunk, i int) {
	flags := wire.ExecutionFlags(c.Flags[i])
	*e = unit.Execution{
		Task: c.TaskID[i], Outer: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Start: c.StartNs[i], End: c.EndNs[i],
		Threw: flags&wire.Threw != 0, Running: flags&wire.Running != 0, Cut: flags&wire.Cut != 0,
		Virtual: flags&wire.Virtual != 0, Unseen: flags&wire.CreationUnseen != 0, Queue: units.NotMeasured,
	}
	e.Work = workOf(c, i)
	for k := range min(len(u.s.Manifest.Extra), unit.MaxFurther) {
		e.More[2*k], e.More[2*k+1] = at(c.Extra, k, i), at(c.SelfExtra, k, i)
	}
	if i < len(c.QueueNs) {
		e.Queue = c.QueueNs[i]
	}
	e.HandedOver = e.Queue.Measured()
	if r := u.roles.get(e.Class); r != nil {
		r.executions++
		e.Role, e.ForkJoin, e.Inner = r.role, r.forkJoin, r.inner
		e.Started = e.HandedOver && r.thread
		e.HandedOver = e.HandedOver || !u.handed && r.forkJoin
	}
}

// Source is the session with units in place of executions.
func (u *Units) Source() Source {
	src := FromSession(u.s)
	src.Of = granularity.UnitsOfWork
	src.Executions = func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.chunks(use, func(x *unit.Unit) (uint32, bool) { return x.Class, true })
	}
	if summaries := src.Summaries; summaries != nil {
		src.Summaries = func(f func(*session.Summary) error) error {
			u.ownSummarised = map[uint32]int64{}
			return summaries(func(x *session.Summary) error {
				if u.counts(x.Class) {
					return f(x)
				}
				if r := u.roles.get(x.Class).role; r == unit.Platform || r == unit.Internal {
					u.ownSummarised[x.Class] += int64(x.Executions)
				}
				return nil
			})
		}
	}
	counts := src.Counts
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) {
		per, sum, err := counts()
		kept := per[:0]
		for _, c := range per {
			if c.Class == nil || u.counts(c.Class.ID) {
				kept = append(kept, c)
			} else if named := u.standAlone(c.Class.ID); named > 0 {
				c.Created, c.NeverExecuted = min(c.Created, uint64(named)), 0 // of those that never ran it is not known
				kept = append(kept, c)
			}
		}
		return kept, sum, err
	}
	return withQueue(src)
}

// advise puts advice about units in the place of that about executions.
func (u *Units) advise(sum *Summary, opts Options) error {
	t := granularity.DefaultThresholds
	if opts.Thresholds != nil {
		t = *opts.Thresholds
	}
	found, err := Advise(u, t)
	if err != nil {
		return err
	}
	if h := u.s.Manifest.Submissions; h != nil && h.Summarised > 0 && handOvers(u.s) {
		found = append(found, partlySummarised(h))
	}
	if !handOvers(u.s) {
		if h := u.s.Manifest.Submissions; h != nil && h.Summarised > 0 {
			sum.Findings = append(sum.Findings, allSummarised(h.Summarised))
		}
		return nil
	}
	var out []granularity.Finding
	put := false
	for _, f := range sum.Findings {
		if f.Kind == granularity.Advice && (f.Topic == "fine" || f.Topic == "coarse") {
			continue
		}
		if f.Kind != granularity.Fact && !put {
			out, put = append(out, found...), true
		}
		out = append(out, f)
	}
	if !put {
		out = append(out, found...)
	}
	// What limits the figures comes last, whoever found it.
	caution := func(f granularity.Finding) int {
		if f.Kind == granularity.Caution {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(x, y granularity.Finding) int { return caution(x) - caution(y) })
	sum.Findings = out
	return nil
}

// build condenses the units.
func (u *Units) build(opts Options) (*Summary, error) {
	sum, err := BuildFrom(u.Source(), opts)
	if err != nil {
		return nil, err
	}
	sum.Units = u.Note(sum.Tasks.Summarised)
	if opts.Shapes {
		if err = u.queues(sum.Figures, max(opts.Classes, DefaultClasses)); err == nil {
			err = u.places(sum, opts)
		}
	}
	return sum, err
}

// placesLimit is up to how many recorded executions a report also tells places and
// executors: each takes a reading of its own.
const placesLimit = 5_000_000

// places fills in the rows by executor and by site.
func (u *Units) places(sum *Summary, opts Options) error {
	if !handOvers(u.s) || recorded(&u.s.Manifest) > placesLimit {
		return nil
	}
	of := Options{Filter: opts.Filter, Units: true}
	for by, rows := range map[string]*[]granularity.Hotspot{ByExecutor: &sum.Executors, BySite: &sum.Sites} {
		placed, err := BuildPlaces(u.s, of, by)
		if err != nil {
			return err
		}
		*rows = placed.Rows
	}
	return nil
}

// queues fills in what waited when, by executor.
func (u *Units) queues(f *Figures, most int) error {
	w, err := newWays(u.s)
	if err != nil {
		return fmt.Errorf("reading the hand-overs of session %s: %w", u.s.Manifest.Session, err)
	}
	f.Waiting = granularity.NewSeries(f.Grid)
	per := map[string]*granularity.Series{}
	of := func(label string) *granularity.Series {
		if per[label] == nil {
			per[label] = granularity.NewSeries(f.Grid)
		}
		return per[label]
	}
	err = u.Each(func(x *unit.Unit) error {
		if !x.Queue.Measured() {
			return nil
		}
		from := x.Start - units.MonoNs(x.Queue)
		f.Waiting.Add(from, x.Start)
		of(w.label(w.list[w.ofUnit(x, ByExecutor)], ByExecutor)).Add(from, x.Start)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the units of session %s: %w", u.s.Manifest.Session, err)
	}
	err = u.summarisedQueues(func(x *session.Summary, m *session.Measure) {
		f.Waiting.Spread(x.FromNs, x.ToNs, int64(m.Count), m.SumNs)
		of(inSummaries).Spread(x.FromNs, x.ToNs, int64(m.Count), m.SumNs)
	})
	if err != nil {
		return fmt.Errorf("reading the summaries of session %s: %w", u.s.Manifest.Session, err)
	}
	labels := slices.SortedFunc(maps.Keys(per), func(a, b string) int {
		return cmp.Or(cmp.Compare(per[b].StartedTotal(), per[a].StartedTotal()), cmp.Compare(a, b))
	})
	for _, l := range labels[:min(len(labels), most)] {
		f.Queues = append(f.Queues, ClassSeries{Label: l, Series: per[l]})
	}
	return nil
}

// summarisedQueues hands out the queue times of what was summarised and counts
// as a unit. Which executor they waited for is not told.
func (u *Units) summarisedQueues(use func(*session.Summary, *session.Measure)) error {
	return u.s.Summaries(func(x *session.Summary) error {
		for i := range x.Measures {
			if m := &x.Measures[i]; m.Metric == wire.MetricQueue && m.Count > 0 && u.counts(x.Class) {
				use(x, m)
			}
		}
		return nil
	})
}

func buildUnits(s *session.Session, opts Options) (*Summary, error) {
	u, err := NewUnits(s)
	if err != nil {
		return nil, err
	}
	sum, err := u.build(opts)
	if err != nil {
		return nil, err
	}
	if !opts.Filter.Active() {
		if err := u.advise(sum, opts); err != nil {
			return nil, err
		}
	}
	if text := sum.Units.Text(); text != "" {
		sum.Findings = append(sum.Findings, granularity.Finding{Kind: sum.Units.kind(), Text: text, Topic: "units"})
	}
	return sum, nil
}
