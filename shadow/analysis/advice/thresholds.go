package advice

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackagent/internal/units"
)

// Thresholds decide when rules make a finding. They are judgements, not measurements.
type Thresholds struct {
	FineWork       units.Ns
	FineUnits      int64
	FineCost       float64
	FineGain       float64
	FineShare      float64
	Pinned         float64
	CoarseShare    float64
	CoarseSession  float64
	Idle           float64
	Gain           float64
	PoolUnits      int64
	PoolTime       units.Ns
	Busy           float64
	Depth          int64
	SwallowedUnits int64
	NeverTasks     int64
	KeptTasks      int64
	BacklogTasks   int64
	Finalizers     float64
	Spinning       float64
	Stages         float64
	Locals         float64
	NeverShare     float64
	GCShare        float64
	Taken          float64
}

// threshold is a field of Thresholds with its flag.
type threshold struct {
	name  string
	value float64 // the default
	what  string
	field func(*Thresholds) any // *units.Ns, *int64 or *float64
}

var thresholds = []threshold{
	{"fine-work", 10_000, "ns: a class is fine-grained below this median of self work", func(t *Thresholds) any { return &t.FineWork }},
	{"fine-units", 1000, "units from which a class is judged", func(t *Thresholds) any { return &t.FineUnits }},
	{"fine-cost", 0.2, "cost of a submission to work, from which it is too high", func(t *Thresholds) any { return &t.FineCost }},
	{"fine-gain", 0.1, "share of the session that larger units could save", func(t *Thresholds) any { return &t.FineGain }},
	{"fine-share", 0.05, "share of all executions from which a class is judged, if units are not known", func(t *Thresholds) any { return &t.FineShare }},
	{"pinned", 0.2, "share of the carriers' time in which parked virtual threads keep them from others", func(t *Thresholds) any { return &t.Pinned }},
	{"coarse-share", 0.5, "share of a pool's time in one unit", func(t *Thresholds) any { return &t.CoarseShare }},
	{"coarse-session", 0.2, "share of the session in one execution, if units are not known", func(t *Thresholds) any { return &t.CoarseSession }},
	{"idle", 0.25, "share of that time that a split could save", func(t *Thresholds) any { return &t.Idle }},
	{"gain", 0.05, "share of the session that following an advice must save", func(t *Thresholds) any { return &t.Gain }},
	{"pool-units", 4, "units from which a pool is judged", func(t *Thresholds) any { return &t.PoolUnits }},
	{"pool-time", 50_000_000, "ns of activity from which a pool is judged", func(t *Thresholds) any { return &t.PoolTime }},
	{"busy", 0.8, "share of the time from which a worker or processor is busy", func(t *Thresholds) any { return &t.Busy }},
	{"depth", 256, "executions on one stack", func(t *Thresholds) any { return &t.Depth }},
	{"swallowed", 1, "units whose exception their future kept", func(t *Thresholds) any { return &t.SwallowedUnits }},
	{"never-tasks", 1000, "tasks of the program that never ran", func(t *Thresholds) any { return &t.NeverTasks }},
	{"kept-tasks", 1000, "cancelled tasks that an executor keeps", func(t *Thresholds) any { return &t.KeptTasks }},
	{"backlog-tasks", 1000, "tasks of a class that nobody submits and one busy thread runs", func(t *Thresholds) any { return &t.BacklogTasks }},
	{"finalizers", 0.1, "share of the session for which the Finalizer thread computes", func(t *Thresholds) any { return &t.Finalizers }},
	{"spinning", 0.1, "share of the session, of one CPU, for which threads poll without a pause", func(t *Thresholds) any { return &t.Spinning }},
	{"inline-stages", 0.2, "share of the session for which a thread that serves others computes in the stages of futures that it completes", func(t *Thresholds) any { return &t.Stages }},
	{"thread-locals", 0.25, "share of all that is allocated in values of thread locals of threads that run one task", func(t *Thresholds) any { return &t.Locals }},
	{"never-share", 0.01, "share of the created tasks that never ran", func(t *Thresholds) any { return &t.NeverShare }},
	{"gc-share", 0.05, "share of the session stopped for garbage collection", func(t *Thresholds) any { return &t.GCShare }},
	{"taken", 0.1, "share of the CPU time that other programs took from waiting threads", func(t *Thresholds) any { return &t.Taken }},
}

// Limits of sentences, fixed.
const (
	leastFork = units.Ns(100)   // of making, forking and joining a task: ForkJoinTask asks for 100 to 10,000 basic steps in each
	leastCost = units.Ns(1_000) // of a submission to another thread: queueing, waking, taking it
	mostCost  = units.Ns(5_000) // of a submission that wakes a thread, for the submitter

	rateFrom    = 100 // executions from which a rate means something
	maxNamed    = 3   // classes named in one finding, or found by one rule
	maxRefusals = 3   // reasons named in one finding
)

// DefaultThresholds are those that no flag changes.
var DefaultThresholds = defaults()

func defaults() (t Thresholds) {
	for _, x := range thresholds {
		x.set(&t, x.value)
	}
	return t
}

func (x *threshold) set(t *Thresholds, v float64) {
	switch field := x.field(t).(type) {
	case *units.Ns:
		*field = units.Ns(v)
	case *int64:
		*field = int64(v)
	case *float64:
		*field = v
	}
}

// Set sets a threshold by a text like "fine-work=5000".
func (t *Thresholds) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	i := slices.IndexFunc(thresholds, func(x threshold) bool { return x.name == name })
	if !ok || i < 0 {
		return fmt.Errorf("threshold %.60q: want NAME=VALUE with a name of %s", text, strings.Join(ThresholdNames(), ", "))
	}
	x := &thresholds[i]
	if field, share := x.field(t).(*float64); share {
		v, err := strconv.ParseFloat(value, 64)
		if err != nil || !(v >= 0 && v <= 1e9) {
			return fmt.Errorf("threshold %s: %.40q is not a number from 0 to 1e9", name, value)
		}
		*field = v
		return nil
	}
	v, err := strconv.ParseInt(value, 10, 64)
	if err != nil || v < 0 {
		return fmt.Errorf("threshold %s: %.40q is not a whole number from 0", name, value)
	}
	if field, isTime := x.field(t).(*units.Ns); isTime {
		*field = units.Ns(v)
	} else {
		*x.field(t).(*int64) = v
	}
	return nil
}

// ThresholdNames lists the names that Set accepts.
func ThresholdNames() []string {
	var names []string
	for _, x := range thresholds {
		names = append(names, x.name)
	}
	return names
}
