// Package diff compares two sessions, or two sets of sessions of repeated runs: what each class, executor, call site and kind
// of thread did, waited for, and had on the critical path.
//
// Gather reads the figures of one session; Compare is pure. A figure of repeated runs has intervals, an effect size, and a p
// that is corrected for all figures that were judged (Holm, in families that share the 5 %): of two sets of runs of one
// program, the chance that anything at all is called different is at most 5 %. Of one run each, nothing is called different.
package diff

import (
	"stackagent/granularity/estimate"
	"stackagent/shadow/analysis/advice"
)

// By is what a row is about.
type By string

// What rows are about.
const (
	Whole    By = "run" // the whole run, one row
	Class    By = "class"
	Executor By = "executor"
	Site     By = "site"
	Threads  By = "thread" // kinds of threads
	Wait     By = "wait"   // what was waited for
	Path     By = "path"   // classes on the critical path
	Cause    By = "cause"  // what the response times of each class went to, by the account of time
	// Each is about classes, by what one execution takes: for runs of different lengths and loads, as the instances of a
	// service are. Gather does not make it.
	Each By = "each"
)

// All are the groupings, in the order of listings.
var All = []By{Whole, Class, Executor, Site, Threads, Wait, Path, Cause}

// figure describes a figure of rows.
type figure struct {
	name, title, unit string
	// sum: a run in which the row does not occur has 0 of it, if others of its rows have it; else it has no value.
	sum bool
	// count: it is a whole number.
	count bool
	// share: the row's share of the whole says whether the row matters.
	share bool
	// total: of the whole run, it grows with the units of work.
	total bool
	// want is what is better, 1 more, -1 less; 0: neither by itself.
	want int
	// aim: it is what the program is for, or says whether totals compare.
	aim bool
}

// figures are those of each grouping, the one that listings sort by first.
var figures = map[By][]figure{
	Whole: {
		{name: "units_per_second", title: "throughput", want: 1, aim: true},
		{name: "response_ns_p50", title: "response time p50", unit: "ns", want: -1, aim: true},
		{name: "response_ns_p99", title: "response time p99", unit: "ns", want: -1, aim: true},
		{name: "queue_ns_p50", title: "queue time p50", unit: "ns", want: -1, aim: true},
		{name: "queue_ns_p99", title: "queue time p99", unit: "ns", want: -1, aim: true},
		{name: "units", title: "units of work", count: true, aim: true},
		{name: "cpu_ns_per_unit", title: "CPU time per unit", unit: "ns", want: -1},
		{name: "duration_ns", title: "wall time", unit: "ns", want: -1},
		{name: "cpu_ns", title: "CPU time of the JVM", unit: "ns", total: true, want: -1},
		{name: "executions", title: "executions", count: true, total: true},
		{name: "created", title: "tasks created", count: true, total: true},
		{name: "never_executed", title: "never executed", count: true},
		{name: "threw", title: "ended by an exception", count: true},
		{name: "queue_ns", title: "mean queue time", unit: "ns"},
		{name: "threads", title: "threads with tasks", count: true},
		{name: "gc_pauses", title: "GC pauses", count: true, total: true},
		{name: "gc_pause_ns", title: "time in GC pauses", unit: "ns", total: true},
		{name: "standstill_ns", title: "time at safepoints", unit: "ns"},
	},
	Class: taskFigures, Executor: taskFigures, Site: taskFigures,
	Threads: {
		{name: "cpu_ns", title: "CPU time", unit: "ns", sum: true, share: true},
		{name: "threads", title: "threads", sum: true, count: true},
	},
	Wait: {
		{name: "waited_ns", title: "waited", unit: "ns", sum: true, share: true},
		{name: "waits", title: "waits", sum: true, count: true},
	},
	Path:  {{name: "path_ns", title: "on the path", unit: "ns", sum: true, share: true}},
	Cause: {{name: "unit_ns", title: "of a unit's response time", unit: "ns", share: true}},
	Each: {
		{name: "work_ns", title: "work of an execution", unit: "ns"},
		{name: "wall_ns", title: "wall time of an execution", unit: "ns"},
		{name: "queue_ns", title: "mean queue time", unit: "ns"},
		{name: "response_ns", title: "mean response time", unit: "ns"},
		{name: "per_hour", title: "executions an hour", sum: true, share: true},
		{name: "threw_share", title: "ended by an exception, of all"},
	},
}

var taskFigures = []figure{
	{name: "work_ns", title: "work", unit: "ns", sum: true, share: true},
	{name: "wall_ns", title: "wall time", unit: "ns", sum: true, share: true},
	{name: "executions", title: "executions", sum: true, count: true, share: true},
	{name: "queue_ns", title: "mean queue time", unit: "ns"},
	{name: "response_ns", title: "mean response time", unit: "ns"},
	{name: "alloc_bytes", title: "allocated", unit: "bytes", sum: true},
}

// Key names a row of a run.
type Key struct {
	By   By
	Name string
}

// Run is what one session says.
type Run struct {
	Session string
	Started string // wall clock, RFC 3339; "" if not known
	Program string // main class
	JVM     string
	CPUs    int
	Rows    map[Key]map[string]float64 // figures by name
	// Findings are those of the account of time.
	Findings []advice.Finding
	// NotAvailable maps groupings that the session cannot have to the reason.
	NotAvailable map[By]string
	// Partial: executions are missing in the session. Sums of rows are lower bounds then, and means are not known.
	Partial bool
	jdk     map[string]bool // classes of the JDK
	flat    bool            // nested executions may be missing in others: their self times are no bounds
	// Gaps are sentences, without their end, about what is missing in the session.
	Gaps []string
}

// Verdict is what is said of a figure.
type Verdict string

// The verdicts.
const (
	Different    Verdict = "different"     // the corrected p is below 0.05
	NoDifference Verdict = "no_difference" // none was found: that is no proof that there is none
	NoInterval   Verdict = "no_interval"   // fewer than two runs on a side
	Small        Verdict = "small"         // of a row that is too small to judge
	New          Verdict = "new"           // the row occurs only in B
	Gone         Verdict = "gone"          // only in A
	Sometimes    Verdict = "sometimes"     // the row occurs only on one side, and not in all runs of it
	Follows      Verdict = "follows"       // a sum of a side with more or fewer units of work: what a unit takes is judged
	NotKnown     Verdict = "not_known"     // a part of a session is missing: its sums are lower bounds
)

// leastShare is the share of the work, wall time, executions, waits or path that a row has on one side for its figures to be
// judged. What is smaller is listed: each further test makes all others less able to find a difference.
const leastShare = 0.005

// Figure is a figure on both sides.
type Figure struct {
	Name    string            `json:"figure"`
	Title   string            `json:"-"`
	Unit    string            `json:"unit"` // "ns", "bytes"; "": a count
	A       estimate.Interval `json:"a"`    // mean over the runs
	B       estimate.Interval `json:"b"`
	Change  estimate.Interval `json:"change"` // B over A, less 1: 0.1 is 10 % more
	Effect  *estimate.Effect  `json:"effect"` // positive if B has more; null: fewer than two runs on a side
	P       *float64          `json:"p"`
	Holm    *float64          `json:"p_corrected"`
	Verdict Verdict           `json:"verdict"`

	aAtLeast, bAtLeast bool // a part of a session of the side is missing
	aim                bool
	want               int
}

// Row is a class, or what else rows are about, on both sides.
type Row struct {
	By   By     `json:"by"`
	Name string `json:"name"`          // in B, or in A if it is gone
	Was  string `json:"was,omitempty"` // its name in A, if that differs
	// Guess says why the two may not be the same; "": they are.
	Guess   string   `json:"guess,omitempty"`
	In      string   `json:"in"`     // "both", "a" or "b"
	RunsA   int      `json:"runs_a"` // of A in which it occurs
	RunsB   int      `json:"runs_b"`
	Share   float64  `json:"share"` // the largest of its shares of the whole, on either side
	Figures []Figure `json:"figures"`

	a, b Key // on each side
}

// Different reports whether a figure of the row is different.
func (r *Row) Different() bool {
	for i := range r.Figures {
		if r.Figures[i].Verdict == Different {
			return true
		}
	}
	return false
}

// Side is one of the two.
type Side struct {
	Runs     int      `json:"runs"`
	Sessions []string `json:"sessions"`
	Program  string   `json:"program"`
	JVM      string   `json:"jvm"`
	CPUs     int      `json:"cpus"`
}

// Diff is the comparison.
type Diff struct {
	Sentence   string            `json:"sentence"` // which side is better in what; "": only parts were compared
	A          Side              `json:"a"`
	B          Side              `json:"b"`
	Confidence float64           `json:"confidence"`
	Correction string            `json:"correction"`     // of p
	Judged     int               `json:"judged"`         // figures with a p
	Different  int               `json:"different"`      // of these
	PerUnit    bool              `json:"per_unit"`       // the units of work differ: sums are judged per unit
	New        int               `json:"new"`            // rows in all runs of B and none of A
	Gone       int               `json:"gone"`           // in all of A and none of B
	Note       string            `json:"note,omitempty"` // why there are no intervals
	Cautions   []string          `json:"cautions,omitempty"`
	Findings   []Found           `json:"findings"`      // of the account of time: those that came, those that went, those on both sides
	Missing    map[string]string `json:"not_available"` // grouping -> why; cause: that of the findings, too
	Rows       []*Row            `json:"rows"`

	jdk map[string]bool // classes of the JDK
}
