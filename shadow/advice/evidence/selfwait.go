package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/advice"
	"stackagent/shadow/origin"
	"stackagent/shadow/session"
	"stackagent/shadow/unit"
)

// maxParts is how many hand-overs by tasks are kept; of a session with more of
// them it is not told whether tasks wait for their own pool.
const maxParts = 1 << 20

// selfWaits finds the units that wait for what they handed over to the pool that
// they run on. Fork/join pools are left out: their workers run meanwhile what
// they wait for, or are replaced.
type selfWaits struct {
	parts    []handedPart
	of       map[uint64]int   // into parts, by task
	byThread map[uint32][]int // likewise, in order of time
	waiting  []waitingUnit
	end      units.MonoNs // of the session
}

// handedPart is a task that was handed over inside an execution, and the unit that became of it.
type handedPart struct {
	at, start, end units.MonoNs // start 0: it has not begun, end 0: nor ended
	pool           string
	thread         uint32
	by             uint32 // the thread that handed it over
	outer          uint64 // the task that did
}

// waitingUnit is one on whose thread something was handed over meanwhile.
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

// newSelfWaits reads what was handed over inside executions; nil if that is too much.
func newSelfWaits(s *session.Session, x *origin.Index) (*selfWaits, error) {
	v := &selfWaits{of: map[uint64]int{}, byThread: map[uint32][]int{}, end: s.Manifest.EndNs}
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			if c.OuterTaskID[i] == 0 || c.Executor[i] == 0 || wire.SubmissionFlags(c.Flags[i])&noSelfWait != 0 || len(v.parts) > maxParts {
				continue
			}
			if e := s.ExecutorByID(c.Executor[i]); e == nil || strings.HasPrefix(e.Class, "java.util.concurrent.ForkJoinPool") {
				continue
			}
			v.of[id] = len(v.parts)
			v.byThread[c.Thread[i]] = append(v.byThread[c.Thread[i]], len(v.parts))
			v.parts = append(v.parts, handedPart{at: c.AtNs[i], by: c.Thread[i], outer: c.OuterTaskID[i], pool: x.ExecutorLabel(c.Executor[i])})
		}
		return nil
	})
	if err != nil || len(v.parts) > maxParts {
		return nil, err
	}
	return v, nil
}

// unit takes the next one.
func (v *selfWaits) unit(x *unit.Unit, pool, class string) {
	if v == nil {
		return
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
	u.parts = v.handedOver(x.Thread, u.from, u.to)
	if !x.Running {
		addMeasured(&u.cpu, x.Work[granularity.CPU])
	}
	if len(u.parts) == 0 || u.running && v.joined(&u) {
		return
	}
	v.waiting = append(v.waiting, u)
}

// ranAtOnce reports whether a unit was run by whoever handed it over, before it went
// on: inside the same execution. Of threads that are no tasks themselves it is not told.
func (v *selfWaits) ranAtOnce(x *unit.Unit) bool {
	if v == nil || !x.Inside {
		return false
	}
	n, ok := v.of[x.Named]
	if !ok {
		n, ok = v.of[x.Root]
	}
	return ok && v.parts[n].outer == x.Outer && v.parts[n].by == x.Thread
}

// joined makes one of two units that had not ended on a thread: nobody knows yet
// that one is inside the other.
func (v *selfWaits) joined(u *waitingUnit) bool {
	i := slices.IndexFunc(v.waiting, func(o waitingUnit) bool { return o.running && o.thread == u.thread })
	if i < 0 {
		return false
	}
	o := &v.waiting[i]
	if u.from > o.from {
		o.class = u.class // the inner one is the program's
		return true
	}
	class := o.class
	*o = *u
	o.class = class
	return true
}

// handedOver are the parts that a thread handed over from one time to another.
func (v *selfWaits) handedOver(thread uint32, from, to units.MonoNs) []int {
	all := v.byThread[thread]
	at := func(n int, t units.MonoNs) int { return cmp.Compare(v.parts[n].at, t) }
	first, _ := slices.BinarySearchFunc(all, from, at)
	last, _ := slices.BinarySearchFunc(all, to+1, at)
	return all[first:last]
}

// selfSum is what is known of one pool.
type selfSum struct {
	advice.SelfWait
	any        cover
	classes    map[string]int64
	threads    map[uint32]bool // that had not ended
	first      units.MonoNs
	unfinished bool
}

// byPool sums up what waited, by the pool that labels have become.
func (v *selfWaits) byPool(into map[string]string) map[string]*selfSum {
	out := map[string]*selfSum{}
	if v == nil {
		return out
	}
	for i := range v.waiting {
		u := &v.waiting[i]
		pool := into[u.pool]
		var queued cover
		parts, never := int64(0), int64(0)
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
			}
		}
		if waited := min(queued.length(), units.Ns(u.to-u.from)-u.cpu); waited > 0 {
			s := out[pool]
			if s == nil {
				s = &selfSum{classes: map[string]int64{}, threads: map[uint32]bool{}, first: u.from}
				out[pool] = s
			}
			s.add(u, &queued, waited, parts, never)
		}
	}
	return out
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

// of is the sum as the advice takes it, of a pool with these workers.
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
