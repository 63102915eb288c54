package evidence

import (
	"cmp"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/session"
)

// contended is a pool, and how its workers compete for processors.
type contended struct {
	span  activity.Span
	ready int64 // workers that wait for a processor now
	// taken is the processor time that other programs used while workers waited for a
	// processor; wait is the part of the waiting that this caused.
	taken, wait float64
	runs        int64   // workers that run now
	elsewhere   float64 // CPU time of the program's other threads
	// one is the time in which exactly one worker ran and none was ready, several that in
	// which one ran and more ran or were ready, stalled that in which none ran and some were.
	one, several, stalled units.Ns
	submitter             int // 1 + the thread of the record that submits its units; 0: none, or not known
	beside
}

// notJava replaces the pool of the JVM's own threads.
const notJava = -2

// longWait is the shortest wait for a processor that counts for the whole program.
// Waking up on an idle processor takes less.
const longWait = units.MonoNs(1_000_000)

// contention computes, for each pool, the processor time that other programs used
// while its workers waited for a processor, what the program's other threads used, and
// what went on beside it.
// For whole, threads that waited at least longWait count as workers, and a thread whose state is
// unknown may have had a processor: what is left is certainly others'.
//
// A processor that no thread of the process uses, by the record, is used by others if
// a worker waits for one. Others cause as large a share of the waiting as they have of
// the processors. of is the pool of each thread; -1: none.
func contention(record activity.Stream, of []int, pools []contended, whole *contended, cpus int) error {
	wanted := 0 // threads of the process that run or are ready
	each := []*contended{whole}
	for i := range pools {
		each = append(each, &pools[i])
	}
	running, unknown, java, now := 0, 0, int64(0), units.MonoNs(0)
	advance := func(to units.MonoNs) {
		for _, p := range each {
			free := max(0, cpus-running)
			if p == whole {
				free = max(0, free-unknown)
			}
			others, want := min(java-p.runs, int64(cpus)), p.runs+p.ready+p.held
			length := activity.Span{From: now, To: to}.Cut(p.span).Len()
			p.advance(length, cpus-wanted)
			if others == 0 && want == 0 {
				continue
			}
			ns := float64(length)
			p.elsewhere += ns * float64(others)
			switch {
			case want > 0 && p.runs == 0:
				p.stalled += length
			case want == 1:
				p.one += length
			case want > 1:
				p.several += length
			}
			p.taken += ns * float64(min(p.ready, int64(free)))
			p.wait += ns * float64(p.ready) * float64(free) / float64(cpus)
		}
		now = to
	}
	count := func(s *activity.Slice, by int) {
		if s.State == activity.Running || s.State == activity.Runnable {
			wanted += by
		}
		switch i := of[s.Thread]; s.State {
		case activity.Unknown:
			unknown += by
		case activity.Running:
			running += by
			if i != notJava {
				java += int64(by)
			}
			if i >= 0 {
				pools[i].runs += int64(by)
			}
		case activity.Runnable:
			if i >= 0 {
				pools[i].ready += int64(by)
			}
			if s.To-s.From >= longWait {
				whole.ready += int64(by)
			}
		case activity.Stalled:
			if i >= 0 {
				pools[i].held += int64(by)
			}
		}
	}
	return activity.Sweep(record, len(of), func(s *activity.Slice) bool {
		for i := range pools {
			pools[i].slice(s, of, i, pools[i].span)
			if pools[i].submitter == int(s.Thread)+1 {
				pools[i].submits(s, pools[i].span)
			}
		}
		switch s.State {
		case activity.Running, activity.Runnable, activity.Stalled, activity.Unknown:
			return true
		}
		return false
	}, advance, count)
}

// others sets what the scheduling record shows of competition for processors: what
// other programs took from the whole program and from the pools that looksCrowded
// selects, what the program used outside these pools, and how many of their workers
// wanted a processor at a time.
func (a *advisor) others(f *advice.UnitFacts, workers [][]uint32, submitters map[string]uint32, t advice.Thresholds) {
	f.Taken = units.NotMeasured
	if a.times == nil || f.CPUs <= 0 {
		return
	}
	record, err := a.s.Activity()
	if err != nil {
		return // the pools are judged as without a record
	}
	pool := map[uint32]int{} // by thread
	var pools []contended
	which := crowded(f, t)
	for n, i := range which {
		p := &f.Pools[i]
		for _, thread := range workers[i] {
			pool[thread] = n
		}
		pools = append(pools, contended{span: activity.Span{From: p.From, To: p.To}, submitter: recordedAs(record, submitters[p.Label], workers[i])})
	}
	if len(pools) == 0 && float64(a.ready()) < t.Taken*float64(f.CPUs)*float64(f.Duration) {
		return // too little waiting for any finding
	}
	whole := contended{span: activity.Span{From: record.From, To: record.To}}
	if contention(record.Stream(record.From, record.To), a.poolsOf(pool), pools, &whole, f.CPUs) != nil {
		return
	}
	f.Taken, f.Recorded = units.Ns(whole.taken), whole.span.Len()
	for n, i := range which {
		f.Pools[i].Taken, f.Pools[i].TakenWait = units.Ns(pools[n].taken), units.Ns(pools[n].wait)
		f.Pools[i].Elsewhere = units.Ns(pools[n].elsewhere)
		f.Pools[i].Beside = pools[n].facts()
		if of := pools[n].submitter; of > 0 {
			pools[n].by.Thread = record.Threads[of-1].Name
			f.Pools[i].Beside.Submitter = &pools[n].by
		}
		replayBeside(&f.Pools[i])
		f.Pools[i].One, f.Pools[i].Several, f.Pools[i].Stalled = pools[n].one, pools[n].several, pools[n].stalled
	}
}

// mostCrowded is the most pools of which the scheduling record is read: each slice of it is looked at for each of them.
const mostCrowded = 64

// crowded are the pools that are worth a closer look, in order; of very many, those whose units took the most time.
func crowded(f *advice.UnitFacts, t advice.Thresholds) (which []int) {
	for i := range f.Pools {
		if p := &f.Pools[i]; p.Runnable.Measured() && looksCrowded(p, f.CPUs, t) {
			which = append(which, i)
		}
	}
	if len(which) > mostCrowded {
		slices.SortStableFunc(which, func(x, y int) int { return cmp.Compare(f.Pools[y].Wall, f.Pools[x].Wall) })
		which = which[:mostCrowded]
		slices.Sort(which)
	}
	return which
}

// looksCrowded reports whether a pool is worth a closer look: it has many workers, few,
// ones that are inside units all the time, a worker that computes most of the time, or
// many units.
func looksCrowded(p *advice.Pool, cpus int, t advice.Thresholds) bool {
	n, span := len(p.Workers), units.Ns(p.To-p.From)
	if float64(n) >= t.Crowd*float64(cpus) {
		return true
	}
	if !p.Judged(t) {
		return false
	}
	return !p.Threads && n < cpus || p.Units >= t.FineUnits || p.Uneven(t) || n > 1 && float64(p.Wall) >= t.Busy*float64(span)*float64(n)
}

// Machine gathers what other programs took of the processors, without reading units.
func Machine(s *session.Session, t advice.Thresholds) *advice.UnitFacts {
	a := &advisor{s: s}
	a.waited()
	f := &advice.UnitFacts{Duration: s.Manifest.DurationNs, CPUs: s.Manifest.JVM.CPUs}
	a.others(f, nil, nil, t)
	a.collected(f, t)
	return f
}

// poolsOf is the pool of each thread of the scheduling record; -1: none.
func (a *advisor) poolsOf(pool map[uint32]int) []int {
	of := make([]int, len(a.times.Threads))
	for i := range of {
		of[i] = notJava
		if c := a.times.Threads[i].Carried; c != nil {
			of[i] = -1
			if n, ok := pool[c.ID]; ok {
				of[i] = n
			}
		}
	}
	return of
}

// ready is how long all threads together waited for a processor.
func (a *advisor) ready() (sum units.Ns) {
	for i := range a.times.Threads {
		sum += a.times.Threads[i].States[sched.Runnable]
	}
	return sum
}
