package advice

import (
	"fmt"

	"stackagent/internal/text"
	"stackagent/internal/units"
)

// pool gives the one finding that explains most of what a pool does badly, if
// any.
func (f *UnitFacts) pool(p *Pool, t Thresholds) (Finding, bool) {
	span := units.Ns(p.To - p.From)
	if x, ok := f.selfWaiting(p, t); ok {
		return x, true // all others follow from it
	}
	if p.CountedSelf > p.Self/10 {
		return Finding{}, false // too little is known of who worked when
	}
	if p.Units < min(t.PoolUnits, int64(len(p.Workers))) || p.Units < 2 || span < t.PoolTime || len(p.Workers) == 0 || f.CPUs <= 0 {
		return Finding{}, false
	}
	for _, find := range []func(*Pool, units.Ns, Thresholds) (Finding, bool){f.churn, f.serialised, f.waiting, f.tooSmall, f.tooLarge, f.coarse, f.imbalance} {
		if x, ok := find(p, span, t); ok {
			return x, true
		}
	}
	return Finding{}, false
}

// used is the part of its span in which a pool's units used processors, of
// those it could use; -1: not known.
func (f *UnitFacts) used(p *Pool, span units.Ns) float64 {
	if !p.CPU.Measured() {
		return -1
	}
	return float64(p.CPU) / (float64(span) * float64(min(len(p.Workers), f.CPUs)))
}

// occupied is the part of the workers' time inside units.
func occupied(p *Pool, span units.Ns) float64 {
	return float64(p.Wall) / (float64(span) * float64(len(p.Workers)))
}

// name is the pool in a sentence.
func (p *Pool) name() string {
	if p.Threads {
		return "the threads of " + readable(p.Label)
	}
	return p.Label
}

// has is the pool as the subject of a sentence, or of a clause.
func (p *Pool) has() string {
	if p.Threads {
		return p.name() + " have"
	}
	return p.name() + " has"
}

// workersText says how many workers it has, as the beginning of a sentence.
func (p *Pool) workersText() string {
	n := int64(len(p.Workers))
	if p.Threads {
		return text.Plural(n, "thread was", "threads were") + " started for " + readable(p.Label)
	}
	return p.Label + " has " + text.Plural(n, "worker", "workers")
}

// fewer is what to do about too many.
func (p *Pool) fewer() string {
	if p.Threads {
		return "Start as many as there are processors, or hand the tasks to a pool of so many"
	}
	return "Give it as many threads as processors"
}

// demand is the time in which a pool's workers used a processor or wanted one.
func (p *Pool) demand() units.Ns { return p.CPU + orNone(p.Runnable) }

func orNone(n units.Ns) units.Ns {
	if !n.Measured() {
		return 0
	}
	return n
}

// observed tells whether a scheduling record says who had the processors.
func (p *Pool) observed() bool { return p.Runnable.Measured() && p.Taken.Measured() }

// ownWait is how long the workers waited for processors that threads of this
// JVM had.
func (p *Pool) ownWait() units.Ns { return max(0, p.Runnable-p.TakenWait) }

// starved tells whether the workers mostly wait for processors that threads of
// this JVM have.
func (p *Pool) starved(t Thresholds) bool {
	return p.observed() && p.Wall > 0 && float64(p.ownWait()) >= t.Starved*float64(p.Wall)
}

// crowded tells whether the pool itself keeps the processors from its workers.
// Where nobody recorded who had them, all but a little must be its own.
func (f *UnitFacts) crowded(p *Pool, span units.Ns, t Thresholds) bool {
	if !p.observed() {
		return f.used(p, span) >= (1+t.Busy)/2
	}
	if 2*float64(p.Taken) >= float64(span)*float64(f.CPUs) {
		return false // the machine was others' for most of the time
	}
	return f.used(p, span) >= t.Busy || p.starved(t)
}

// crowding says how short processors are.
func (f *UnitFacts) crowding(p *Pool, span units.Ns) string {
	if p.observed() && p.Wall > 0 {
		return fmt.Sprintf(", for which they wait %s of their time while threads of this JVM have them", units.FormatPercent(float64(p.ownWait())/float64(p.Wall)))
	}
	return fmt.Sprintf(" that %s %s busy", p.keeps(), units.FormatPercent(min(1, f.used(p, span))))
}

func (p *Pool) keeps() string {
	if p.Threads {
		return "they keep"
	}
	return "it keeps"
}

// notCounted says what of the processors the bound leaves to other programs.
func (p *Pool) notCounted() string {
	switch {
	case !p.observed():
		return ", unless other programs took the CPUs"
	case p.Taken == 0:
		return ""
	}
	return fmt.Sprintf("; the %s of CPU time that other programs took meanwhile are not counted", units.FormatNs(p.Taken))
}

// queueLong tells whether tasks wait long for a worker.
func queueLong(p *Pool, t Thresholds) bool {
	return p.Queue.Len() > 0 && p.Wait.Len() > 0 && float64(p.Queue.Quantile(500)) >= t.Queued*float64(max(1, p.Wait.Quantile(500)))
}

// waiting: tasks that mostly wait hold the few workers of a compute pool while
// others queue. Who is not known to have waited for something else than a processor
// may have waited for that.
func (f *UnitFacts) waiting(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	if p.Threads || p.Virtual || p.Units < t.PoolUnits || len(p.Workers) > 2*f.CPUs || !p.CPU.Measured() || !p.Runnable.Measured() || p.Wall <= 0 ||
		float64(p.demand()) >= t.WaitShare*float64(p.Wall) || occupied(p, span) < t.Busy || !queueLong(p, t) {
		return Finding{}, false
	}
	least := max(p.CPU/units.Ns(f.CPUs), p.Longest)
	return Finding{
		Kind: Advice, Topic: "pool", Name: "waiting-tasks", Class: p.LongestClass, Gain: bound(span-least, f.Duration),
		Text: fmt.Sprintf("Tasks on %s mostly wait: its %s took %s on %s, of which they used or wanted a processor %s, and a task waited a median of %s for a worker. "+
			"Run them on a pool of their own with more threads, or on virtual threads: that can shorten the run by at most %s (%s), "+
			"and by nothing if what they wait for is a lock that one of them has: hold that for shorter.",
			p.name(), text.Plural(p.Units, "unit", "units"), units.FormatNs(p.Wall), text.Plural(len(p.Workers), "worker", "workers"),
			units.FormatPercent(float64(p.demand())/float64(p.Wall)), units.FormatNs(p.Queue.Quantile(500)), units.FormatNs(max(0, span-least)), f.ofRun(span-least)),
	}, true
}

// tooSmall: all workers compute all the time, tasks queue, and processors idle.
func (f *UnitFacts) tooSmall(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	n, others := len(p.Workers), f.elsewhere(p, span)
	if float64(p.demand()+others) >= t.Busy*float64(span)*float64(f.CPUs) {
		return Finding{}, false // the program has the processors
	}
	if p.Threads || n >= f.CPUs || p.Units < t.PoolUnits || !p.CPU.Measured() || occupied(p, span) < t.Busy || float64(p.demand()) < t.Busy*float64(p.Wall) || !queueLong(p, t) {
		return Finding{}, false
	}
	least := max((p.CPU+others)/units.Ns(f.CPUs), p.Longest)
	return Finding{
		Kind: Advice, Topic: "pool", Name: "pool-too-small", Gain: bound(span-least, f.Duration),
		Text: fmt.Sprintf("%s has %s on %d processors: busy %s of its time, while a task waited a median of %s (units take %s). "+
			"Give it as many threads as processors: that can shorten the run by at most %s (%s), if nothing else needs them and the tasks do not wait for one another.",
			p.name(), text.Plural(n, "worker", "workers"), f.CPUs, units.FormatPercent(min(1, occupied(p, span))),
			units.FormatNs(p.Queue.Quantile(500)), units.FormatNs(p.Wait.Quantile(500)), units.FormatNs(max(0, span-least)), f.ofRun(span-least)),
	}, true
}

// elsewhere is the CPU time that the program used outside of a pool from its first
// unit to its last: by the scheduling record, else that of the units of other pools,
// as if each computed evenly all its time.
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

// tooLarge: many more workers than processors, and the processors are busy.
func (f *UnitFacts) tooLarge(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	n := p.atOnce()
	if p.Virtual || float64(n) < t.Crowd*float64(f.CPUs) || p.Units < max(t.PoolUnits, int64(n)) || !f.crowded(p, span, t) {
		return Finding{}, false
	}
	least := (p.CPU + orNone(p.Taken)) / units.Ns(f.CPUs)
	return Finding{
		Kind: Advice, Topic: "pool", Name: "pool-too-large", Gain: bound(span-least, f.Duration),
		Text: fmt.Sprintf("%s on %d processors%s: more threads only take turns. "+
			"%s: that saves switches and memory, and can shorten the run by at most %s (%s)%s.",
			p.workersText(), f.CPUs, f.crowding(p, span), p.fewer(), units.FormatNs(max(0, span-least)), f.ofRun(span-least), p.notCounted()),
	}, true
}

// greatest is the unit with most to do, and how long a pool takes on n processors
// at most that nobody else uses (Graham's bound of any schedule without gaps). Where
// CPU times are not known, both are as they were.
func (p *Pool) greatest(span units.Ns, n int) (unit units.Ns, class string, alone units.Ns) {
	if !p.CPU.Measured() {
		return p.Longest, p.LongestClass, span
	}
	return p.Heaviest, p.HeaviestClass, min(span, p.CPU/units.Ns(n)+p.Heaviest*units.Ns(n-1)/units.Ns(n))
}

// coarse: one unit of many takes most of the pool's time while workers idle. It
// goes by what units compute: to wait for a processor that others have makes
// none coarse, and what waits for something else is not shorter in parts.
func (f *UnitFacts) coarse(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	n := max(min(len(p.Workers), f.CPUs), min(2, f.CPUs))
	unit, class, alone := p.greatest(span, n)
	work := p.work()
	few := p.Units > 2 && work-unit < unit/2 // one long unit among short ones, not parts of a whole that were cut unevenly
	if p.Units <= 2*int64(len(p.Workers)) && !few || float64(unit) < t.CoarseShare*float64(alone) || float64(p.Longest) < t.CoarseShare*float64(span) || f.CPUs < 2 || work < t.PoolTime {
		return Finding{}, false
	}
	least := work / units.Ns(n)
	if float64(alone-least) < t.Idle*float64(alone) || p.mostlyWaits(unit, t) {
		return Finding{}, false
	}
	saved := min(span-least, p.Longest-unit/units.Ns(n)) // no more than the unit itself takes longer than its parts
	return Finding{
		Kind: Advice, Topic: "coarse", Name: "coarse-grained", Class: class, Gain: bound(saved, f.Duration),
		Text: fmt.Sprintf("One unit of %s takes %s of the %s in which %s work: no schedule is shorter than its longest task. "+
			"Split it: with the work spread over %s the run can be shorter by at most %s (%s).",
			readable(class), units.FormatNs(unit), units.FormatNs(span), p.has(),
			text.Plural(n, "processor", "processors"), units.FormatNs(max(0, saved)), f.ofRun(saved)),
	}, true
}

// mostlyWaits tells whether the longest unit hardly computed or wanted to, which
// took unit of CPU time at most: the loop of a thread that takes what comes, or a
// task that waits for what it handed over. Without a scheduling record nobody knows
// what of its time it waited for a processor, so less will do.
func (p *Pool) mostlyWaits(unit units.Ns, t Thresholds) bool {
	if !p.CPU.Measured() {
		return false
	}
	if !p.Runnable.Measured() {
		return float64(unit) < t.WaitShare*float64(p.Longest)
	}
	return float64(unit+p.Runnable) < t.CoarseShare*float64(p.Longest)
}

// work is the processor time of a pool's units, or their wall time.
func (p *Pool) work() units.Ns {
	if p.CPU.Measured() {
		return p.CPU
	}
	return p.Wall
}

// busiest gives the greatest and the mean time of the workers, by what time tells.
func (p *Pool) busiest(time func(*Worker) units.Ns) (most, mean units.Ns) {
	var sum units.Ns
	for i := range p.Workers {
		busy := time(&p.Workers[i])
		most = max(most, busy)
		sum += busy
	}
	return most, sum / units.Ns(len(p.Workers))
}

// occupied is how long it computed or waited for a processor.
func (w *Worker) occupied() units.Ns { return w.CPU + orNone(w.Runnable) }

// unevenly tells whether the workers had more and less to compute, not only to
// wait for processors that others had.
func (p *Pool) unevenly(t Thresholds) bool {
	if !p.CPU.Measured() {
		return true
	}
	most, mean := p.busiest(func(w *Worker) units.Ns { return w.CPU })
	return float64(most-mean) >= t.Imbalance*float64(most)
}

// imbalance: one worker has much more to do than the others.
func (f *UnitFacts) imbalance(p *Pool, span units.Ns, t Thresholds) (Finding, bool) {
	n := len(p.Workers)
	if n < 2 || n > f.CPUs && !p.Threads || p.work() < t.PoolTime || !p.unevenly(t) {
		return Finding{}, false
	}
	time, does := func(w *Worker) units.Ns { return w.Wall }, "works"
	if p.CPU.Measured() {
		time = (*Worker).occupied
	}
	if p.CPU.Measured() && p.Runnable > 0 {
		does = "works or waits for a processor"
	}
	most, mean := p.busiest(time)
	if float64(most) < t.Busy*float64(span) || float64(most-mean) < t.Imbalance*float64(span) {
		return Finding{}, false
	}
	least := p.work() / units.Ns(min(n, f.CPUs))
	return Finding{
		Kind: Advice, Topic: "imbalance", Name: "load-imbalance", Class: p.LongestClass, Gain: bound(span-least, f.Duration),
		Text: fmt.Sprintf("The load of %s is uneven: the busiest of %s %s %s, the mean is %s, and the others idle meanwhile. "+
			"Cut the work into more and smaller parts than workers, taken from one queue: that can shorten the run by at most %s (%s).",
			p.name(), text.Plural(n, "thread", "threads"), does, units.FormatNs(most), units.FormatNs(mean),
			units.FormatNs(max(0, span-least)), f.ofRun(span-least)),
	}, true
}

// ofRun is a share of the session.
func (f *UnitFacts) ofRun(saved units.Ns) string {
	if f.Duration <= 0 {
		return "n/a"
	}
	return units.FormatPercent(float64(max(0, saved))/float64(f.Duration)) + " of the session"
}
