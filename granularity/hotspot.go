package granularity

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackagent/internal/units"
)

// Hotspot is a row of the hotspot listing: the tasks of one class, or the
// executions on one thread.
type Hotspot struct {
	Class         string      `json:"class,omitempty"`
	TaskClass     string      `json:"task_class,omitempty"` // the class, where Class is the program's name of its tasks
	Thread        string      `json:"thread,omitempty"`
	Site          string      `json:"site,omitempty"`      // where they were submitted, or created
	Executor      string      `json:"executor,omitempty"`  // to which they were submitted
	Executors     int64       `json:"executors,omitempty"` // how many have that label
	ThreadKind    string      `json:"thread_kind,omitempty"`
	Kinds         units.Kinds `json:"-"`
	KindNames     string      `json:"kinds,omitempty"`
	JDK           bool        `json:"jdk"`                    // the class belongs to the platform
	Loop          bool        `json:"-"`                      // its executions are the loops of threads and workers
	Library       bool        `json:"-"`                      // the class belongs to a library that schedules tasks
	Created       int64       `json:"created" null:"unknown"` // tasks whose creation was seen
	Submitted     int64       `json:"handed_over,omitempty"`  // of a site: submissions by the program that were not refused
	Executions    int64       `json:"executions"`
	Summarised    int64       `json:"summarised"`                    // of Executions, not recorded one by one
	NeverExecuted int64       `json:"never_executed" null:"unknown"` // created and not executed by the end
	CreateUnseen  int64       `json:"-"`                             // executions of tasks whose creation was not seen
	// NeverAtMost marks NeverExecuted as an upper bound: some of the executions are missing.
	NeverAtMost bool   `json:"never_executed_at_most,omitempty"`
	Fates       *Fates `json:"fates,omitempty"` // of the tasks never executed; nil: not known
	Threads     int64  `json:"threads"`         // distinct threads that executed them
	Nested      int64  `json:"nested"`
	Threw       int64  `json:"threw"`
	Running     int64  `json:"running"` // still running at the end
	// Work is the summed self CPU time (self wall time where CPU time was not
	// measured at all), in nanoseconds, and WorkShare its share of the same sum
	// over the whole session, 0 to 1. Where nothing was measured both are null
	// in JSON.
	Work      units.Ns `json:"work_ns"`
	WorkShare float64  `json:"work_share"`
	// ExecutionShare is the share of all executions of the session, 0 to 1.
	ExecutionShare float64 `json:"execution_share"`
	Metrics        Metrics `json:"metrics"`
	// By is the metric by which the row is sorted and shown; Wall, which is no
	// metric of own work: that of Work.
	By Metric `json:"-"`
	// NoCreations: Created and NeverExecuted are not known, and null in JSON. NoSubmissions: nor is Submitted.
	NoCreations   bool `json:"-"`
	NoSubmissions bool `json:"-"`
}

// Fates is what became of tasks that were never executed.
type Fates struct {
	NeverSubmitted int64 `json:"never_submitted"` // neither they nor a library's task around them were submitted
	NeverRun       int64 `json:"never_run"`       // submitted, and not executed by the end
	Cancelled      int64 `json:"cancelled"`       // or the library's task around them was
	Rejected       int64 `json:"rejected"`        // by each executor that they were submitted to
	NotKnown       int64 `json:"not_known"`       // which of the above
}

// Add adds o; nil is nothing.
func (f *Fates) Add(o *Fates) {
	if o != nil {
		f.NeverSubmitted += o.NeverSubmitted
		f.NeverRun += o.NeverRun
		f.Cancelled += o.Cancelled
		f.Rejected += o.Rejected
		f.NotKnown += o.NotKnown
	}
}

// Sum is the number of tasks.
func (f *Fates) Sum() int64 {
	return f.NeverSubmitted + f.NeverRun + f.Cancelled + f.Rejected + f.NotKnown
}

// WorkMeasured reports whether Work holds a measurement: not for a task that never
// ran, nor for one that ran on when the session ended.
func (h *Hotspot) WorkMeasured() bool {
	return h.Work != 0 || h.Metrics[h.Metrics.WorkMetric()].Count > 0
}

// plain is a Hotspot without its methods.
type plain Hotspot

// hotspotJSON is a Hotspot in JSON.
type hotspotJSON struct {
	plain
	Work      *units.Ns `json:"work_ns"`    // summed self CPU time, or self wall time where CPU time was not measured at all; null: not measured
	WorkShare *float64  `json:"work_share"` // its share of the same sum over the whole session, 0 to 1; null: not measured
	// Here too, so that they stay behind the two.

	ExecutionShare float64 `json:"execution_share"` // share of all executions of the session, 0 to 1
	Metrics        Metrics `json:"metrics"`
}

// unseenJSON is a Hotspot of which no creations are known.
type unseenJSON struct {
	hotspotJSON
	Created       *int64 `json:"created"`
	NeverExecuted *int64 `json:"never_executed"`
}

// JSONSchemaAlias has the fields that MarshalJSON writes.
func (Hotspot) JSONSchemaAlias() any { return hotspotJSON{} }

// MarshalJSON writes null for work that was not measured.
func (h Hotspot) MarshalJSON() ([]byte, error) {
	j := hotspotJSON{plain: plain(h), ExecutionShare: h.ExecutionShare, Metrics: h.Metrics}
	if h.WorkMeasured() {
		j.Work, j.WorkShare = &h.Work, &h.WorkShare
	}
	if h.NoCreations {
		return json.Marshal(unseenJSON{hotspotJSON: j})
	}
	return json.Marshal(j)
}

// Order names a sort key of the hotspot listing; all sort descending.
type Order string

// The orders.
const (
	ByWork  Order = "work"  // summed self CPU time, or self wall time, or Hotspot.By
	BySelf  Order = "self"  // summed self wall time
	ByWall  Order = "wall"  // summed wall time
	ByCPU   Order = "cpu"   // summed CPU time
	ByCount Order = "count" // executions
	ByMean  Order = "mean"  // mean self CPU time, or self wall time
	ByP99   Order = "p99"   // its 99th percentile
	ByMax   Order = "max"   // its maximum
	ByNever Order = "never" // tasks never executed
	ByThrew Order = "threw" // executions that ended by an exception
	ByQueue Order = "queue" // summed time between submission and start
)

// Orders lists every Order.
var Orders = []Order{ByWork, BySelf, ByWall, ByCPU, ByCount, ByMean, ByP99, ByMax, ByNever, ByThrew, ByQueue}

// ErrUnknownOrder is a sort key that does not exist.
var ErrUnknownOrder = errors.New("unknown sort key")

// WorkMetric is the metric of the row's work.
func (h *Hotspot) WorkMetric() Metric {
	if h.By != Wall {
		return h.By
	}
	return h.Metrics.WorkMetric()
}

// WorkMetric is SelfCPU where it was measured, else SelfWall.
func (m Metrics) WorkMetric() Metric {
	if d, ok := m[SelfCPU]; ok && d.Count > 0 {
		return SelfCPU
	}
	return SelfWall
}

// Choose finds a metric by its name, "cpu", "alloc", "alloc_bytes" or, of an
// event, "LLC-load-misses", in its self form if it has one; ok is false if it
// was not measured.
func (m Metrics) Choose(name string) (metric Metric, ok bool) {
	name = strings.ReplaceAll(strings.ToLower(name), "-", "_") // as columns are named
	var best Metric
	for metric, d := range m {
		full := cmp.Or(d.Name, metric.String())
		if metric == Wall || d.Count == 0 {
			continue
		}
		for _, self := range []string{"self_", ""} { // the self form has the greater number
			if want := self + name; full == want || full == want+"_ns" || full == want+"_bytes" {
				best = max(best, metric)
			}
		}
	}
	return best, best != Wall
}

// Names are the names that Choose takes, in the order of the metrics.
func (m Metrics) Names() []string {
	var names []string
	for _, metric := range slices.Sorted(maps.Keys(m)) {
		name := strings.TrimPrefix(cmp.Or(m[metric].Name, metric.String()), "self_")
		if m[metric].Count > 0 && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// QueueName is the name of the queue time, the time between the latest submission
// of a task and its start.
const QueueName = "queue_ns"

// Queue is the distribution of the queue times; empty if none is known.
func (h *Hotspot) Queue() Distribution { return h.Metrics.Queue() }

// Queue is the distribution of the queue times; empty if none is known.
func (m Metrics) Queue() Distribution { return m.Named(QueueName) }

// Named is the distribution of the metric that the session names so ("alloc_bytes",
// "self_alloc_bytes"); empty if there is none.
func (m Metrics) Named(name string) Distribution {
	for _, d := range m {
		if d.Name == name {
			return d
		}
	}
	return Distribution{}
}

// SortHotspots sorts rows by order, greatest first. Ties go by work, then by
// executions, then by name: the listing of a session never changes.
func SortHotspots(rows []Hotspot, order Order) error {
	key, err := sortKey(order)
	if err != nil {
		return err
	}
	slices.SortStableFunc(rows, func(a, b Hotspot) int {
		return cmp.Or(
			cmp.Compare(key(&b), key(&a)),
			cmp.Compare(b.Work, a.Work),
			cmp.Compare(b.Executions, a.Executions),
			cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Thread, b.Thread),
			cmp.Compare(a.Site, b.Site),
			cmp.Compare(a.Executor, b.Executor),
		)
	})
	return nil
}

func sortKey(order Order) (func(*Hotspot) float64, error) {
	sum := func(m Metric) func(*Hotspot) float64 {
		return func(h *Hotspot) float64 { return float64(h.Metrics[m].Sum) }
	}
	work := func(f func(Distribution) float64) func(*Hotspot) float64 {
		return func(h *Hotspot) float64 { return f(h.Metrics[h.WorkMetric()]) }
	}
	switch order {
	case ByWork, "":
		return func(h *Hotspot) float64 {
			if h.By != Wall {
				return float64(h.Metrics[h.By].Sum)
			}
			return float64(h.Work)
		}, nil
	case BySelf:
		return sum(SelfWall), nil
	case ByWall:
		return sum(Wall), nil
	case ByCPU:
		return sum(CPU), nil
	case ByCount:
		return func(h *Hotspot) float64 { return float64(h.Executions) }, nil
	case ByMean:
		return work(func(d Distribution) float64 { return d.Mean }), nil
	case ByP99:
		return work(func(d Distribution) float64 { return float64(d.P99) }), nil
	case ByMax:
		return work(func(d Distribution) float64 { return float64(d.Max) }), nil
	case ByNever:
		return func(h *Hotspot) float64 { return float64(h.NeverExecuted) }, nil
	case ByQueue:
		return func(h *Hotspot) float64 { return float64(h.Queue().Sum) }, nil
	case ByThrew:
		return func(h *Hotspot) float64 { return float64(h.Threw) }, nil
	}
	return nil, fmt.Errorf("%w %q: use one of %v", ErrUnknownOrder, string(order), Orders)
}
