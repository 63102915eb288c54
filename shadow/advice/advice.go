package advice

import (
	"cmp"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

// UnitFacts are what advice about units of work looks at.
type UnitFacts struct {
	Read     bool // the units were read: else only the machine is known
	Duration units.Ns
	CPUs     int
	Classes  []UnitClass
	Pools    []Pool
	MaxDepth int64         // executions on one stack, at the deepest
	Deepest  string        // the class of that execution
	Lost     bool          // events were lost: no finding rests on what is missing
	Unended  bool          // the record breaks off, or goes on
	Virtual  *VirtualFacts // nil: there were no virtual threads, or what they did is not known
	// Taken is the processor time that other programs of the machine had while
	// threads of the JVM waited for a processor, of Recorded; NotMeasured: not known.
	Taken    units.Ns
	Recorded units.Ns // how long the scheduler was recorded
}

// UnitClass is what is known of the units named after one class. Times are
// nanoseconds.
type UnitClass struct {
	Name      string
	JDK       bool
	Bulk      bool // the JDK cuts into such tasks what the program calls at once: a parallel stream
	Units     int64
	Threw     int64
	Swallowed int64              // ended by an exception that their future kept and nobody asked for
	Kept      int64              // the same, and it is not known whether somebody asked
	Self      granularity.Values // self CPU time, or self wall time where that was not measured
	SelfIsCPU bool
	// OwnWall is the median of the self wall time: what mostly waits is not fine.
	OwnWall units.Ns
	// Counted are those of Units that were summarised: where and how they were
	// handed over is not told. Self has them too.
	Counted int64
	Site    string // where most of them were handed over, "" if not known
	Pool    int    // index into UnitFacts.Pools of where most of them ran; -1: none
}

// Pool is an executor, or the threads that were started for one class of tasks.
type Pool struct {
	Label   string // the executor, or the class that the threads were started for
	Threads bool   // threads of their own, no executor
	// From and To are the first hand-over (or start) and the last end of its units.
	From, To units.MonoNs
	Workers  []Worker
	Units    int64
	Wall     units.Ns           // of the outermost units, summed
	CPU      units.Ns           // likewise; NotMeasured where it is not known of all
	Queue    granularity.Values // queue times
	Wait     granularity.Values // wall time of each outermost unit
	// Gaps are the times between two units on a worker when the second was
	// already waiting: what handing over costs the worker.
	Gaps granularity.Values
	// Inner are the times from the end of a unit to the start of the next within one
	// unit that both lie in, when the next was already waiting: code of the program
	// is between some of them.
	Inner granularity.Values
	// Active is the time in which a unit of it was waiting or running.
	Active units.Ns
	// Elsewhere is the CPU time that other threads of the program took from From to To
	// by the scheduling record, or NotMeasured.
	Elsewhere units.Ns
	// One is how long just one of its workers ran or was ready to, Several how long more
	// did, by the scheduling record, or NotMeasured.
	One, Several units.Ns
	Virtual      bool  // units ran on virtual threads
	AtOnce       int64 // units that ran inside what handed them over, on its thread: their executor called them
	Counted      int64 // units that were summarised, of the classes that mostly ran here
	// CountedSelf is their part of Self. In Wall, CPU and the times of workers they are not.
	CountedSelf units.Ns
	// Queued is how long its workers were inside units while others waited in its
	// queue that these had handed over to it, see SelfWait.
	Queued SelfWait
	Self   units.Ns // work of all its units, others nested in them taken out
	// Runnable is how long its workers were ready and waited for a processor, or
	// NotMeasured: that needs a scheduling record.
	Runnable units.Ns
	// Taken is the processor time that other programs of the machine had while
	// workers waited for it, and TakenWait the part of Runnable which that caused;
	// NotMeasured: not known.
	Taken, TakenWait units.Ns
	Longest          units.Ns // the longest unit
	LongestClass     string
	Heaviest         units.Ns // the greatest CPU time of a unit, where that is known of all
	HeaviestClass    string
}

// Worker is a thread of a pool: the time inside its units.
type Worker struct {
	From, To  units.MonoNs // from the start of its first unit to the end of its last
	Units     int64
	Wall, CPU units.Ns
	Runnable  units.Ns // ready, waiting for a processor, inside units at most; or NotMeasured
}

// Thresholds are judgements, not measurements: from where a figure makes a
// finding. docs/advice.md says what each means.
type Thresholds struct {
	FineWork       units.Ns // a class is fine-grained below this median of self work
	FineUnits      int64    // with at least so many units
	FineCost       float64  // whose hand-over costs at least this share of their work
	FineGain       float64  // and if larger units could save at least this share of the session
	Churn          int64    // threads are started for too little from so many
	OneAtATime     float64  // tasks run one at a time if two or more want a processor at most this share of the time
	Pinned         float64  // virtual threads that park keep carriers from others for this share of the carriers' time
	SelfWait       float64  // workers wait for their own pool's queue from this share of their time
	CoarseShare    float64  // a unit is coarse-grained from this share of its pool's time
	Idle           float64  // and processors or workers idle at least so much meanwhile
	Imbalance      float64  // the busiest worker is busier than the mean by this share of the time
	PoolUnits      int64    // a pool is judged from so many units
	PoolTime       units.Ns // and from so much time
	Starved        float64  // a pool is too large too if its workers wait so much of their time for processors
	Crowd          float64  // a pool is too large from this many workers per processor
	Busy           float64  // from this share of time a worker or processor is busy
	WaitShare      float64  // tasks wait if they use less than this share of their time
	Queued         float64  // a queue is long if its median wait is this multiple of a unit's median time
	Depth          int64    // deep nesting
	SwallowedUnits int64    // exceptions taken by futures
	NeverTasks     int64    // tasks never executed are worth a thought from so many of the program's
	NeverShare     float64  // and from this share of those created
	Taken          float64  // other programs are told of from this share of the processors' time
}

// DefaultThresholds are used unless the user says otherwise.
var DefaultThresholds = Thresholds{
	FineWork: 10_000, FineUnits: 1000, FineCost: 0.2, FineGain: 0.1, Churn: 100, Pinned: 0.2, SelfWait: 0.2, OneAtATime: 0.35,
	CoarseShare: 0.5, Idle: 0.25, Imbalance: 0.2, PoolUnits: 4, PoolTime: 50_000_000,
	Crowd: 4, Starved: 0.5, Busy: 0.8, WaitShare: 0.3, Queued: 2, Depth: 256, SwallowedUnits: 1,
	NeverTasks: 1000, NeverShare: 0.01, Taken: 0.1,
}

// Advise says what to try, with the evidence and a bound on what it can gain.
func Advise(f *UnitFacts, t Thresholds) []Finding {
	var out []Finding
	out = append(out, f.fineClasses(t)...)
	pinned, isPinned := f.pinned(t)
	if isPinned {
		out = append(out, pinned)
	}
	for i := range f.Pools {
		if isPinned && f.Pools[i].Virtual {
			continue // what else they do badly follows from it
		}
		if x, ok := f.pool(&f.Pools[i], t); ok {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Finding) int { return cmp.Compare(b.gain(), a.gain()) })
	if f.MaxDepth >= t.Depth {
		out = append(out, Finding{Kind: Advice, Topic: "deep", Name: "deep-nesting", Text: fmt.Sprintf(
			"Tasks are nested up to %s deep on one stack (%s innermost). A deep stack can overflow, and what waits in it holds its memory: "+
				"fork and join in a tree, or hand the next step over in place of running it inside; time gained is not told by this record.",
			units.FormatCount(f.MaxDepth), readable(f.Deepest))})
	}
	out = append(out, f.swallowed(t)...)
	if x, ok := f.contended(t); ok {
		out = append(out, x)
	}
	return out
}

// contended warns that the times of this session are also those of a machine
// that others used.
func (f *UnitFacts) contended(t Thresholds) (Finding, bool) {
	all := float64(f.Recorded) * float64(f.CPUs)
	if !f.Taken.Measured() || all <= 0 || float64(f.Taken) < t.Taken*all {
		return Finding{}, false
	}
	return Finding{Kind: Caution, Topic: "contended", Text: fmt.Sprintf(
		"Other programs had the processors of this machine for %s of the %s that its %s had, while threads of this JVM waited for one (or a limit of its container kept it from them): "+
			"wall times, queue times and the duration are longer for that, CPU times are not.",
		units.FormatNs(f.Taken), units.FormatNs(units.Ns(all)), text.Plural(f.CPUs, "processor", "processors"))}, true
}

// Bound is the most that an advice can gain, by the figures of the session.
type Bound struct {
	Ns    units.Ns `json:"ns"`
	Share float64  `json:"share"` // of the session's duration, 0 to 1
}

func (f Finding) gain() float64 {
	if f.Gain == nil {
		return 0
	}
	return float64(f.Gain.Ns)
}

// bound is a gain of saved out of whole, not below 0.
func bound(saved, whole units.Ns) *Bound {
	saved = max(0, saved)
	b := &Bound{Ns: saved}
	if whole > 0 {
		b.Share = float64(saved) / float64(whole)
	}
	return b
}

// at names the place where a class was handed over, for a sentence.
func (c *UnitClass) at() string {
	if c.Site == "" {
		return ""
	}
	return ", handed over at " + c.Site
}

// swallowed names the classes whose exceptions ended in futures.
func (f *UnitFacts) swallowed(t Thresholds) []Finding {
	var out []Finding
	for i := range f.Classes {
		c := &f.Classes[i]
		if c.Swallowed+c.Kept < max(1, t.SwallowedUnits) {
			continue
		}
		out = append(out, Finding{
			Kind: Advice, Topic: "swallowed", Name: "swallowed-exceptions", Class: c.Name,
			Text: c.swallowed(f.Unended) + " Ask every future for its result (get), or handle the exception in the task: a failure nobody sees costs more than time, so no gain is told.",
		})
	}
	return out
}

func (c *UnitClass) swallowed(unended bool) string {
	const notKnown = "whether anybody asked the future for it is not known."
	nobody := "; nobody asked for it"
	if unended {
		nobody += ", as far as recorded"
	}
	n := c.Swallowed
	if n == 0 {
		n = c.Kept
	}
	text := fmt.Sprintf("%s of %s ended by an exception that its future kept%s", text.Plural(n, "unit", "units"), readable(c.Name), c.at())
	switch {
	case c.Swallowed == 0:
		return text + "; " + notKnown
	case c.Kept > 0:
		return text + nobody + ". Of " + units.FormatCount(c.Kept) + " more " + notKnown
	}
	return text + nobody + "."
}
