package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

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
	handed bool // hand-overs were recorded
}

// classRole is what a class id is in units.
type classRole struct {
	role     unit.Role
	forkJoin bool
	thread   bool
}

// NewUnits reads which tasks are the bodies of threads.
func NewUnits(s *session.Session) (*Units, error) {
	u := &Units{s: s, bodies: session.NewTaskSet(), handed: handOvers(s)}
	for i := range s.Classes {
		c := &s.Classes[i]
		r := &classRole{forkJoin: c.Kinds&units.KindForkJoin != 0, thread: c.Kinds&units.KindThread != 0}
		switch {
		case knownBody(c.Name, c.Kinds):
			r.role = unit.Body
		case unit.IsWrapper(c.Name):
			r.role = unit.Wrapper
		}
		u.roles.set(c.ID, r)
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

// HandOversKnown tells whether the session recorded hand-overs. Without them
// an execution nested in another one belongs to its unit, unless it is a
// fork/join task, which is executed nested when a worker that waits helps.
func (u *Units) HandOversKnown() bool { return u.handed }

// findBodies collects the tasks that are loops of threads, by their class. Of a
// thread class of the program the figures decide, see looksLikeBody.
func (u *Units) findBodies() error {
	type sums struct{ cpu, selfCPU, wall, selfWall units.Ns }
	own := map[uint32]*sums{}
	err := u.s.Executions(func(c *session.Chunk) error {
		for i, id := range c.Class {
			r := u.roles.get(id)
			if r == nil || !r.thread || r.role == unit.Body {
				continue
			}
			x := own[id]
			if x == nil {
				x = &sums{}
				own[id] = x
			}
			addMeasured(&x.cpu, c.CPUNs[i])
			addMeasured(&x.selfCPU, c.SelfCPUNs[i])
			addMeasured(&x.wall, c.WallNs[i])
			addMeasured(&x.selfWall, c.SelfWallNs[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, x := range own {
		if x.cpu > 0 && x.selfCPU < x.cpu/2 || x.cpu == 0 && x.selfWall < x.wall {
			u.roles.get(id).role = unit.Body
		}
	}
	return u.s.Executions(func(c *session.Chunk) error {
		for i, id := range c.Class {
			if r := u.roles.get(id); r != nil && r.role == unit.Body {
				u.bodies.Add(c.TaskID[i])
			}
		}
		return nil
	})
}

func addMeasured(to *units.Ns, n units.Ns) {
	if n.Measured() {
		*to += n
	}
}

// Each hands out all units, in the order in which they ended on each thread.
// What is given is used again after the call.
func (u *Units) Each(f func(*unit.Unit) error) (*unit.Builder, error) {
	var failed error
	b := unit.NewBuilder(u.bodies.Has, len(u.s.Manifest.Extra), func(x *unit.Unit) {
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
		err = failed
	}
	return b, err
}

func (u *Units) execution(e *unit.Execution, c *session.Chunk, i int) {
	flags := wire.ExecutionFlags(c.Flags[i])
	*e = unit.Execution{
		Task: c.TaskID[i], Outer: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Start: c.StartNs[i], End: c.EndNs[i],
		Threw: flags&wire.Threw != 0, Running: flags&wire.Running != 0, Cut: flags&wire.Cut != 0,
		Virtual: flags&wire.Virtual != 0, Unseen: flags&wire.CreationUnseen != 0, Queue: units.NotMeasured,
	}
	e.Work = [granularity.NMetrics]units.Ns{granularity.Wall: c.WallNs[i], granularity.CPU: c.CPUNs[i], granularity.SelfWall: c.SelfWallNs[i], granularity.SelfCPU: c.SelfCPUNs[i]}
	for k := range min(len(u.s.Manifest.Extra), unit.MaxFurther) {
		e.More[2*k], e.More[2*k+1] = at(c.Extra, k, i), at(c.SelfExtra, k, i)
	}
	if i < len(c.QueueNs) {
		e.Queue = c.QueueNs[i]
	}
	e.HandedOver = e.Queue.Measured()
	if r := u.roles.get(e.Class); r != nil {
		e.Role, e.ForkJoin = r.role, r.forkJoin
		e.Started = e.HandedOver && r.thread
		e.HandedOver = e.HandedOver || !u.handed && r.forkJoin
	}
}

// unitChunk is how many units are handed on at once.
const unitChunk = 4096

// Source is the session with units in place of executions.
func (u *Units) Source() Source {
	src := FromSession(u.s)
	src.Of = granularity.UnitsOfWork
	src.Executions = func(_ store.Columns, use func(int, *session.Chunk) error) error {
		return u.chunks(use, func(x *unit.Unit) (uint32, bool) { return x.Class, true })
	}
	if summaries := src.Summaries; summaries != nil {
		src.Summaries = func(f func(*session.Summary) error) error {
			return summaries(func(x *session.Summary) error {
				if r := u.roles.get(x.Class); r != nil && r.role != unit.Task {
					return nil // wrappers and loops are no units
				}
				return f(x)
			})
		}
	}
	counts := src.Counts
	src.Counts = func() ([]session.ClassCounts, session.ClassCounts, error) {
		per, sum, err := counts()
		kept := per[:0]
		for _, c := range per {
			if r := u.roles.get(c.Class.ID); r == nil || r.role == unit.Task {
				kept = append(kept, c)
			}
		}
		return kept, sum, err
	}
	return withQueue(src, u.handed)
}

// chunks hands on the units that class lets pass, as executions of the class
// that it says.
func (u *Units) chunks(use func(int, *session.Chunk) error, class func(*unit.Unit) (uint32, bool)) error {
	c := newUnitChunk(len(u.s.Manifest.Extra))
	_, err := u.Each(func(x *unit.Unit) error {
		if id, ok := class(x); ok {
			c.add(x, id)
		}
		if c.Len() < unitChunk {
			return nil
		}
		defer c.empty()
		return use(0, &c.Chunk)
	})
	if err != nil || c.Len() == 0 {
		return err
	}
	return use(0, &c.Chunk)
}

// unitColumns are units in the columns of executions.
type unitColumns struct {
	session.Chunk
	further int
}

func newUnitChunk(further int) *unitColumns {
	c := &unitColumns{further: further}
	c.Extra, c.SelfExtra = make([][]int64, further), make([][]int64, further)
	return c
}

func (c *unitColumns) add(x *unit.Unit, class uint32) {
	c.TaskID, c.OuterTaskID = append(c.TaskID, x.Root), append(c.OuterTaskID, 0)
	c.Class, c.Thread = append(c.Class, class), append(c.Thread, x.Thread)
	depth := uint16(0)
	if x.Inside {
		depth = 1
	}
	c.Depth, c.Flags = append(c.Depth, depth), append(c.Flags, unitFlags(x))
	c.StartNs, c.EndNs = append(c.StartNs, x.Start), append(c.EndNs, x.End)
	c.WallNs, c.CPUNs = append(c.WallNs, x.Work[granularity.Wall]), append(c.CPUNs, x.Work[granularity.CPU])
	c.SelfWallNs, c.SelfCPUNs = append(c.SelfWallNs, x.Work[granularity.SelfWall]), append(c.SelfCPUNs, x.Work[granularity.SelfCPU])
	c.Site, c.QueueNs = append(c.Site, 0), append(c.QueueNs, x.Queue)
	for k := range c.further {
		total, self := units.NotMeasured, units.NotMeasured
		if k < unit.MaxFurther {
			total, self = x.More[2*k], x.More[2*k+1]
		}
		c.Extra[k], c.SelfExtra[k] = append(c.Extra[k], int64(total)), append(c.SelfExtra[k], int64(self))
	}
}

func unitFlags(x *unit.Unit) uint16 {
	var flags wire.ExecutionFlags
	for _, f := range []struct {
		set  bool
		flag wire.ExecutionFlags
	}{{x.Threw, wire.Threw}, {x.Running, wire.Running}, {x.Cut, wire.Cut}, {x.Virtual, wire.Virtual}, {x.Unseen, wire.CreationUnseen}} {
		if f.set {
			flags |= f.flag
		}
	}
	return uint16(flags)
}

func (c *unitColumns) empty() {
	k := &c.Chunk
	k.TaskID, k.OuterTaskID, k.Class, k.Thread = k.TaskID[:0], k.OuterTaskID[:0], k.Class[:0], k.Thread[:0]
	k.Depth, k.Flags, k.StartNs, k.EndNs = k.Depth[:0], k.Flags[:0], k.StartNs[:0], k.EndNs[:0]
	k.WallNs, k.CPUNs, k.SelfWallNs, k.SelfCPUNs = k.WallNs[:0], k.CPUNs[:0], k.SelfWallNs[:0], k.SelfCPUNs[:0]
	k.Site, k.QueueNs = k.Site[:0], k.QueueNs[:0]
	for i := range k.Extra {
		k.Extra[i], k.SelfExtra[i] = k.Extra[i][:0], k.SelfExtra[i][:0]
	}
}

// UnitsNote says how far units could be told.
type UnitsNote struct {
	// HandOversKnown: the session recorded what was handed over. Otherwise an
	// execution nested in another one counts as part of its unit, unless it is a
	// fork/join task.
	HandOversKnown bool `json:"hand_overs_known"`
	// Undecided are summarised executions: whether they were nested in a unit or
	// handed over by themselves is not known; each counts as a unit.
	Undecided int64 `json:"undecided"`
}

// Text says it in a sentence, "" where there is nothing to say.
func (n *UnitsNote) Text() string {
	text := ""
	if !n.HandOversKnown {
		text = "This session has no record of hand-overs: an execution nested in another one counts as part of its unit, but fork/join tasks as units of their own."
	}
	if n.Undecided > 0 {
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("Of %s summarised executions it is not known what they were nested in: each counts as a unit.", units.FormatCount(n.Undecided))
	}
	return text
}

// advise puts advice about units in the place of that about executions.
func (u *Units) advise(sum *Summary, opts Options) error {
	t := granularity.DefaultThresholds
	if opts.Thresholds != nil {
		t = *opts.Thresholds
	}
	found, err := Advise(u, t)
	if err != nil || !u.handed {
		return err
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
	sum.Findings = out
	return nil
}

// Note says how far the units of the session can be told.
func (u *Units) Note(summarised int64) *UnitsNote {
	return &UnitsNote{HandOversKnown: u.handed, Undecided: summarised}
}

// build condenses the units.
func (u *Units) build(opts Options) (*Summary, error) {
	sum, err := BuildFrom(u.Source(), opts)
	if err != nil {
		return nil, err
	}
	sum.Units = u.Note(sum.Tasks.Summarised)
	if opts.Shapes {
		err = u.queues(sum.Figures, max(opts.Classes, DefaultClasses))
	}
	return sum, err
}

// queues fills in what waited when, by executor.
func (u *Units) queues(f *Figures, most int) error {
	w, err := newWays(u.s)
	if err != nil {
		return fmt.Errorf("reading the hand-overs of session %s: %w", u.s.Manifest.Session, err)
	}
	f.Waiting = granularity.NewSeries(f.Grid)
	per := map[string]*granularity.Series{}
	_, err = u.Each(func(x *unit.Unit) error {
		if !x.Queue.Measured() {
			return nil
		}
		label := w.label(w.list[w.ofUnit(x, ByExecutor)], ByExecutor)
		if per[label] == nil {
			per[label] = granularity.NewSeries(f.Grid)
		}
		from := x.Start - units.MonoNs(x.Queue)
		f.Waiting.Add(from, x.Start)
		per[label].Add(from, x.Start)
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading the units of session %s: %w", u.s.Manifest.Session, err)
	}
	labels := slices.SortedFunc(maps.Keys(per), func(a, b string) int {
		return cmp.Or(cmp.Compare(per[b].StartedTotal(), per[a].StartedTotal()), cmp.Compare(a, b))
	})
	for _, l := range labels[:min(len(labels), most)] {
		f.Queues = append(f.Queues, ClassSeries{Label: l, Series: per[l]})
	}
	return nil
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
		sum.Findings = append(sum.Findings, granularity.Finding{Kind: granularity.Caution, Text: text, Topic: "units"})
	}
	return sum, nil
}
