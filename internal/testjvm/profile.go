package testjvm

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"testing"
	"time"
)

// Profile is a profiled run and the folder of its session.
type Profile struct {
	Result
	Dir    string
	Stolen time.Duration // what the machine took during the run
}

// Row is a class in `shadow hotspots --format json`.
type Row struct {
	Class         string            `json:"class"`
	Created       int64             `json:"created"`
	Executions    int64             `json:"executions"`
	NeverExecuted int64             `json:"never_executed"`
	Threw         int64             `json:"threw"`
	Metrics       map[string]Metric `json:"metrics"`
}

// Metric is the part of a distribution that tests look at; in nanoseconds.
type Metric struct {
	Count int64   `json:"count"`
	Sum   float64 `json:"sum"`
	Min   float64 `json:"min"`
	P50   float64 `json:"p50"`
	Max   float64 `json:"max"`
}

// Stats is the part of `shadow stats --format json` that tests look at.
type Stats struct {
	Session string `json:"session"`
	JVM     struct {
		Version string `json:"version"`
		PID     int    `json:"pid"`
		GC      string `json:"gc"`
		CPUs    int    `json:"cpus"`
	} `json:"jvm"`
	DurationNs int64 `json:"duration_ns"`
	Tasks      struct {
		Created       int64 `json:"created"`
		Executions    int64 `json:"executions"`
		NeverExecuted int64 `json:"never_executed"`
		Threads       int64 `json:"threads"`
		Threw         int64 `json:"threw"`
		Failed        int64 `json:"failed"`
	} `json:"tasks"`
	Lost struct {
		Events   int64 `json:"events"`
		Switches int64 `json:"switches"`
		Batches  int64 `json:"batches"`
	} `json:"lost"`
	Metrics map[string]Metric `json:"metrics"`
	GC      struct {
		Pauses  int64 `json:"pauses"`
		PauseNs int64 `json:"pause_ns"`
	} `json:"gc"`
	NotAvailable map[string]string `json:"not_available"`
	Refusals     []Refusal         `json:"refusals"`
}

// Refusal is what was not instrumented, and why.
type Refusal struct {
	Reason string `json:"reason"`
	Count  int64  `json:"count"`
	Sample string `json:"sample"`
}

// Hotspots is `shadow hotspots DIR --format json`.
func (p Profile) Hotspots(t testing.TB) []Row {
	t.Helper()
	var rows []Row
	p.decode(t, &rows, "hotspots", p.Dir, "--format", "json")
	return rows
}

// Units is the same of units of work.
func (p Profile) Units(t testing.TB) []Row {
	t.Helper()
	var rows []Row
	p.decode(t, &rows, "hotspots", p.Dir, "--units", "--format", "json")
	return rows
}

// Stats is `shadow stats DIR --format json`.
func (p Profile) Stats(t testing.TB) Stats {
	t.Helper()
	var s Stats
	p.decode(t, &s, "stats", p.Dir, "--format", "json")
	return s
}

// Tasks is `shadow tasks DIR --format csv`: a map from column to cell for
// every row.
func (p Profile) Tasks(t testing.TB) []map[string]string {
	t.Helper()
	return p.CSV(t, "tasks", p.Dir)
}

// CSV is what a command prints with `--format csv`, as Tasks has it.
func (p Profile) CSV(t testing.TB, args ...string) []map[string]string {
	t.Helper()
	table, err := csv.NewReader(bytes.NewReader(p.Shadow(t, append(args, "--format", "csv")...))).ReadAll()
	if err != nil || len(table) == 0 {
		t.Fatalf("shadow %v: %d lines of csv, %v", args, len(table), err)
	}
	rows := make([]map[string]string, 0, len(table)-1)
	for _, line := range table[1:] {
		row := make(map[string]string, len(line))
		for i, cell := range line {
			row[table[0][i]] = cell
		}
		rows = append(rows, row)
	}
	return rows
}

func (p Profile) decode(t testing.TB, into any, args ...string) {
	t.Helper()
	out := p.Shadow(t, args...)
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("shadow %v: %v in\n%.2000s", args, err, out)
	}
}

// Shadow runs the command, which must succeed; its stdout.
func (p Profile) Shadow(t testing.TB, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(Shadow(t), args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("shadow %v: %v\n%s\nthe profiled run said:\n%s", args, err, stderr.String(), tail(p.Stderr))
	}
	return out
}

func tail(s string) string {
	const most = 4000
	if len(s) > most {
		return fmt.Sprintf("... %s", s[len(s)-most:])
	}
	return s
}

// ThreadRow is a thread in `shadow threads --format json`.
type ThreadRow struct {
	Label  string `json:"thread"` // as in the trace: name#id
	Kind   string `json:"kind"`
	JavaID *int64 `json:"java_id"`
	CPUNs  *int64 `json:"cpu_ns"` // the thread's total, nil: not known
}

// Threads is `shadow threads DIR --format json`.
func (p Profile) Threads(t testing.TB) []ThreadRow {
	t.Helper()
	var rows []ThreadRow
	p.decode(t, &rows, "threads", p.Dir, "--format", "json")
	return rows
}

// AdviceRow is an advice in `shadow stats --format json`.
type AdviceRow struct {
	Kind  string `json:"kind"`
	Rule  string `json:"rule"`
	Class string `json:"class"`
	Text  string `json:"text"`
	Gain  *struct {
		Ns int64 `json:"ns"`
	} `json:"gain"` // nil: there is no prediction
	Predicted *struct {
		Why string `json:"cannot_tell"`
	} `json:"predicted"` // nil: it is not about time
}

// Advice lists the advice of `shadow stats DIR --format json`.
func (p Profile) Advice(t testing.TB) []AdviceRow {
	t.Helper()
	var s struct {
		Findings []AdviceRow `json:"findings"`
	}
	p.decode(t, &s, "stats", p.Dir, "--format", "json")
	return slices.DeleteFunc(s.Findings, func(r AdviceRow) bool { return r.Kind != "advice" })
}
