package speedup

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// Reckon sweeps once over the slices of in and returns the account of the run, and the accounts between moments in ascending
// order, which add up: Duration is the part of the region between two of them. Of the counts of threads, parts have none.
// Memory depends on the number of threads, segments and pauses.
func Reckon(in Input, at ...units.MonoNs) (Account, []Account, error) {
	s, err := swept(in, at)
	if err != nil {
		return Account{}, nil, err
	}
	var parts []Account
	for i := 1; i < len(s.marks); i++ {
		parts = append(parts, s.marks[i].less(s.marks[i-1]))
	}
	return s.total(), parts, nil
}

func swept(in Input, at []units.MonoNs) (*sweep, error) {
	if in.N < 1 {
		return nil, fmt.Errorf("account of a run: %w, not %d", ErrThreads, in.N)
	}
	s := &sweep{in: in, slotTime: map[int]units.Ns{}, stays: make([]stay, len(in.Threads)), at: math.MinInt64}
	s.acc.N = in.N
	for _, t := range at {
		s.note(change{at: t, what: mark})
	}
	if err := s.plan(); err != nil {
		return nil, fmt.Errorf("account of a run: %w", err)
	}
	if err := in.Stream(s.add); err != nil {
		return nil, fmt.Errorf("account of a run: %w", err)
	}
	s.advance(math.MaxInt64)
	return s, nil
}

// change is an event at a known time.
type change struct {
	at     units.MonoNs
	what   changeKind
	thread uint32
}

type changeKind int

// At the same time ends come before begins: neighbours without a gap never overlap,
// and a thread lives within a segment.
const (
	slotEnds changeKind = iota
	threadEnds
	shiftEnds
	segmentEnds
	pauseEnds
	pauseBegins
	segmentBegins
	shiftBegins
	threadBegins
	slotBegins
	threadGone // began and ended at once
	mark       // of Reckon
)

// stay is a thread's current slice.
type stay struct {
	state    activity.ThreadState
	parallel units.Ns // the clock of parallel time when it began
	open     bool
	alive    bool
	shift    bool // a driver that does the workers' tasks
	seen     bool // has been alive
}

// sweep goes through time from change to change.
type sweep struct {
	in      Input
	stays   []stay
	changes []change      // what lies ahead
	ends    activity.Ends // of open slices
	latest  units.MonoNs
	begun   bool
	at      units.MonoNs

	inSegment, pauses int
	driving, active   int // running or ready: drivers outside shifts; workers, and drivers in their shifts
	alive, gone       int
	clocks            [nPhases]units.Ns
	aliveTime         units.Ns         // sum over living workers, parallel phase
	slots             int              // workers that exist, done or not
	slotTime          map[int]units.Ns // in the region, by their number
	acc               Account
	marks             []Account // so far, at the moments of Reckon
	apart             bool      // an application thread is no driver, or its shifts are known
}

// plan lists the changes that are known: segments, pauses, lives of threads.
func (s *sweep) plan() error {
	var until units.MonoNs
	for i, seg := range s.in.Region {
		if seg.To <= seg.From || i > 0 && seg.From < until {
			return fmt.Errorf("%w: %d to %d", ErrRegion, seg.From, seg.To)
		}
		until = seg.To
		s.note(change{at: seg.From, what: segmentBegins})
		s.note(change{at: seg.To, what: segmentEnds})
		lives := map[string][]activity.Span{}
		for t := range s.in.Threads {
			s.planShifts(uint32(t), seg)
			if s.worker(uint32(t)) {
				s.planLife(uint32(t), seg, lives)
			}
		}
		s.planSlots(lives, seg)
	}
	if len(s.in.Region) == 0 {
		return fmt.Errorf("%w: it is empty", ErrRegion)
	}
	for _, p := range s.in.Pauses {
		if p.To > p.From {
			s.note(change{at: p.From, what: pauseBegins})
			s.note(change{at: p.To, what: pauseEnds})
		}
	}
	slices.SortStableFunc(s.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	s.latest = math.MinInt64
	return nil
}

func (s *sweep) note(c change) { s.changes = append(s.changes, c) }

// planShifts notes when driver t does the workers' tasks in seg.
func (s *sweep) planShifts(t uint32, seg Segment) {
	for _, shift := range seg.shifts(t) {
		if shift = shift.Cut(seg.Span); s.driver(t) && shift.Len() > 0 {
			s.note(change{at: shift.From, what: shiftBegins, thread: t})
			s.note(change{at: shift.To, what: shiftEnds, thread: t})
		}
	}
}

func (seg *Segment) shifts(t uint32) []activity.Span {
	if int(t) < len(seg.Shifts) {
		return seg.Shifts[t]
	}
	return nil
}

// planLife notes when worker t lives in seg: a driver from its first shift to the end
// of its last. It adds to lives, by pool, when the worker lived and when it existed.
func (s *sweep) planLife(t uint32, seg Segment, lives map[string][]activity.Span) {
	th := s.in.Threads[t]
	life := seg.Span
	if shifts := seg.shifts(t); s.driver(t) && len(shifts) > 0 {
		life = activity.Span{From: shifts[0].From, To: shifts[len(shifts)-1].To}.Cut(life)
		s.apart = true
	} else if s.driver(t) && s.hasShifts(t) {
		return
	}
	if th.BeginSeen {
		life.From = max(life.From, th.First)
	}
	if th.Ended {
		life.To = min(life.To, th.Last)
	}
	there := life
	if int(t) < len(seg.Done) && seg.Done[t] != 0 {
		life.To = min(life.To, seg.Done[t])
	}
	if int(t) < len(s.in.Lives) && s.in.Lives[t] != (activity.Span{}) {
		there = s.in.Lives[t].Cut(life)
	}
	if life.To > life.From {
		s.note(change{at: life.From, what: threadBegins, thread: t})
		s.note(change{at: life.To, what: threadEnds, thread: t})
		lives[th.Pool] = append(lives[th.Pool], life, there)
	} else if th.BeginSeen && th.First >= seg.From && th.First < seg.To {
		// It ended at once and left its slot empty.
		s.note(change{at: th.First, what: threadGone, thread: t})
	}
}

func (s *sweep) add(sl activity.Slice) error {
	if s.begun && sl.From < s.latest {
		return fmt.Errorf("%w: %d after %d", activity.ErrOrder, sl.From, s.latest)
	}
	s.latest, s.begun = sl.From, true
	if int(sl.Thread) >= len(s.stays) {
		return fmt.Errorf("a slice of thread %d of %d", sl.Thread, len(s.stays))
	}
	if sl.To <= sl.From || !s.matters(sl.Thread) {
		return nil
	}
	s.advance(sl.From)
	st := &s.stays[sl.Thread]
	if st.open {
		return fmt.Errorf("%s is in two states at %d", s.in.Threads[sl.Thread].Name, sl.From)
	}
	st.open, st.state, st.parallel = true, sl.State, s.clocks[inParallel]
	s.count(sl.Thread, +1)
	s.ends.Push(activity.End{At: sl.To, Thread: sl.Thread})
	return nil
}

func (s *sweep) matters(t uint32) bool { return s.worker(t) || s.driver(t) }
func (s *sweep) worker(t uint32) bool  { return int(t) < len(s.in.Workers) && s.in.Workers[t] }
func (s *sweep) driver(t uint32) bool {
	return s.in.Threads[t].Kind == activity.KindMain || int(t) < len(s.in.Drivers) && s.in.Drivers[t]
}

// hasShifts reports whether driver t does the workers' tasks in any segment.
func (s *sweep) hasShifts(t uint32) bool {
	return slices.ContainsFunc(s.in.Region, func(seg Segment) bool { return len(seg.shifts(t)) > 0 })
}

// count adds thread t to the threads at work, or removes it.
func (s *sweep) count(t uint32, by int) {
	st := &s.stays[t]
	switch wants := st.state == activity.Running || st.state == activity.Runnable; {
	case !wants:
	case st.shift:
		s.active += by
	case s.driver(t):
		s.driving += by
	case st.alive:
		s.active += by
	}
}

// advance moves to t and applies all changes before it.
func (s *sweep) advance(t units.MonoNs) {
	for {
		next, what := t, 0
		if len(s.ends) > 0 && s.ends[0].At <= next {
			next, what = s.ends[0].At, 1
		}
		if len(s.changes) > 0 && s.changes[0].at <= next && (what == 0 || s.changes[0].at < next) {
			next, what = s.changes[0].at, 2
		}
		s.pass(next)
		switch what {
		case 0:
			return
		case 1:
			s.end(s.ends.Pop().Thread)
		case 2:
			c := s.changes[0]
			s.changes = s.changes[1:]
			s.apply(c)
		}
	}
}

// pass moves to t.
func (s *sweep) pass(t units.MonoNs) {
	if t <= s.at {
		return
	}
	d := units.Ns(t - s.at)
	if s.at == math.MinInt64 {
		d = 0
	}
	p := s.phase()
	s.at = t
	if p == outside {
		return
	}
	s.clocks[p] += d
	if s.slots > 0 {
		s.slotTime[s.slots] += d
	}
	if p == inParallel {
		exited, late, surplus := emptySlots(s.in.N, s.alive, s.gone)
		s.acc.Exited += d * units.Ns(exited)
		s.acc.Late += d * units.Ns(late)
		s.acc.Surplus += d * units.Ns(surplus)
		s.aliveTime += d * units.Ns(s.alive)
	}
}

func (s *sweep) phase() phase {
	switch {
	case s.inSegment == 0:
		return outside
	case s.pauses > 0:
		return inGC
	case s.driving > 0 && s.active == 0:
		return inSequential
	case s.alive == 0 && s.active == 0:
		return inIdle
	}
	return inParallel
}

// end ends the open slice of t.
func (s *sweep) end(t uint32) {
	s.collect(t)
	s.count(t, -1)
	s.stays[t].open = false
}

// collect adds the part of t's slice that has passed.
func (s *sweep) collect(t uint32) {
	st := &s.stays[t]
	if st.alive && st.open {
		s.acc.InState[st.state] += s.clocks[inParallel] - st.parallel
	}
	st.parallel = s.clocks[inParallel]
}

func (s *sweep) apply(c change) {
	switch c.what {
	case segmentBegins:
		s.inSegment++
		s.gone = 0
	case segmentEnds:
		s.inSegment--
	case pauseBegins:
		s.pauses++
	case pauseEnds:
		s.pauses--
	case shiftBegins:
		s.work(c.thread, true)
	case shiftEnds:
		s.work(c.thread, false)
	case threadBegins:
		s.live(c.thread)
	case threadEnds:
		s.die(c.thread)
	case slotBegins:
		s.slots++
	case slotEnds:
		s.slots--
	case threadGone:
		s.live(c.thread)
		s.die(c.thread)
	case mark:
		for t := range s.stays {
			s.collect(uint32(t))
		}
		s.marks = append(s.marks, s.sums())
	}
}

func (s *sweep) live(t uint32) {
	st := &s.stays[t]
	s.alive++
	s.acc.MostAlive = max(s.acc.MostAlive, s.alive)
	if !st.seen {
		st.seen = true
		s.acc.Workers++
		s.apart = s.apart || !s.driver(t)
	}
	st.parallel = s.clocks[inParallel]
	s.turn(t, &st.alive, true)
}

// work begins or ends a shift of driver t.
func (s *sweep) work(t uint32, on bool) { s.turn(t, &s.stays[t].shift, on) }

// turn changes what t's activity counts for.
func (s *sweep) turn(t uint32, what *bool, on bool) {
	open := s.stays[t].open
	if open {
		s.count(t, -1)
	}
	*what = on
	if open {
		s.count(t, +1)
	}
}

func (s *sweep) die(t uint32) {
	s.collect(t)
	s.turn(t, &s.stays[t].alive, false)
	s.alive--
	s.gone++
}

// sums are the times up to now.
func (s *sweep) sums() Account {
	a := s.acc
	a.GC, a.Sequential, a.Idle, a.Parallel = s.clocks[inGC], s.clocks[inSequential], s.clocks[inIdle], s.clocks[inParallel]
	a.Duration = a.GC + a.Sequential + a.Idle + a.Parallel
	var known units.Ns
	for _, d := range a.InState {
		known += d
	}
	a.InState[activity.Unknown] += s.aliveTime - known
	return a
}

// less is what came after o.
func (a Account) less(o Account) Account {
	out := Account{N: a.N, Duration: a.Duration - o.Duration, GC: a.GC - o.GC, Sequential: a.Sequential - o.Sequential, Idle: a.Idle - o.Idle,
		Parallel: a.Parallel - o.Parallel, Exited: a.Exited - o.Exited, Late: a.Late - o.Late, Surplus: a.Surplus - o.Surplus}
	for i := range out.InState {
		out.InState[i] = a.InState[i] - o.InState[i]
	}
	return out
}

// total is the account at the end of the sweep.
func (s *sweep) total() Account {
	a := s.sums()
	a.Duration = 0
	for _, seg := range s.in.Region {
		a.Duration += seg.Len()
	}
	a.Slots = s.mostSlots()
	a.MainOnly = a.Workers > 0 && !s.apart
	return a
}
