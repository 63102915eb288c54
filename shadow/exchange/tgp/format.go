// Package tgp works on traces of tgp, the task granularity profiler (Rosales, Rosà, Binder).
//
// It reads and writes its files tasks.csv, gc.csv, cs.csv and cpu.csv, and makes a session of them. docs/tgp.md describes
// each column. Input is not trusted: limits are checked before memory is allocated, and malformed input is rejected with its
// line and column.
//
// It does what the post-processing of tgp does, too: it merges nested executions into their outer ones, leaves out samples
// taken during garbage collections, and finds the classes that spawn only fine- or only coarse-grained tasks. Times are
// nanoseconds of the clock of the trace; granularities are of the metric that it was recorded in.
package tgp

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The names of the files.
const (
	TasksFile = "tasks.csv"
	GCFile    = "gc.csv"
	CSFile    = "cs.csv"
	CPUFile   = "cpu.csv"
)

// Columns of tasks.csv, in their order.
var Columns = []string{
	"ID", "Class", "Outer Task ID", "Execution N.",
	"Creation thread ID", "Creation thread class", "Creation thread name",
	"Execution thread ID", "Execution thread class", "Execution thread name",
	"Executor ID", "Executor class", "Entry execution time", "Exit execution time", "Granularity",
	"Is Thread", "Is Runnable", "Is Callable", "Is ForkJoinTask",
	"Is run() executed", "Is call() executed", "Is exec() executed",
}

// The indexes of the columns.
const (
	colID = iota
	colClass
	colOuter
	colExecution
	colCreator
	colCreatorClass
	colCreatorName
	colRunner
	colRunnerClass
	colRunnerName
	colExecutor
	colExecutorClass
	colEntry
	colExit
	colGranularity
	colFlags   // the first of seven
	numColumns = 22
)

// Headers of cs.csv and cpu.csv, which are about the whole machine.
var (
	csColumns  = []string{"Timestamp (ns)", "Context Switches"}
	cpuColumns = []string{"Timestamp (ns)", "CPU utilization (user)", "CPU utilization (kernel)"}
)

// The events of gc.csv.
const (
	gcStart = "Start GC"
	gcEnd   = "End GC"
)

// Limits of the input.
const (
	DefaultMaxRows = 20_000_000 // of tasks.csv; about 100 bytes each in memory
	maxSamples     = 10_000_000 // of each of the others
	maxRecordBytes = 1 << 20    // a row
	maxNames       = 1 << 22    // distinct classes, threads, executors
)

// ErrTooLarge is a file beyond the limits.
var ErrTooLarge = errors.New("larger than what is read")

// FormatError is a malformed file. Line and Column count from 1, Column in
// bytes; Column 0: the whole line.
type FormatError struct {
	File         string
	Line, Column int
	Reason       string
	Err          error // may be nil
}

func (e *FormatError) Error() string {
	at := fmt.Sprintf("%s:%d", e.File, e.Line)
	if e.Column > 0 {
		at += fmt.Sprintf(":%d", e.Column)
	}
	return at + ": " + e.Reason
}

func (e *FormatError) Unwrap() error { return e.Err }

// Metrics are the possible metrics of a trace: tgp's own two and those of programs that
// use its format.
var Metrics = []string{"bytecodes", "ref_cycles", "instructions", "cycles", Unnamed}

// Unnamed is the metric of granularities if the user names none: a trace does not record
// its metric.
const Unnamed = "granularity"

// CheckMetric rejects a metric that is not in Metrics.
func CheckMetric(name string) error {
	if !slices.Contains(Metrics, name) {
		return fmt.Errorf("unknown metric %.40q: use one of %s", name, strings.Join(Metrics, ", "))
	}
	return nil
}
