// Package unit makes units of work of the executions of a session.
package unit

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"stackagent/granularity"
	"stackagent/granularity/unit"
	"stackagent/internal/idmap"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// A unit has room for every metric of a session: an index other than 0 does not compile.
var _ = [1]struct{}{}[unit.MaxMetrics-2*(session.FirstExtra+wire.MaxExtra)]

// Reader reads a session's executions as units of work, for any number of goroutines. Each reading makes the
// units anew. Its memory is a few bits for each task that is the loop of a thread.
type Reader struct {
	s           *session.Session
	loops       *session.TaskSet
	cancelled   *session.TaskSet
	roles       idmap.Map[classRole]
	submissions bool            // they were recorded, with their times
	handOvers   bool            // it is known which classes were submitted: they were recorded or summarised
	queued      bool            // each recorded execution of a submitted task has a queue time
	summarised  map[uint32]bool // by thread: executions of the program's tasks were
	exact       bool            // no execution is missing, and what was around those without a record is known
	nested      nested
	// On virtual threads executions of the program's tasks were summarised: on which of them is not known.
	summarisedVirtual bool

	tally    atomic.Pointer[tally]            // of a whole reading; nil: there was none
	platform atomic.Pointer[map[uint32]int64] // summarised executions of the platform's own, by class; nil: not read
}

// tally is what a whole reading has found, the same in each.
type tally struct {
	own     map[uint32]*unit.Own // what the platform did for itself, by class
	classes idmap.Map[classTally]
}

// classTally counts the executions of a class, and the units named after it.
type classTally struct{ executions, named int64 }

// classRole is what a class id is in units.
type classRole struct {
	role      unit.Role
	forkJoin  bool
	thread    bool
	inner     bool // its tasks are submitted only inside another submission
	custom    bool // the user named its method as a task
	submitted bool // tasks of it were, as the summaries count
	parts     bool // executions of it were summarised that are parts of units of others
	proper    bool // others were
}

// Of is the reader of a session, which is made once.
func Of(s *session.Session) (*Reader, error) { return session.Shared(s, newReader) }

// newReader finds the tasks that are the loops of threads.
func newReader(s *session.Session) (*Reader, error) {
	u := &Reader{s: s, loops: session.NewTaskSet(), cancelled: session.NewTaskSet(), summarised: map[uint32]bool{}, submissions: SubmissionsKnown(s) && s.Manifest.NotAvailable["queue"] == ""}
	u.handOvers = u.submissions || SubmissionsSummarised(s)
	u.queued = u.handOvers && s.Manifest.NotAvailable["queue"] == ""
	u.exact = session.IncompleteOf(&s.Manifest) == nil && s.Manifest.Lost.Events == 0
	for i := range s.Classes {
		c := &s.Classes[i]
		u.roles.Set(c.ID, &classRole{role: RoleOf(c.Name, c.Kinds, u.handOvers), forkJoin: c.Kinds&units.KindForkJoin != 0,
			thread: c.Kinds&units.KindThread != 0, custom: customOnly(c.Kinds)})
	}
	if err := u.readSubmissions(); err != nil {
		return nil, fmt.Errorf("reading the submissions of session %s: %w", s.Manifest.Session, err)
	}
	if err := u.findLoops(); err != nil {
		return nil, fmt.Errorf("looking for the loops of threads of session %s: %w", s.Manifest.Session, err)
	}
	if err := u.findNested(); err != nil {
		return nil, fmt.Errorf("reading the summaries of session %s: %w", s.Manifest.Session, err)
	}
	return u, nil
}

// RoleOf says what executions of a class are, from its name and kinds alone. submissions: it
// is known which tasks were submitted.
func RoleOf(name string, kinds units.Kinds, submissions bool) unit.Role {
	switch {
	case IsLoop(name, kinds):
		return unit.Loop
	case unit.IsWrapper(name):
		return unit.Wrapper
	case isInternal(name, kinds):
		return unit.Internal
	case submissions && IsJDK(name, kinds) && kinds&(units.KindForkJoin|units.KindThread) == 0:
		return unit.Platform // without a record of submissions it may be a unit
	case unit.IsLibrary(name):
		return unit.Library
	}
	return unit.Task
}

// customOnly reports whether tasks of a class are executed only by the methods that the
// user named. If the class is a task by its type, too, an execution does not say by which.
func customOnly(kinds units.Kinds) bool {
	return kinds&(units.KindCustom|units.KindThread|units.KindRunnable|units.KindCallable|units.KindForkJoin) == units.KindCustom
}

// SubmissionsKnown reports whether the session recorded submissions.
func SubmissionsKnown(s *session.Session) bool {
	return s.Manifest.Rows[store.Submissions.String()] > 0
}

// SubmissionsSummarised reports whether submissions were counted by class and not recorded one by one.
func SubmissionsSummarised(s *session.Session) bool {
	m := s.Manifest.Submissions
	return m != nil && m.Summarised > 0
}

// readSubmissions finds the tasks that were cancelled, and the classes whose tasks are submitted only inside another
// submission: by an executor that wraps each task in one of its own.
func (u *Reader) readSubmissions() error {
	if !u.submissions {
		return nil
	}
	var own, inner idmap.Map[bool]
	err := u.s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.Class {
			of := &own
			switch flags := wire.SubmissionFlags(c.Flags[i]); {
			case flags&wire.NoSubmission != 0:
				if flags&wire.Cancelled != 0 {
					u.cancelled.Add(c.TaskID[i])
				}
				continue
			case flags&wire.Inner != 0:
				of = &inner
			}
			if of.Get(id) == nil {
				of.Set(id, new(true))
			}
		}
		return nil
	})
	for id, r := range u.roles.All() {
		r.inner = !r.thread && inner.Get(id) != nil && own.Get(id) == nil
	}
	return err
}

// findLoops collects the tasks that are loops of threads, by their class. For a
// thread class of the program the figures decide, see LooksLikeLoop.
func (u *Reader) findLoops() error {
	if err := u.judgeThreads(); err != nil {
		return err
	}
	var mu sync.Mutex
	return u.s.ScanExecutions(store.ExecutionClass|store.ExecutionTaskID, func(_ int, c *session.Chunk) error {
		for i, id := range c.Class {
			if r := u.roles.Get(id); r != nil && r.role == unit.Loop {
				mu.Lock()
				u.loops.Add(c.TaskID[i])
				mu.Unlock()
			}
		}
		return nil
	})
}

// judgeThreads finds the thread classes of the program that are loops.
func (u *Reader) judgeThreads() error {
	own := map[uint32]*granularity.Group{}
	for id, r := range u.roles.All() {
		if r.thread && r.role != unit.Loop {
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
				g.Add(&granularity.Execution{Work: []units.Ns{
					granularity.Wall: c.WallNs[i], granularity.CPU: c.CPUNs[i], granularity.SelfWall: c.SelfWallNs[i], granularity.SelfCPU: c.SelfCPUNs[i]}})
				mu.Unlock()
			}
		}
		return nil
	})
	for id, g := range own {
		if LooksLikeLoop(g) {
			u.roles.Get(id).role = unit.Loop
		}
	}
	return err
}

// Each calls f with all units, in the order in which they ended on each thread; a
// unit that a thread was started for ends with the thread. The Unit is reused after
// the call.
func (u *Reader) Each(f func(*unit.Unit) error) error {
	var failed error
	seen := &tally{}
	for id := range u.roles.All() {
		seen.classes.Set(id, &classTally{})
	}
	// Queue time and delay are not work: they have fields of their own.
	work := NewWorkColumns(slices.DeleteFunc(u.s.Metrics(), func(m session.Metric) bool { return m.Self == 0 }))
	b := unit.NewBuilder(u.loops.Has, work.Len(), func(x *Unit) {
		if u.leftOut(x) {
			return
		}
		if c := seen.classes.Get(x.Class); c != nil {
			c.named++
		}
		if failed == nil {
			failed = f(x)
		}
	})
	b.SummarisedParts, b.IsPart = len(u.nested.parts) > 0, u.isPart
	err := u.s.Executions(func(c *session.Chunk) error {
		var e unit.Execution
		columns := work.Of(c)
		columns = columns[:min(len(columns), unit.MaxMetrics)]
		for i := range c.TaskID {
			u.execution(&e, c, i)
			if of := seen.classes.Get(e.Class); of != nil {
				of.executions++
			}
			for m, column := range columns {
				e.Work[m] = column[i]
			}
			b.Add(&e)
		}
		return failed
	})
	if err == nil {
		b.Close()
		err, seen.own = failed, b.Own
	}
	if err == nil {
		u.tally.Store(seen)
	}
	return err
}

// whole is what a whole reading finds. It is empty for a session that cannot be read: whoever reads the session gets the error.
func (u *Reader) whole() *tally {
	if u.tally.Load() == nil && u.Each(func(*Unit) error { return nil }) != nil {
		u.tally.Store(&tally{})
	}
	return u.tally.Load()
}

func (u *Reader) execution(e *unit.Execution, c *session.Chunk, i int) {
	flags := wire.ExecutionFlags(c.Flags[i])
	*e = unit.Execution{
		Task: c.TaskID[i], Outer: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Start: c.StartNs[i], End: c.EndNs[i],
		Threw: flags&wire.Threw != 0, Running: flags&wire.Running != 0, Cut: flags&wire.Cut != 0,
		Virtual: flags&wire.Virtual != 0, Unseen: flags&wire.CreationUnseen != 0, Queue: units.NotMeasured, Delay: units.NotMeasured,
	}
	if i < len(c.QueueNs) {
		e.Queue = c.QueueNs[i]
	}
	if i < len(c.DelayNs) {
		e.Delay = c.DelayNs[i]
	}
	if i < len(c.LateNs) && c.LateNs[i].Measured() {
		e.Late = c.LateNs[i]
	}
	e.Submitted = e.Queue.Measured()
	if r := u.roles.Get(e.Class); r != nil {
		e.Role, e.ForkJoin, e.Inner = r.role, r.forkJoin, r.inner
		e.Named = r.custom && r.role == unit.Task
		e.Whole = u.isWhole(e.Class, e.Virtual)
		e.Started = e.Submitted && r.thread
		e.Submitted = e.Submitted || !u.queued && r.forkJoin
	}
}

// Unit is one unit of work.
type Unit = unit.Unit

// Summaries calls f with the summaries whose executions count as units, with the work of
// the executions that belong to them. It counts what the platform did for itself, for Note.
func (u *Reader) Summaries(f func(*session.Summary) error) error {
	own, seen := map[uint32]int64{}, u.whole()
	err := u.s.Summaries(func(x *session.Summary) error {
		if u.partOf(&x.Summary) {
			return nil
		}
		if u.counts(x.Class, seen) {
			return f(u.nested.withParts(x))
		}
		if r := u.roles.Get(x.Class).role; r == unit.Platform || r == unit.Internal {
			own[x.Class] += int64(x.Executions)
		}
		return nil
	})
	if err == nil {
		u.platform.Store(&own)
	}
	return err
}

// ClassCounts are the exact counts of the classes whose tasks count as units.
func (u *Reader) ClassCounts() ([]session.ClassCounts, session.ClassCounts, error) {
	per, sum, err := u.s.Counts()
	kept, seen := per[:0], u.whole()
	for _, c := range per {
		if c.Class == nil || u.counts(c.Class.ID, seen) {
			kept = append(kept, c)
		} else if named := u.standAlone(c.Class.ID, seen); named > 0 {
			c.Created, c.NeverExecuted = min(c.Created, uint64(named)), 0 // which of them never ran is not known
			kept = append(kept, c)
		}
	}
	return kept, sum, err
}

// Recorded is the number of executions of a session with a record of their own.
func Recorded(m *store.Manifest) uint64 { return m.Stored.Executions - m.Summarised.Executions }
