// Package live sums up what running JVMs do at the moment: rates, queues, distributions and
// findings over rolling windows, in bounded memory.
package live

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"stackagent/shadow/analysis/advice"
)

// Fleet has a row for each JVM. The event stream sends one each second.
type Fleet struct {
	NowMs float64 `json:"now_ms"` // the shadow's clock, Unix milliseconds
	JVMs  []Row   `json:"jvms"`   // running ones first, then those that ended within the last minutes
	More  int     `json:"more"`   // JVMs that are not here: there are too many
}

// Row is the line of a JVM in the fleet, and the head of its own view.
type Row struct {
	Session string   `json:"session"`
	Folder  string   `json:"folder"` // its name in addresses
	Program string   `json:"program"`
	Host    string   `json:"host"`
	PID     int      `json:"pid"`
	Labels  []string `json:"labels"` // service, version and environment in one line, then those given by the user
	// What the JVM says it belongs to; "": it does not say.
	Service   string            `json:"service"`
	Version   string            `json:"version"`     // of the service
	Env       string            `json:"env"`         // environment of the service
	Instance  string            `json:"instance"`    // of the service: a pod, a process
	Free      map[string]string `json:"free_labels"` // the others; null: none
	State     string            `json:"state"`       // starting, running, silent (nothing came for some seconds), ended
	Ended     string            `json:"ended"`       // how; "" while it runs
	StartedMs float64           `json:"started_ms"`  // Unix milliseconds; 0: not known
	LagMs     float64           `json:"lag_ms"`      // since the last batch came: figures are as of then
	// Tasks (units of work) per second over the last five seconds. null: not known.
	StartedRate  *float64 `json:"started_rate"`
	FinishedRate *float64 `json:"finished_rate"`
	QueueP99Ns   *float64 `json:"queue_p99_ns"` // over the last minute; null: no queue time is known
	CPUs         []Share  `json:"cpus"`         // mean CPUs in use over the last seconds, by kind of thread; null: see missing of the JVM
	Lost         float64  `json:"lost"`         // events, since the session began
	LostBatches  float64  `json:"lost_batches"`
	NotShown     float64  `json:"not_shown"` // events that were stored and are not in the live figures: the live view could not follow
	Findings     int      `json:"findings"`
	Sparks       Sparks   `json:"sparks"`
}

// Share is a part of something, by key.
type Share struct {
	Key   string  `json:"key"` // of CPUs: application, gc, compiler, vm, agent, other
	Value float64 `json:"value"`
}

// Sparks are the last 60 seconds, a point a second, the oldest first.
type Sparks struct {
	Finished   Points `json:"finished"`     // tasks per second
	QueueP99Ns Points `json:"queue_p99_ns"` // null in a second without a queue time
	CPUs       Points `json:"cpus"`         // all kinds together
	Lost       Points `json:"lost"`
}

// Points are the values of a series; NaN, null in JSON, where there is none.
type Points []float32

// JSONSchemaAlias has what MarshalJSON writes: null where nothing is known.
func (Points) JSONSchemaAlias() any { return []*float64{} }

// MarshalJSON writes three or four digits: a pixel shows no more.
func (p Points) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+6*len(p))
	b = append(b, '[')
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		switch f := float64(v); {
		case math.IsNaN(f) || math.IsInf(f, 0):
			b = append(b, "null"...)
		case f == math.Trunc(f) && math.Abs(f) < 1e15:
			b = strconv.AppendInt(b, int64(f), 10)
		default:
			b = strconv.AppendFloat(b, f, 'g', 4, 32)
		}
	}
	return append(b, ']'), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Points) UnmarshalJSON(b []byte) error {
	var values []*float32
	if err := json.Unmarshal(b, &values); err != nil {
		return fmt.Errorf("reading a series: %w", err)
	}
	*p = make(Points, len(values))
	for i, v := range values {
		(*p)[i] = float32(math.NaN())
		if v != nil {
			(*p)[i] = *v
		}
	}
	return nil
}

// JVM is the live view of one JVM. All times but Row's are nanoseconds since its session
// began. The event stream sends one each second.
type JVM struct {
	Row Row `json:"row"`
	// EndNs is the end of the newest bucket: the newest whole second that is known. The
	// series end there.
	EndNs    float64  `json:"end_ns"`
	BucketNs float64  `json:"bucket_ns"` // a second
	Series   []Series `json:"series"`    // the last five minutes, at most 300 values, the oldest first
	NowNs    float64  `json:"now_ns"`    // when the JVM last reported: Running and Queued are as of then
	// The tables are over the last WindowNs, up to a minute.
	WindowNs  float64    `json:"window_ns"`
	Totals    Totals     `json:"totals"`
	Classes   []Class    `json:"classes"`   // the most busy first; the last one may be "others"
	Executors []Executor `json:"executors"` // the most submissions first; the last one may be "others"
	Running   []Open     `json:"running"`   // that have run longest
	Queued    []Open     `json:"queued"`    // that have waited longest
	Findings  []Held     `json:"findings"`  // of the last look, which is up to half a minute old: largest first
	Past      []Held     `json:"past"`      // findings that have ended, the last one first
	Bound     string     `json:"bound"`     // what most of the time depends on, in a sentence; "": see missing
	Virtual   *Virtual   `json:"virtual"`   // null: no virtual threads, or nothing known about them
	// Missing maps what is not available to the reason, a part of a sentence: cpu, running,
	// queued, running_now, queued_now, queue, submissions, findings, virtual.
	Missing map[string]string `json:"missing"`
	// Notes say what limits the figures, each in a sentence: summarised classes, estimates.
	Notes []string `json:"notes"`
}

// Series has a value for each bucket.
//
// Keys: started, finished, submitted, rejected, threw (tasks), running, queued (mean number),
// gc (share of the time stopped), lost (events), cpu:application, cpu:gc, cpu:compiler, cpu:vm,
// cpu:agent, cpu:other (mean CPUs).
type Series struct {
	Key    string `json:"key"`
	Label  string `json:"label"`
	Unit   string `json:"unit"` // "/s", "" or "share"
	Values Points `json:"values"`
}

// Totals are since the session began, as far as the shadow has seen it.
type Totals struct {
	SinceNs    float64  `json:"since_ns"` // 0: all of it; else the shadow was started later
	Submitted  float64  `json:"submitted"`
	Started    float64  `json:"started"`
	Finished   float64  `json:"finished"`
	Threw      float64  `json:"threw"`
	Rejected   float64  `json:"rejected"`
	Cancelled  float64  `json:"cancelled"`
	Running    *float64 `json:"running"` // now; null: see missing
	Queued     *float64 `json:"queued"`  // now; null: see missing
	GCPauses   float64  `json:"gc_pauses"`
	GCPauseNs  float64  `json:"gc_pause_ns"`
	Executions float64  `json:"executions"` // records and summarised ones: a task has one or several
	Summarised float64  `json:"summarised"` // of Executions: counted by class and thread, without a record each
	Threads    float64  `json:"threads"`    // that live
}

// Flow counts tasks: those of a class or executor.
type Flow struct {
	Submitted float64  `json:"submitted"` // in the window, as all below
	Started   float64  `json:"started"`
	Finished  float64  `json:"finished"`
	Threw     float64  `json:"threw"`
	Rejected  float64  `json:"rejected"`
	Rate      float64  `json:"rate"`    // finished per second
	Running   *float64 `json:"running"` // now; null: not known
	Queued    *float64 `json:"queued"`  // now; null: not known
	Queue     *Times   `json:"queue"`   // null: no queue time is known
	Service   *Times   `json:"service"` // from start to end; null: none ended
	Spark     Points   `json:"spark"`   // finished in each of the last 60 seconds
}

// Times is a distribution of durations; quantiles are within 3.2 %.
type Times struct {
	Count float64 `json:"count"`
	SumNs float64 `json:"sum_ns"`
	P50Ns float64 `json:"p50_ns"`
	P90Ns float64 `json:"p90_ns"`
	P99Ns float64 `json:"p99_ns"`
	MaxNs float64 `json:"max_ns"`
}

// Class has the tasks named after one class.
type Class struct {
	Name     string `json:"name"`
	Platform bool   `json:"platform"` // of the JDK or a library below the program
	Flow     Flow   `json:"flow"`
	// Summarised is the part of Finished that was counted without a record each: their
	// executors are not known.
	Summarised float64 `json:"summarised"`
	// Estimated: the agent timed a random sample of them; counts are exact.
	Estimated bool `json:"estimated"`
}

// Executor has the tasks of an executor.
type Executor struct {
	ID      float64 `json:"id"`   // in the session; 0: others, -1: tasks for which threads were started
	Name    string  `json:"name"` // of it, or the place where it was made
	Class   string  `json:"class"`
	Site    string  `json:"site"`    // where it was made; "": not known
	Workers float64 `json:"workers"` // threads of it that live; 0: not known
	Flow    Flow    `json:"flow"`
}

// Open is a task that runs or waits now.
type Open struct {
	Task     string  `json:"task"`
	Class    string  `json:"class"`
	Executor string  `json:"executor"`
	Thread   string  `json:"thread"` // that runs it, or that submitted it; "": not known
	Site     string  `json:"site"`   // where it was submitted; "": not known
	SinceNs  float64 `json:"since_ns"`
	AgeNs    float64 `json:"age_ns"` // at NowNs
}

// Held is a finding of the account of time of a running JVM. It has no evidence.
type Held struct {
	advice.Finding
	SinceNs float64  `json:"since_ns"` // when it began to hold
	EndNs   *float64 `json:"end_ns"`   // when it no longer held; null: it holds
}

// Virtual sums up the scheduling of virtual threads; null: not known.
type Virtual struct {
	Mounted  *float64 `json:"mounted"` // now
	Parked   *float64 `json:"parked"`  // alive and not mounted, now
	Mounts   float64  `json:"mounts"`  // since the session began
	Pins     float64  `json:"pins"`
	PinnedNs float64  `json:"pinned_ns"`
}
