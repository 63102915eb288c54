package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// maxParts is the most submissions by tasks that are kept. A session with more gets no
// advice about tasks that wait for their own pool.
const maxParts = 1 << 20

// selfWaits finds units that wait for tasks they submitted to the pool they run on.
// Fork/join pools are left out: while their workers wait, they run these tasks or are
// replaced.
type selfWaits struct {
	parts    []part
	of       map[uint64]int   // index into parts, by task
	byThread map[uint32][]int // indexes into parts, in order of time
	waiting  []waitingUnit
	running  map[uint32]int // by thread: 1 + the index into waiting of a unit that had not ended
	end      units.MonoNs   // of the session
	// outside are the tasks that were submitted outside of tasks.
	outside map[uint64]*submitted
	// gaveUp is when each thread waited for a future up to a time limit, in order.
	gaveUp map[uint32][]piece
}

// submitted is by whom a task was submitted, and to which pool.
type submitted struct {
	by    uint32
	pool  string
	begun bool
}

// part is a task submitted inside an execution, and its unit.
type part struct {
	at, start, end units.MonoNs // start 0: not begun; end 0: not ended
	pool           string
	thread         uint32
	by             uint32 // the thread that submitted it
	outer          uint64 // the task that submitted it
}

// waitingUnit is a unit that submitted tasks.
type waitingUnit struct {
	from, to units.MonoNs
	cpu      units.Ns // as far as known
	pool     string
	class    string
	thread   uint32
	running  bool
	parts    []int
}

const noSelfWait = wire.Rejected | wire.NoSubmission | wire.Forked | wire.Started | wire.Scheduled | wire.Inner

// newSelfWaits reads the submissions inside executions; nil if there are too many.
func newSelfWaits(s *session.Session, x *callsite.Index) (*selfWaits, error) {
	v := &selfWaits{
		of: map[uint64]int{}, byThread: map[uint32][]int{}, running: map[uint32]int{}, outside: map[uint64]*submitted{},
		gaveUp: map[uint32][]piece{}, end: s.Manifest.EndNs,
	}
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			if c.OuterTaskID[i] == 0 && c.Executor[i] != 0 && wire.SubmissionFlags(c.Flags[i])&noSelfWait == 0 && len(v.outside) < maxParts {
				v.outside[id] = &submitted{by: c.Thread[i], pool: x.ExecutorLabel(c.Executor[i])}
			}
			if c.OuterTaskID[i] == 0 || c.Executor[i] == 0 || wire.SubmissionFlags(c.Flags[i])&noSelfWait != 0 || len(v.parts) > maxParts {
				continue
			}
			if e := s.ExecutorByID(c.Executor[i]); e == nil || strings.HasPrefix(e.Class, "java.util.concurrent.ForkJoinPool") {
				continue
			}
			v.of[id] = len(v.parts)
			v.byThread[c.Thread[i]] = append(v.byThread[c.Thread[i]], len(v.parts))
			v.parts = append(v.parts, part{at: c.AtNs[i], by: c.Thread[i], outer: c.OuterTaskID[i], pool: x.ExecutorLabel(c.Executor[i])})
		}
		return nil
	})
	if err != nil || len(v.parts) > maxParts {
		return nil, err
	}
	return v, nil
}

// unit adds the next unit of a thread.
func (v *selfWaits) unit(x *unit.Unit, pool, class string) {
	if v == nil {
		return
	}
	if at := v.submittedOutside(x); at != nil {
		at.begun = true
	}
	n, ok := v.of[x.Named]
	if !ok {
		n, ok = v.of[x.Root]
	}
	if ok {
		p := &v.parts[n]
		p.start, p.end, p.pool, p.thread = x.Start, x.End, pool, x.Thread
	}
	if x.Inside {
		return
	}
	u := waitingUnit{from: x.Start, to: x.End, pool: pool, class: class, thread: x.Thread, running: x.Running}
	if x.Running {
		u.to = max(v.end, x.Start)
	}
	u.parts = v.submitted(x.Thread, u.from, u.to)
	if !x.Running {
		addMeasured(&u.cpu, x.Work[granularity.CPU])
	}
	if len(u.parts) == 0 || u.running && v.joined(&u) {
		return
	}
	v.waiting = append(v.waiting, u)
	if u.running && v.running[u.thread] == 0 {
		v.running[u.thread] = len(v.waiting)
	}
}

// ranAtOnce reports whether a unit ran inside its own submission: on the submitting
// thread, inside the submitting task. Ask before the unit is added.
func (v *selfWaits) ranAtOnce(x *unit.Unit) bool {
	if v == nil {
		return false
	}
	if !x.Inside { // a thread takes nothing from a queue between two of its submissions
		at := v.submittedOutside(x)
		return at != nil && at.by == x.Thread
	}
	n, ok := v.of[x.Named]
	if !ok {
		n, ok = v.of[x.Root]
	}
	return ok && v.parts[n].outer == x.Outer && v.parts[n].by == x.Thread
}

// submittedOutside is the submission of a unit that no task submitted, or nil.
func (v *selfWaits) submittedOutside(x *unit.Unit) *submitted {
	return cmp.Or(v.outside[x.Named], v.outside[x.Root])
}

// left counts the tasks that were submitted outside of tasks and had not begun at the
// end, by pool. into maps labels to merged ones.
func (v *selfWaits) left(into map[string]string) map[string]int64 {
	out := map[string]int64{}
	if v == nil {
		return out
	}
	for _, at := range v.outside {
		if !at.begun {
			out[into[at.pool]]++
		}
	}
	return out
}

// joined merges a running unit with another one of its thread: one is inside the
// other, but that is recorded only at its end.
func (v *selfWaits) joined(u *waitingUnit) bool {
	i := v.running[u.thread]
	if i == 0 {
		return false
	}
	o := &v.waiting[i-1]
	if u.from > o.from {
		o.class = u.class // the inner one names the program's task
		return true
	}
	class := o.class
	*o = *u
	o.class = class
	return true
}

// submitted are the parts that a thread submitted in a span.
func (v *selfWaits) submitted(thread uint32, from, to units.MonoNs) []int {
	all := v.byThread[thread]
	at := func(n int, t units.MonoNs) int { return cmp.Compare(v.parts[n].at, t) }
	first, _ := slices.BinarySearchFunc(all, from, at)
	last, _ := slices.BinarySearchFunc(all, to+1, at)
	return all[first:last]
}

// selfSum sums up the waiting of one pool.
type selfSum struct {
	advice.SelfWait
	any        cover
	classes    map[string]int64
	threads    map[uint32]bool // of the units still running
	first      units.MonoNs
	unfinished bool
}

// byPool sums up the waiting by pool; into maps labels to merged ones.
func (v *selfWaits) byPool(into map[string]string) map[string]*selfSum {
	out := map[string]*selfSum{}
	if v == nil {
		return out
	}
	for i := range v.waiting {
		u := &v.waiting[i]
		pool := into[u.pool]
		var queued cover
		parts, never, gaveUp := int64(0), int64(0), int64(0)
		limits := within(v.gaveUp[u.thread], u)
		for _, n := range u.parts {
			p := &v.parts[n]
			switch {
			case pool == "" || into[p.pool] != pool:
			case p.start == 0 && u.running:
				queued.add(p.at, u.to)
				never++
			case p.start > 0 && p.end > 0 && p.end <= u.to && p.thread != u.thread:
				queued.add(p.at, p.start)
				parts++
			case queuedAtLimit(p, u, limits, &queued):
				parts++
				gaveUp++
			}
		}
		if waited := min(queued.length(), units.Ns(u.to-u.from)-u.cpu); waited > 0 {
			s := out[pool]
			if s == nil {
				s = &selfSum{classes: map[string]int64{}, threads: map[uint32]bool{}, first: u.from}
				out[pool] = s
			}
			s.GaveUp += gaveUp
			s.add(u, &queued, waited, parts, never)
			if gaveUp > 0 {
				s.CPU -= u.cpu // what it waited is recorded, and was not for a processor
			}
		}
	}
	return out
}

// within are those of a thread's waits, in order, that begin in a unit.
func within(waits []piece, u *waitingUnit) []piece {
	from := func(w piece, t units.MonoNs) int { return cmp.Compare(w.from, t) }
	first, _ := slices.BinarySearchFunc(waits, u.from, from)
	last, _ := slices.BinarySearchFunc(waits, u.to, from)
	return waits[first:max(first, last)]
}

// queuedAtLimit reports whether a unit waited for a future up to a time limit while a part of it was queued, and adds that time.
func queuedAtLimit(p *part, u *waitingUnit, limits []piece, queued *cover) (found bool) {
	to := u.to
	if p.start > 0 {
		to = min(to, p.start)
	}
	for _, w := range limits {
		if from, to := max(p.at, w.from), min(to, w.to); from < to {
			queued.add(from, to)
			found = true
		}
	}
	return found
}

func (s *selfSum) add(u *waitingUnit, queued *cover, waited units.Ns, parts, never int64) {
	s.Waiting++
	s.Parts += parts + never
	s.Never += never
	s.Time += waited
	s.CPU += u.cpu
	s.any.merge(queued)
	s.classes[u.class]++
	s.first = min(s.first, u.from)
	if u.running {
		s.threads[u.thread], s.unfinished = true, true
	}
}

// of converts the sum for the pool p.
func (s *selfSum) of(p *poolSum, end units.MonoNs) advice.SelfWait {
	x := s.SelfWait
	x.Any, x.Class = s.any.length(), most(s.classes)
	from, to := s.first, p.To
	if p.Units > 0 {
		from = min(from, p.From)
	}
	if s.unfinished {
		to = end
	}
	x.Span = units.Ns(max(0, to-from))
	all := maps.Clone(s.threads)
	for thread := range p.workers {
		all[thread] = true
	}
	x.Workers = int64(len(all))
	return x
}
