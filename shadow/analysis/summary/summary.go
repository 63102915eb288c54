// Package summary reads a session once and condenses it: the counts and
// distributions of `shadow stats`, the rows of `shadow hotspots`, the rows of
// `shadow threads` and the data behind every figure of a report.
package summary

import (
	"time"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/gc"
	"stackagent/granularity/unit"
	"stackagent/internal/label"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/wait"
	"stackagent/shadow/session"
	"stackagent/shadow/session/virtual"
	"stackagent/shadow/store"
)

// Options says what to condense.
type Options struct {
	Filter Filter
	// PerThread keeps the distributions of each thread as well
	// (Summary.ThreadRows); it doubles the memory needed.
	PerThread bool
	// Report reads what a report shows beside: units of work (Summary.InUnits).
	Report bool
	// Shapes computes what figures need (Summary.Figures), those of units of work, too.
	Shapes bool
	// Brief reads the executions only once, for callers that show no quantiles: these
	// are then good to 0.05 %.
	Brief bool
	// Thresholds of the advice; nil: advice.DefaultThresholds.
	Thresholds *advice.Thresholds
	// Replayer predicts what advice about the whole session saves; nil: nothing does.
	Replayer advice.Replayer
	// Advice looks for advice about units of work however long it takes; without it,
	// only few enough units are read.
	Advice bool
	// Exact reads all executions, also of a large session of which the parts have sums.
	Exact bool
	// SumsAbove is the number of recorded executions above which counts and distributions by class come
	// from the sums of the parts; 0: those that take seconds to read.
	SumsAbove uint64
	// Units condenses units of work instead of executions (Summary.Units).
	Units bool
	// Each lists executors one by one, also very many made at one line.
	Each bool
	// AsRecorded keeps the classes of the JDK whole; else their tasks have the names of the
	// program's functions in them.
	AsRecorded bool
	// Progress is called, from several goroutines, with how far a reading of the
	// executions is; may be nil.
	Progress func(what string, done, total uint64)
	// Classes is the number of classes with a curve of their own in a figure;
	// 0 means DefaultClasses.
	Classes int
}

// DefaultClasses is the number of classes that a figure shows one by one.
const DefaultClasses = 5

// Summary is a session in figures. Its JSON form is that of `shadow stats
// --format json`. Times are CLOCK_MONOTONIC nanoseconds.
type Summary struct {
	Session string `json:"session"`
	JVM     JVM    `json:"jvm"`
	// Labels are the JVM's; nil: the session has none.
	Labels     *label.Labels `json:"labels,omitempty"`
	Started    string        `json:"started"` // wall clock, RFC 3339, UTC; "" if not known
	DurationNs units.Ns      `json:"duration_ns"`
	// ImportedFrom says of whose recording the session was made; empty: it was recorded by the agent.
	ImportedFrom string `json:"imported_from,omitempty"`

	Ended  string  `json:"ended"` // "exit", "lost contact", "shadow closed"; "": not cleanly
	Filter *Filter `json:"filter,omitempty"`
	// Incomplete says what is missing, besides single events; nil: nothing is.
	Incomplete *session.Incomplete `json:"incomplete,omitempty"`
	Tasks      Tasks               `json:"tasks"`
	Lost       Lost                `json:"lost"`

	// Balance is the account by thread, nil where the session has none.
	Balance *store.Balance `json:"balance,omitempty"`

	// Metrics has a distribution over all executions (that pass the filter)
	// for each metric that was measured.
	Metrics      granularity.Metrics `json:"metrics"`
	GC           GC                  `json:"gc"`
	Virtual      *virtual.Threads    `json:"virtual_threads,omitempty"` // nil: none was mounted, or Options.Brief
	Waits        *wait.Brief         `json:"waits,omitempty"`           // nil: none was recorded, or not read
	NotAvailable map[string]string   `json:"not_available"`             // metric -> why
	Refusals     []store.Refusal     `json:"refusals"`
	Findings     []advice.Finding    `json:"findings"`
	Warnings     []string            `json:"warnings,omitempty"` // what of the folder could not be read
	// Hidden is work whose names do not say what was done; nil: less than half of all is.
	Hidden *Hidden `json:"hidden,omitempty"`
	// FromSums: quantiles come from the sums of parts, and the JDK's tasks have no names of the program's functions.
	FromSums bool `json:"from_sums,omitempty"`
	// Of is what the figures are of: executions, unless Units is set.
	Of text.Population `json:"-"`
	// Units says how units of work were made; nil: the figures are of executions.
	Units *unit.Note `json:"units,omitempty"`

	// Trace is set if Filter.Trace is.
	Trace *Trace `json:"-"`
	// StartNs and EndNs bound the session.
	StartNs units.MonoNs `json:"-"`
	EndNs   units.MonoNs `json:"-"`
	// Rows has a row per class that passes the filter, most work first.
	Rows []granularity.Hotspot `json:"-"`
	// ThreadRows has a row per thread that executed tasks, with distributions
	// if Options.PerThread.
	ThreadRows []granularity.Hotspot `json:"-"`
	// Threads has a row per thread of the JVM.
	Threads   []ThreadRow          `json:"-"`
	Pauses    []activity.Span      `json:"-"` // GC pauses, by start
	Fine      granularity.Fineness `json:"-"`
	FineIsAll bool                 `json:"-"` // Fine is about all executions
	Figures   *Figures             `json:"-"` // nil unless Options.Shapes
	// InUnits is the same session in units of work, for a report; nil unless
	// Options.Report or Shapes, or without submissions.
	InUnits  *Summary     `json:"-"`
	facts    advice.Facts // of Findings
	analysis *analysis    // what it was built from; nil: no session
	// By is the metric of ShowBy; Wall, which is no metric of own work: none.
	By granularity.Metric `json:"-"`
}

// EndSeen is false if the session broke off: the end of its program is missing.
func (s *Summary) EndSeen() bool { return s.Ended == store.EndedExit }

// NeverAtMost reports whether Tasks.NeverExecuted is an upper bound: what is missing may have executed some.
func (s *Summary) NeverAtMost() bool { return s.Tasks.NeverExecuted > 0 && s.Incomplete != nil }

// JVM describes the observed process.
type JVM struct {
	Version      string `json:"version"`
	PID          int    `json:"pid"`
	GC           string `json:"gc"`
	CPUs         int    `json:"cpus"`
	Name         string `json:"name"`
	MainClass    string `json:"main_class"`
	Host         string `json:"host"`
	Home         string `json:"home"`
	AgentVersion string `json:"agent_version"`
	Clock        string `json:"clock"`
	CPUClock     string `json:"cpu_clock"`
}

// Tasks are exact counts; in JSON null where they are not known.
type Tasks struct {
	Created       int64 `json:"created" null:"unknown"`        // tasks constructed
	Executions    int64 `json:"executions" null:"unknown"`     // recorded or summarised, those still running included
	Summarised    int64 `json:"summarised" null:"unknown"`     // of Executions, not recorded one by one
	NeverExecuted int64 `json:"never_executed" null:"unknown"` // created and not executed by the end
	// Fates is what became of NeverExecuted; nil: not known, or too many tasks to look.
	Fates        *granularity.Fates `json:"fates,omitempty"`
	Threads      int64              `json:"threads" null:"unknown"` // threads that executed at least one task
	ThreadsLow   bool               `json:"-"`                      // Threads is a minimum, for the reason UnknownVirtual
	Threw        int64              `json:"threw" null:"unknown"`   // executions ended by an exception
	Failed       int64              `json:"failed" null:"unknown"`  // constructions ended by an exception
	Running      int64              `json:"running" null:"unknown"` // executions that had not ended
	Cut          int64              `json:"cut" null:"unknown"`     // executions without an exit probe
	Nested       int64              `json:"nested" null:"unknown"`  // recorded executions inside another one
	Virtual      int64              `json:"virtual" null:"unknown"` // executions on virtual threads
	CreateUnseen int64              `json:"creation_unseen" null:"unknown"`
	Classes      int64              `json:"classes" null:"unknown"` // task classes created or executed
}

// GC sums up the collection pauses, in nanoseconds.
type GC struct {
	Pauses   int64    `json:"pauses" null:"unknown"`
	PauseNs  units.Ns `json:"pause_ns" null:"unknown"` // time stopped; overlaps count once
	MedianNs units.Ns `json:"median_ns" null:"unknown"`
	P99Ns    units.Ns `json:"p99_ns" null:"unknown"`
	MaxNs    units.Ns `json:"max_ns" null:"unknown"`
	Share    float64  `json:"share" null:"unknown"` // of the session, 0 to 1
	// Standstill is how long safepoints stopped the program, for collections and other reasons, reaching them
	// included; nil: not available, NoStandstill says why.
	Standstill   *gc.Standstill `json:"standstill"`
	NoStandstill string         `json:"standstill_not_available,omitempty"`
	ProfilerNs   units.Ns       `json:"profiler_ns" null:"unknown"` // the most of the standstill that the profiler itself caused by changing classes
}

// ThreadRow is a thread of the JVM, Java or service thread.
type ThreadRow struct {
	session.Thread
	RunExecutions int64      // executions on it that pass the filter
	RunSummarised int64      // of RunExecutions, not recorded one by one
	Running       int64      // of RunExecutions, had not ended when the program did
	Work          []units.Ns // by granularity.Metric, of self metrics only: the sum over RunExecutions, or NotMeasured; nil: no executions
	Loop          bool       // it began with an execution of a thread: all that it does is inside
	// Busy is, per bucket of Figures.Grid, the share of time (0 to 1) inside
	// outermost executions that are not the thread's own loop; nil if none.
	Busy []float64
}

// Self is the summed self work of the executions in the metric at index k of
// session.Metrics, or NotMeasured.
func (r *ThreadRow) Self(k int) units.Ns {
	m := granularity.MetricOf(k, true)
	if int(m) >= len(r.Work) {
		return units.NotMeasured
	}
	return r.Work[m]
}

// SelfCPU is the summed self CPU time of the executions, or NotMeasured.
func (r *ThreadRow) SelfCPU() units.Ns { return r.Self(int(granularity.CPU)) }

// SelfWall is the summed self wall time of the executions that have ended; the page of the report shows it.
func (r *ThreadRow) SelfWall() units.Ns { return max(r.Self(int(granularity.Wall)), 0) }

// Source is what a summary is made of: a session, or made-up data in tests.
type Source struct {
	Of       text.Population // of Executions
	Manifest store.Manifest
	Warnings []string
	Classes  []session.Class
	Threads  []session.Thread
	Pauses   []session.Pause // by start, as the next ones
	Own      []session.Pause // in which the profiler changed classes
	// Unlisted reports whether a virtual thread is missing in Threads; nil: none is.
	Unlisted func(id uint32) bool
	// SiteOf names the one site that all tasks of a class come from, "" if there is none;
	// nil: sites are not needed.
	SiteOf func(class uint32) string
	// TaskClass maps the names in Classes that replace a class of the JDK to that class.
	TaskClass map[string]string
	// Executions reads columns as session.ScanExecutions does. Every call reads the same
	// rows.
	Executions func(want store.Columns, use func(worker int, c *session.Chunk) error) error
	Part       bool // Executions has a part of the session's only
	// Sums reads executions by the sums of their parts as session.SumExecutions does; nil: there are none.
	Sums func(want store.Columns, sums func(worker int, x *store.Sums) error, use func(worker int, c *session.Chunk) error) error
	// Groups replaces the classes; nil: executions are grouped by class.
	Groups    *Groups
	Summaries func(func(*session.Summary) error) error // nil: there are none
	Counts    func() ([]session.ClassCounts, session.ClassCounts, error)
	// Fates counts the tasks of each class that were never executed; nil: not known.
	Fates    func() (map[uint32]map[session.TaskState]int64, error)
	Activity func() (*session.Activity, error) // the scheduling record; nil: there is none
	// Observed says who observed the JVM from outside; nil: the session does not say.
	Observed *advice.Observed
	// Uncounted maps what could not be counted from outside to the reason.
	Uncounted map[string]string
	// Found returns the manifest and the warnings after the reading, which may have
	// found damage; may be nil.
	Found func() (store.Manifest, []string)
}

func started(m *store.Manifest) string {
	if m.WallUnixNs <= 0 {
		return ""
	}
	return time.Unix(0, m.WallUnixNs).UTC().Format(time.RFC3339)
}
