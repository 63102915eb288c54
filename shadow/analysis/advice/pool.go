package advice

import (
	"stackagent/internal/units"
)

// used is the share of the processors available to a pool that its units used; -1:
// unknown.
func (f *UnitFacts) used(p *Pool, span units.Ns) float64 {
	if !p.CPU.Measured() {
		return -1
	}
	return float64(p.CPU) / (float64(span) * float64(min(len(p.Workers), f.CPUs)))
}

// occupied is the share of the workers' time inside units.
func occupied(p *Pool, span units.Ns) float64 {
	return float64(p.Wall) / (float64(span) * float64(len(p.Workers)))
}

// demand is how long a pool's workers used or wanted a processor.
func (p *Pool) demand() units.Ns {
	if !p.CPU.Measured() {
		return p.Wall
	}
	return p.CPU + p.Runnable.OrZero()
}

// observed reports whether a scheduling record shows who used the processors.
func (p *Pool) observed() bool { return p.Runnable.Measured() && p.Taken.Measured() }

// ownWait is how long the workers waited for processors that this JVM used.
func (p *Pool) ownWait() units.Ns { return max(0, p.Runnable-p.TakenWait) }

// queueLong reports whether tasks wait long for a worker.
func queueLong(p *Pool, t Thresholds) bool {
	return p.Queue.Len() > 0 && p.Wait.Len() > 0 && float64(p.Queue.Quantile(500)) >= t.Queued*float64(max(1, p.Wait.Quantile(500)))
}

// Room is what limits the worth of more workers.
type Room struct {
	Active units.Ns `json:"pool_active_ns"` // a unit waited or ran
	Waited units.Ns `json:"cpu_wait_ns"`    // of a worker on average: for a processor, or for the collector
	Least  units.Ns `json:"least_ns"`       // that the work takes with any number of workers, or another thread of the program took meanwhile
}

// room takes the CPU time of the program's other threads as it was.
func (p *Pool) room(f *UnitFacts, others units.Ns) Room {
	waited := p.Runnable.OrZero() + p.held()
	r := Room{p.Active, waited / units.Ns(max(1, len(p.Workers))), max((p.CPU+others)/units.Ns(f.CPUs), p.Longest-waited)}
	if p.Beside != nil {
		r.Least = max(r.Least, p.Beside.Ran) // what they wait for does not get faster
	}
	return r
}

// behind reports whether another thread of the program was ready all the time, so that tasks may wait for
// it, or they wait for another pool that is as busy: more workers are no gain that could be shown. What it waited for a processor is part of that, but not of
// the worth, as they may not have waited for it at all.
func (p *Pool) behind(s *search, r *Room) bool {
	return p.Beside != nil && float64(r.Active-p.Beside.Wanted) < s.t.Gain*float64(s.time(s.Units.Duration))
}

// saves is the time in which the pool had work, without the waiting for processors and the pauses, less
// the least that the work takes: its CPU time on all processors, or its longest unit.
func (r *Room) saves() units.Ns { return r.Active - r.Waited - r.Least }

// held is how long the collector held units up.
func (p *Pool) held() units.Ns {
	if p.Beside == nil {
		return p.Stopped
	}
	return p.Stopped + min(p.Beside.Stalled, max(0, p.Wall-p.Stopped))
}

// idle is how much earlier a pool could be done if the processors that were neither used
// nor wanted did its work. If that is not known, it is the time that the workers neither used
// nor wanted one. Inside a unit they may have waited for one, unless that is known.
func (p *Pool) idle(f *UnitFacts, span units.Ns, lanes int) units.Ns {
	switch {
	case p.Beside != nil:
		return p.Beside.Idle / units.Ns(f.CPUs)
	case p.CPU.Measured() && p.Runnable.Measured():
		return span - p.demand()/units.Ns(lanes)
	}
	return span - p.Wall/units.Ns(lanes)
}

// displaced is the CPU time of the program's other threads that would have fallen into the
// time in which the workers computed, had other programs not made the workers wait.
func (p *Pool) displaced() units.Ns { return min(p.Elsewhere.OrZero(), p.TakenWait.OrZero()) }

// least is the time that a pool's work takes on that many workers, and with what it displaced
// on all processors.
func (p *Pool) least(f *UnitFacts, lanes int) units.Ns {
	return max(p.work()/units.Ns(lanes), (p.work()+p.displaced())/units.Ns(f.CPUs))
}

// TooSmall is a pool with too few workers.
type TooSmall struct {
	PoolName
	Workers int      `json:"workers"`
	CPUs    int      `json:"cpus"`
	Busy    float64  `json:"busy_share"`
	Queue   units.Ns `json:"median_queue_ns"`
	Unit    units.Ns `json:"median_unit_ns"`
	Room
}

// tooSmall: all workers compute all the time, tasks queue, and processors idle.
func tooSmall(s *search, p *Pool, span units.Ns) *Finding {
	f := s.Units
	n, others := len(p.Workers), f.elsewhere(p, span)
	if float64(p.demand()+others) >= s.t.Busy*float64(span)*float64(f.CPUs) {
		return nil // the program uses the processors
	}
	if p.Threads || n >= f.CPUs || p.Units < s.t.PoolUnits || !p.CPU.Measured() || occupied(p, span) < s.t.Busy || float64(p.demand()) < s.t.Busy*float64(p.Wall) || !queueLong(p, s.t) {
		return nil
	}
	e := &TooSmall{p.PoolName, n, f.CPUs, min(1, occupied(p, span)), p.Queue.Quantile(500), p.Wait.Quantile(500), p.room(f, others)}
	if p.behind(s, &e.Room) || p.dearerAtOnce(s) {
		return nil
	}
	return found("", e, CPUsFree, NotCompeting, SameCost)
}

// dearerAtOnce reports whether another pool, in which more units of the same class run at once, needs notably more CPU time for
// each: the units change the same data, and more workers gain little.
func (p *Pool) dearerAtOnce(s *search) bool {
	for i := range s.Units.Pools {
		o := &s.Units.Pools[i]
		if o.HeaviestClass == p.HeaviestClass && p.HeaviestClass != "" && len(o.Workers) > len(p.Workers) && o.Judged(s.t) && o.Several > 0 &&
			o.each() >= (1+s.t.Imbalance)*p.each() {
			return true
		}
	}
	return false
}

// each is the mean CPU time of a pool's units; 0: not known.
func (p *Pool) each() float64 {
	return float64(max(0, p.CPU)) / float64(max(1, p.Wait.Len()))
}

// elsewhere is the CPU time that the program used outside a pool, from the pool's first
// to its last unit: by the scheduling record, else by the units of other pools, assuming
// that each computed evenly.
func (f *UnitFacts) elsewhere(p *Pool, span units.Ns) units.Ns {
	if p.Elsewhere.Measured() {
		return p.Elsewhere
	}
	sum := 0.0
	for i := range f.Pools {
		o := &f.Pools[i]
		both := min(p.To, o.To) - max(p.From, o.From)
		if o != p && both > 0 && o.CPU.Measured() {
			sum += float64(o.CPU) * float64(both) / float64(o.To-o.From)
		}
	}
	return min(units.Ns(sum), span*units.Ns(f.CPUs))
}

// TooLarge is a pool with too many workers.
type TooLarge struct {
	PoolName
	Workers  int      `json:"workers"`
	CPUs     int      `json:"cpus"`
	Observed bool     `json:"observed"`       // a scheduling record shows who used the processors
	Waiting  float64  `json:"waiting_share"`  // then: of the workers' time, for processors that this JVM used
	Busy     float64  `json:"cpu_busy_share"` // else: of the processors' time, by this pool
	Taken    units.Ns `json:"taken_ns"`       // by other programs, meanwhile
	Active   units.Ns `json:"pool_active_ns"`
	Used     units.Ns `json:"cpu_ns"`                // by the pool, other threads of the program and other programs
	Waited   units.Ns `json:"cpu_wait_ns,omitempty"` // of a worker on average, for a processor that this JVM used; if observed
}

// saves is the part of the pool's time in which the processors were not used: fewer
// threads do not compute less. It is at most what a worker waited for a processor.
func (e *TooLarge) saves() units.Ns {
	saved := e.Active - e.Used/units.Ns(e.CPUs)
	if e.Observed {
		saved = min(saved, e.Waited)
	}
	return saved
}

// tooLarge: many more workers than processors, and the processors are busy.
func tooLarge(s *search, p *Pool, span units.Ns) *Finding {
	f, n := s.Units, p.atOnce()
	if p.Virtual || float64(n) < s.t.Crowd*float64(f.CPUs) || p.Units < max(s.t.PoolUnits, int64(n)) || !f.crowded(p, span, s.t) {
		return nil
	}
	e := &TooLarge{PoolName: p.PoolName, Workers: len(p.Workers), CPUs: f.CPUs, Observed: p.observed() && p.Wall > 0, Busy: min(1, f.used(p, span)), Taken: p.Taken.OrZero()}
	assumes := []Assumption{CPUsFree}
	e.Active, e.Used = p.Active, p.CPU+p.Taken.OrZero()+p.Elsewhere.OrZero()
	if e.Observed {
		e.Waiting, e.Waited = float64(p.ownWait())/float64(p.Wall), p.ownWait()/units.Ns(n)
	}
	switch {
	case p.observed() && p.Taken == 0:
		assumes = nil
	case p.observed():
		assumes = []Assumption{OthersSameLoad}
	}
	return found("", e, assumes...)
}

// crowded reports whether the pool itself keeps its workers from the processors. Without
// a scheduling record it must use nearly all of them.
func (f *UnitFacts) crowded(p *Pool, span units.Ns, t Thresholds) bool {
	if !p.observed() {
		return f.used(p, span) >= (1+t.Busy)/2
	}
	if 2*float64(p.Taken) >= float64(span)*float64(f.CPUs) {
		return false // other programs used the machine most of the time
	}
	return f.used(p, span) >= t.Busy || p.starved(t)
}

// starved reports whether the workers mostly wait for processors that this JVM uses.
func (p *Pool) starved(t Thresholds) bool {
	return p.observed() && p.Wall > 0 && float64(p.ownWait()) >= t.Starved*float64(p.Wall)
}

// CoarseUnit is one unit that takes most of its pool's time.
type CoarseUnit struct {
	PoolName
	Unit  units.Ns `json:"unit_ns"`
	Span  units.Ns `json:"pool_time_ns"`
	Alone units.Ns `json:"alone_ns"` // at most Span: the most that the pool takes on processors of its own
	Work  units.Ns `json:"work_ns"`  // CPU time of the pool's units
	Least units.Ns `json:"least_ns"` // that the work takes, spread evenly, beside the program's other threads
	CPUs  int      `json:"cpus"`     // that the work could be spread over
	Idle  units.Ns `json:"idle_ns"`  // of a processor on average, as far as known: not used or wanted by the JVM
}

// saves is the difference between the unit's CPU time and that of its parts, at most
// that between the pool's time and its work spread evenly, and what the processors idled.
func (e *CoarseUnit) saves() units.Ns {
	return min(e.Unit-e.Unit/units.Ns(e.CPUs), e.Alone-e.Least, e.Idle)
}

// coarseUnit: one unit of many takes most of the pool's time while workers idle. Only
// CPU time counts: a unit that waits for a processor is not coarse, and splitting one
// that waits for something else saves nothing.
func coarseUnit(s *search, p *Pool, span units.Ns) *Finding {
	f := s.Units
	n := max(min(len(p.Workers), f.CPUs), min(2, f.CPUs))
	unit, class, alone := p.heaviest(span, n)
	work := p.work()
	few := p.Units > 2 && work-unit < unit/2 // one long unit among short ones, not an uneven split
	if p.Units <= 2*int64(len(p.Workers)) && !few || float64(unit) < s.t.CoarseShare*float64(alone) || float64(p.Longest) < s.t.CoarseShare*float64(span) || f.CPUs < 2 || work < s.t.PoolTime {
		return nil
	}
	e := &CoarseUnit{p.PoolName, unit, span, alone, work, p.least(f, n), n, p.idle(f, span, n)}
	if float64(min(e.Alone-e.Least, e.Idle)) < s.t.Idle*float64(alone) || p.mostlyWaits(unit, s.t) {
		return nil // its parts, or others of the program, have the processors
	}
	return found(class, e, Divisible)
}

// heaviest is the CPU time of the heaviest unit, and the most that the pool takes on n
// free processors (Graham's bound of any schedule without gaps). If CPU times are
// unknown, both are as recorded.
func (p *Pool) heaviest(span units.Ns, n int) (unit units.Ns, class string, alone units.Ns) {
	if !p.CPU.Measured() {
		return p.Longest, p.LongestClass, span
	}
	return p.Heaviest, p.HeaviestClass, min(span, p.CPU/units.Ns(n)+p.Heaviest*units.Ns(n-1)/units.Ns(n))
}

// mostlyWaits reports whether the longest unit, with at most this CPU time, mostly
// waited: the loop of a thread, or a task that waits for tasks it submitted. Without a
// scheduling record some waits may be for a processor, so the limit is lower.
func (p *Pool) mostlyWaits(unit units.Ns, t Thresholds) bool {
	if !p.CPU.Measured() {
		return false
	}
	if !p.Runnable.Measured() {
		return float64(unit) < t.WaitShare*float64(p.Longest)
	}
	return float64(unit+p.Runnable) < t.CoarseShare*float64(p.Longest)
}

// work is the CPU time of a pool's units, or their wall time.
func (p *Pool) work() units.Ns {
	if p.CPU.Measured() {
		return p.CPU
	}
	return p.Wall
}

// Imbalance is a pool in which one worker has much more to do than the others. The
// times are CPU times or, if these are not known, times inside units.
type Imbalance struct {
	PoolName
	Workers int64    `json:"workers"`
	Busiest units.Ns `json:"busiest_ns"`
	Mean    units.Ns `json:"mean_ns"`
	Even    units.Ns `json:"even_ns"`          // if all workers, at most one a processor, had as much to do, beside the program's other threads
	Idle    units.Ns `json:"idle_ns"`          // of a processor on average, as far as known: not used or wanted by the JVM
	Waiting bool     `json:"waiting_included"` // the times include waiting for a processor: false
}

// saves is the difference between the busiest worker and an even share, at most what
// the processors idled.
func (e *Imbalance) saves() units.Ns { return min(e.Busiest-max(e.Mean, e.Even), e.Idle) }

func imbalance(s *search, p *Pool, span units.Ns) *Finding {
	f, n := s.Units, len(p.Workers)
	if n < 2 || n > f.CPUs && !p.Threads || p.work() < s.t.PoolTime || !p.Threads && float64(p.Heaviest) < s.t.Imbalance*float64(span) {
		return nil // workers that take small tasks from one queue differ only if there is no more to do
	}
	most, mean, waited := p.busiest()
	lanes := min(n, f.CPUs)
	e := &Imbalance{PoolName: p.PoolName, Workers: int64(n), Busiest: most, Mean: mean, Even: p.least(f, lanes), Idle: p.idle(f, span, lanes)}
	if own := float64(span - waited); float64(most) < s.t.Busy*own || float64(e.saves()) < s.t.Imbalance*own {
		return nil // if nothing idles, a worker did less because it had no processor
	}
	return found(p.LongestClass, e, Divisible)
}

// busiest is the greatest and the mean time of the workers, and how long the busiest
// waited for a processor.
func (p *Pool) busiest() (most, mean, waited units.Ns) {
	var sum units.Ns
	for i := range p.Workers {
		w := &p.Workers[i]
		busy := w.Wall
		if p.CPU.Measured() {
			busy = w.CPU
		}
		if busy > most {
			most, waited = busy, w.Runnable.OrZero()
		}
		sum += busy
	}
	return most, sum / units.Ns(len(p.Workers)), waited
}

// Uneven reports whether one unit or one worker could be why the pool takes long.
func (p *Pool) Uneven(t Thresholds) bool {
	span := float64(p.To - p.From)
	most, _, waited := p.busiest()
	return len(p.Workers) > 0 && (float64(p.Longest) >= t.CoarseShare*span || float64(most) >= t.Busy*(span-float64(waited)))
}
