package graph

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/graph"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Keys of Session.NotKnown.
const (
	Waits      = "waits"
	Virtual    = "virtual threads"
	Summarised = "summarised classes"
)

// maxUnits bounds what is read before the steps are counted: a unit has its submission, its end and what it does in between,
// and cuts the submitter's time into two.
const maxUnits = graph.MaxSteps / 4

// manyUnits is from when on memory that is no longer needed is given back between the steps, each of which needs as much again.
const manyUnits = 100_000

// reader collects a recording.
type reader struct {
	s        *session.Session
	rec      *recording
	index    *callsite.Index
	names    *callsite.Names                // nil: no task has a name but its class's
	byTask   *byTask                        // a unit's is the task whose submission is the unit's
	named    map[[2]uint32]uint32           // by class, and its number in names: the name in the recording
	sites    map[uint32]uint32              // by site: its name in the recording
	threads  map[uint64]uint32              // by the task that a thread is
	starts   map[uint32]started             // by thread
	bulk     map[string]bool                // names of classes
	forks    map[string]bool                // the same
	selves   map[string]*granularity.Values // by name of a class: what its units compute that are only summed up
	missing  map[string]string
	virtual  []virtualEnd         // of units on virtual threads
	carriers map[uint32]*threadOf // that carry them: no units of the graph
	unseen   *unseen
	pending  pending

	waited       map[waitInfo]uint32         // 1 + index in recording.waits
	initialising map[string]string           // see Session
	computing    map[string]map[string]int64 // see Session
	yielding     map[string]map[string]int64 // see Session
	interpreted  map[string]map[string]int64 // see Session
	summarised   map[string]uint64           // see Session
}

// Of is the graph of the units of a session that lie between from and to; 0: all.
func Of(s *session.Session, from, to units.MonoNs) (*Session, error) {
	index, err := callsite.Of(s)
	if err != nil {
		return nil, err
	}
	r := &reader{s: s, index: index, named: map[[2]uint32]uint32{}, sites: map[uint32]uint32{0: 0}, threads: map[uint64]uint32{}, starts: map[uint32]started{}, selves: map[string]*granularity.Values{}, forks: map[string]bool{}, bulk: map[string]bool{}, carriers: map[uint32]*threadOf{}, missing: map[string]string{}, waited: map[waitInfo]uint32{}, initialising: map[string]string{}, computing: map[string]map[string]int64{}, yielding: map[string]map[string]int64{}, interpreted: map[string]map[string]int64{}, summarised: map[string]uint64{}, unseen: newUnseen(), pending: pending{map[uint64]pendingTask{}, map[uint64]bool{}}, rec: &recording{names: &graph.Names{}, sums: map[SumOf]Unrecorded{}, unlisted: map[uint32][]activity.Span{},
		left: map[uint32][]leftTask{}, refused: map[refusal]int{},
		cpus: s.Manifest.JVM.CPUs, threads: map[uint32]*threadOf{}, executors: map[uint32]executorOf{}}}
	r.rec.From, r.rec.To = s.Manifest.StartNs, s.Manifest.StartNs+units.MonoNs(s.Manifest.DurationNs)
	if from != 0 {
		r.rec.From = from
	}
	if to != 0 {
		r.rec.To = to
	}
	if callsite.MayName(s) {
		r.names = callsite.NewNames(index)
	}
	for i := range s.Threads {
		if s.Threads[i].Role() == "carrier" {
			r.carriers[s.Threads[i].ID] = &threadOf{id: s.Threads[i].ID}
		}
	}
	r.readPauses()
	if v := s.Manifest.Scheduling; v != nil {
		r.rec.pins.all = v.PinnedNs
	}
	for _, read := range []func() error{r.readUnits, r.readSummarised, r.readThreads, r.readSubmissions, r.queueAgain, r.fixRates, r.readActivity, r.readWaits, r.readSamples} {
		if err := read(); err != nil {
			return nil, err
		}
	}
	lingering, medians := r.lingers(), map[string]units.Ns{}
	for name, v := range r.selves {
		medians[name] = v.Quantile(500)
	}
	r.finish()
	many := len(r.rec.units) >= manyUnits
	if r.byTask, r.virtual, r.unseen = nil, nil, nil; many {
		runtime.GC()
	}
	out, err := assemble(r.rec)
	if err != nil {
		return nil, err
	}
	out.Medians = medians
	out.NotKnown, out.Forks, out.Bulk, out.summarised, out.Initialising, out.Computing, out.Yielding, out.Interpreted, out.Lingering = r.missing, r.forks, r.bulk, r.summarised, r.initialising, r.computing, r.yielding, r.interpreted, lingering
	if r = nil; many {
		runtime.GC()
	}
	return out, nil
}

// thread is a thread of the program; nil: it is another one's.
func (r *reader) thread(id uint32) *threadOf {
	if t := r.rec.threads[id]; t != nil {
		return t
	}
	of := r.s.ThreadByID(id)
	if of == nil || of.Kind != session.KindApplication && of.Kind != session.KindMain {
		return nil
	}
	t := &threadOf{id: id, name: of.Label(), executor: r.index.ExecutorOf(id), worker: r.index.ExecutorOf(id) != 0 || of.Class == session.TimerThread || of.Role() != "" && !of.Virtual, virtual: of.Virtual}
	r.rec.threads[id] = t
	return t
}

func (r *reader) readUnits() error {
	reader, err := unit.Of(r.s)
	if err != nil {
		return err
	}
	if n := r.s.Manifest.Summarised.Executions; n > 0 {
		r.missing[Summarised] = text.PluralExact(n, "execution was", "executions were") + " not recorded one by one: those that were handed over to a platform thread are summed up in the account, the time of others is that of what is around them; --detail all records them"
	}
	most := uint64(0)
	if n := unit.Recorded(&r.s.Manifest); r.rec.From <= r.s.Manifest.StartNs { // there are not more units, and few bodies and windows of the JVM's threads; memory that is not needed is not touched
		most = min(n+n/16, maxUnits)
	}
	r.rec.units, r.byTask = make([]unitOf, 0, most), newByTask(int(most))
	if err := reader.Each(r.addUnit); err != nil {
		return err
	}
	r.byTask.sort(r.rec.units)
	return r.readStretches(reader)
}

// clamped is the delay that the agent gives to tasks that were due before their submission.
const clamped = 1

func (r *reader) addUnit(x *unit.Unit) error {
	t := r.thread(x.Thread)
	u := unitOf{id: x.Root, class: r.class(x), thread: x.Thread, start: x.Start, end: x.End, inline: x.Inside && !x.Submitted}
	if u.end == 0 || u.end > r.rec.To {
		u.end = r.rec.To
	}
	if t == nil || u.start < r.rec.From || u.end <= u.start {
		return nil
	}
	if len(r.rec.units) >= maxUnits {
		return fmt.Errorf("%w: more than %d units; choose a shorter time with --from and --to", graph.ErrTooLarge, maxUnits)
	}
	if x.Virtual {
		r.virtual = append(r.virtual, virtualEnd{u.end, x.Thread})
		r.missing[Virtual] = "the scheduling record shows their carriers only: for how long each computed and waited between its recorded waits is known, but not when"
	}
	u.virtual = x.Virtual
	if wall, cpu := x.Work[granularity.SelfWall], x.Work[granularity.SelfCPU]; wall > 0 && cpu.Measured() {
		ran := max(cpu, wall-r.s.Stopped().In(u.start, u.end), 1)
		u.busy, u.cpu = min(1, float64(cpu)/float64(ran)), cpu
	}
	task := cmp.Or(x.SubmittedAs, x.Root)
	if x.StartedAs != 0 {
		task, u.body = x.StartedAs, true
	}
	if x.Queue.Measured() {
		u.submitted = x.Start - units.MonoNs(x.Queue)
		if x.Delay.Measured() {
			u.due = u.submitted
			u.submitted -= units.MonoNs(x.Delay)
			u.late, u.lateBy = x.Delay <= clamped, x.Late
		}
	}
	u.executor = r.index.ExecutorOf(x.Thread)
	t.units = append(t.units, uint32(len(r.rec.units)))
	r.byTask.add(task, uint32(len(r.rec.units)))
	r.rec.units = append(r.rec.units, u)
	return nil
}

// class is the name of a unit's class, as all listings have it.
func (r *reader) class(x *unit.Unit) uint32 {
	id := x.Class
	if r.names != nil {
		id = r.names.OfUnit(x)
	}
	key := [2]uint32{x.Class, id}
	number, known := r.named[key]
	if known {
		return number
	}
	name := callsite.Describe(r.s, r.names, id).Name
	if c := r.s.ClassByID(x.Class); c != nil && unit.IsBulk(c) {
		r.bulk[name] = true
	} else if c != nil && c.Kinds&units.KindForkJoin != 0 && !unit.IsJDK(c.Name, c.Kinds) {
		r.forks[name] = true
	}
	number = r.rec.names.Number(name)
	r.named[key] = number
	return number
}

// readThreads finds the task that each thread is: its outermost execution, of a class of threads. Who submitted that started the thread.
func (r *reader) readThreads() error {
	classes := map[uint32]bool{}
	for i := range r.s.Classes {
		classes[r.s.Classes[i].ID] = r.s.Classes[i].Kinds&units.KindThread != 0
	}
	var mu sync.Mutex
	return r.s.ScanExecutions(store.ExecutionTaskID|store.ExecutionThread|store.ExecutionClass|store.ExecutionDepth, func(_ int, c *session.Chunk) error {
		mu.Lock()
		defer mu.Unlock()
		for i, task := range c.TaskID {
			if c.Depth[i] == 0 && classes[c.Class[i]] {
				r.threads[task] = c.Thread[i]
			}
		}
		return nil
	})
}

// readSubmissions finds who submitted each unit, which is the latest submission before its start, and who started each thread.
func (r *reader) readSubmissions() error {
	latest := make([]units.MonoNs, len(r.rec.units)) // by unit
	err := r.s.Submissions(func(c *session.SubmissionChunk) error {
		for i, task := range c.TaskID {
			r.mayPend(c, i)
			if flags := wire.SubmissionFlags(c.Flags[i]); flags&(wire.Rejected|wire.NoSubmission) != 0 {
				if flags&wire.Rejected != 0 && flags&wire.Inner == 0 && c.Executor[i] != 0 {
					r.rec.refused[refusal{c.Thread[i], c.Executor[i]}]++
				}
				continue
			}
			at := c.AtNs[i]
			of := r.byTask.units(task)
			if len(of) == 0 && c.Executor[i] != 0 && c.OuterTaskID[i] != 0 && !r.delays(c.Executor[i]) {
				r.rec.left[c.Thread[i]] = append(r.rec.left[c.Thread[i]], leftTask{at, c.Executor[i]})
			}
			if thread := r.threads[task]; thread != 0 {
				r.starts[thread] = started{at: at, by: c.Thread[i], site: r.site(c.Site[i])}
			}
			// A later unit of the task has a later submission, or none.
			k, _ := slices.BinarySearchFunc(of, at, func(n uint32, at units.MonoNs) int { return cmp.Compare(r.rec.units[n].start, at) })
			if k < len(of) && at >= latest[of[k]] {
				u := &r.rec.units[of[k]]
				latest[of[k]] = at
				r.submitted(u, at, c.Thread[i], c.Executor[i], c.Site[i])
				u.again = k > 0 && at <= r.rec.units[of[k-1]].end
			}
		}
		return nil
	})
	r.findPending()
	return err
}

// delays reports whether an executor runs what it is given at a later time: most timeouts are cancelled before.
func (r *reader) delays(executor uint32) bool {
	e := r.s.ExecutorByID(executor)
	return e != nil && (e.Class == "java.util.Timer" || strings.HasSuffix(e.Queue, "$DelayedWorkQueue"))
}

func (r *reader) submitted(u *unitOf, at units.MonoNs, thread, executor, site uint32) {
	u.submitter = thread
	if u.submitted == 0 { // else the agent says of which submission it is: others were refused
		u.submitted = at
	}
	if executor != 0 {
		u.executor = executor
	}
	u.site = cmp.Or(r.site(site), u.site)
}

// site is the name of a site.
func (r *reader) site(id uint32) uint32 {
	number, known := r.sites[id]
	if !known {
		number = r.rec.names.Number(r.index.SiteLabel(id))
		r.sites[id] = number
	}
	return number
}

// readActivity reads what the threads did with their time.
func (r *reader) readActivity() error {
	a, err := r.s.Activity()
	if errors.Is(err, session.ErrNoActivity) {
		r.missing[Waits] = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	ofJDK := r.threadsOfJDK()
	for i := range r.s.Threads { // bodies of threads without a unit: main
		if t := &r.s.Threads[i]; !ofJDK[t.Class] {
			r.thread(t.ID)
		}
	}
	for i := range r.rec.units {
		r.thread(r.rec.units[i].submitter)
	}
	if !a.KnowsEnds() {
		r.missing[Waits] = "the scheduling record does not say who ends a wait"
	}
	for id := range r.carriers {
		if t := r.rec.threads[id]; t != nil { // it ran units of its own, as the JDK's timers are
			r.carriers[id] = t
		}
	}
	pieces, cpus, beside := 0, contention{cpus: r.rec.cpus}, r.threadsBeside(a)
	err = a.Stream(r.rec.From, r.rec.To)(func(s activity.Slice) error {
		t := cmp.Or(r.rec.threads[a.Java[s.Thread]], r.carriers[a.Java[s.Thread]], beside[s.Thread])
		if t == nil {
			return nil
		}
		cpus.add(t, &s)
		p := piece{Span: activity.Span{From: s.From, To: s.To}, state: s.State}
		if s.State == activity.Running {
			p.run = p.Len()
			r.countCPU(t, p.run)
		}
		if s.By != 0 && (s.State == activity.Futex || s.State == activity.IO) {
			p.by = a.Java[s.By-1]
		}
		if pieces += t.add(p); pieces > graph.MaxSteps {
			return fmt.Errorf("%w: more than %d slices; choose a shorter time with --from and --to", graph.ErrTooLarge, graph.MaxSteps)
		}
		return nil
	})
	cpus.share()
	return err
}

// wakesSleepers reports whether a thread wakes virtual threads at the end of a sleep: that of JDK 24 and later, or of those before.
func wakesSleepers(thread string) bool {
	return strings.Contains(thread, "-delayScheduler") || strings.HasPrefix(thread, "VirtualThread-unpark")
}

// countCPU adds the CPU time of a thread.
func (r *reader) countCPU(t *threadOf, ran units.Ns) {
	r.rec.cpu.All += ran
	switch {
	case r.carriers[t.id] == t:
		r.rec.cpu.Switching += ran
	case wakesSleepers(t.name):
		r.rec.cpu.Timers += ran
	}
}

// threadsOfJDK are the JDK's own classes of threads, such as that of the hook which closes the log after the program's end. A
// thread of one is no part of the program unless it runs its units, or submits some, as the selector of an HTTP client does.
func (r *reader) threadsOfJDK() map[string]bool {
	names := map[string]bool{}
	for i := range r.s.Classes {
		if c := &r.s.Classes[i]; c.Kinds&(units.KindJDK|units.KindThread) == units.KindJDK|units.KindThread && c.Name != "java.lang.Thread" {
			names[c.Name] = true
		}
	}
	return names
}

// add adds a piece, or makes the last one longer; it returns how many it added.
func (t *threadOf) add(p piece) int {
	if n := len(t.pieces); n > 0 {
		switch last := &t.pieces[n-1]; {
		case last.To > p.From: // a record that overlaps itself
			return 0
		case last.To == p.From && !last.waits() && !p.waits():
			last.To, last.run = p.To, last.run+p.run
			t.stays = p.stay(t.stays)
			return 0
		case last.To == p.From && last.waits() && last.state == p.state && (last.by == 0 || last.by == p.by): // cut between two parts of the record
			last.To, last.by = p.To, p.by
			return 0
		}
	}
	t.pieces = append(t.pieces, p)
	t.stays = p.stay(t.stays)
	return 1
}

// stay adds the stay on a CPU that a piece is.
func (p *piece) stay(to []activity.Span) []activity.Span {
	if p.run == 0 {
		return to
	}
	return append(to, p.Span)
}

// lingers finds the executor whose idle worker was the last non-daemon thread to end, and how long after the last unit that was; nil: the JVM did not end because of that.
func (r *reader) lingers() *Lingering {
	last, worked := units.MonoNs(0), units.MonoNs(0)
	var of *session.Thread
	for i := range r.rec.units {
		worked = max(worked, r.rec.units[i].end)
	}
	for id := range r.rec.threads {
		t := r.s.ThreadByID(id)
		if t.Daemon || t.Virtual {
			continue
		}
		if t.EndNs == 0 { // the JVM did not wait for it
			return nil
		}
		if t.EndNs > last {
			last, of = t.EndNs, t
		}
		if r.index.ExecutorOf(id) == 0 {
			worked = max(worked, t.EndNs)
		}
	}
	if of == nil || r.index.ExecutorOf(of.ID) == 0 || last <= worked {
		return nil
	}
	return &Lingering{r.index.ExecutorLabel(r.index.ExecutorOf(of.ID)), units.Ns(last - worked), units.Ns(r.rec.To - r.rec.From)}
}

// finish cuts the threads' times at their ends, names executors and drops what is no part of the program.
func (r *reader) finish() {
	over := r.endsWithMain()
	for id, t := range r.rec.threads {
		of := r.s.ThreadByID(id)
		t.start = r.starts[id]
		t.daemon = of.Daemon && !of.Virtual
		t.alive = over && of.EndNs == 0 && of.Kind != session.KindMain && !of.Virtual // ends of virtual threads are not recorded
		if end := of.EndNs; end != 0 {                                                // main then waits for the others to end
			t.pieces = slices.DeleteFunc(t.pieces, func(p piece) bool { return p.From >= end })
			if n := len(t.pieces); n > 0 {
				t.pieces[n-1].To = min(t.pieces[n-1].To, end)
			}
		}
		for n := len(t.pieces); n > 0 && t.pieces[n-1].state == activity.Unended; n = len(t.pieces) {
			t.pieces = t.pieces[:n-1]
		}
	}
	r.rec.startAtEnd(r.main())
	for i := range r.rec.units {
		if u := &r.rec.units[i]; u.virtual {
			r.rec.cpu.Switching = max(0, r.rec.cpu.Switching-u.cpu)
		}
	}
	r.rec.carriers, r.rec.turns = len(r.carriers), r.unseen.turns
	for i := range r.s.Executors() {
		e := &r.s.Executors()[i]
		r.rec.executors[e.ID] = executorOf{name: r.index.ExecutorLabel(e.ID), forkJoin: strings.Contains(e.Class, "ForkJoinPool"), given: e}
	}
}
