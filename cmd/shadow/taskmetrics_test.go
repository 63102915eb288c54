package main

import (
	"encoding/csv"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// workSession is the sample with two promised metrics and one that is not, a
// submission, places, and a class that is in summaries.
func workSession(t *testing.T) string {
	t.Helper()
	p := samplePart(1_000_000_000)
	n := len(p.Executions)
	p.Extra = []string{"alloc_bytes", "page_faults", "bytecodes"}
	for k := range 3 {
		total, nested := make([]int64, n), make([]int64, n)
		for i := range total {
			total[i], nested[i] = int64(1000*k+i), int64(i%2)
		}
		total[3] = int64(units.NotMeasured)
		p.ExecutionWork.Total, p.ExecutionWork.Nested = append(p.ExecutionWork.Total, total), append(p.ExecutionWork.Nested, nested)
	}
	first := &p.Executions[0]
	first.SubmittedNs = first.StartNs - 250
	p.Creations[0].Site = 2
	p.Submissions = []store.Submission{{TaskID: first.TaskID, Class: 1, Thread: 1, Executor: 7, Site: 3, AtNs: first.SubmittedNs}}
	p.Constructions = []store.Construction{{TaskID: first.TaskID, Class: 1, Thread: 1, WallNs: 90, CPUNs: 80}}
	p.Executors = []store.Executor{{ID: 7, Class: "java.util.concurrent.ThreadPoolExecutor"}}
	p.Sites = []store.Site{{ID: 2, Class: "com.acme.Main", Method: "make", Line: 4}, {ID: 3, Class: "com.acme.Main", Method: "<init>"}}
	p.Creations = append(p.Creations, store.Creation{TaskID: 70, Class: 4, Thread: 1, AtNs: 5})
	p.Summaries = []store.Summary{{ID: store.SummaryID(1, 0), Class: 4, Thread: 1, Executions: 9, First: 9}}
	w, err := store.OpenWriter(t.TempDir(), "w", "w")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.Extra = store.NewExtra([]wire.Extra{{Name: "alloc", Unit: "bytes"}, {Name: "page-faults"}, {Name: "bytecodes"}})
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	return w.Dir()
}

// What each format must say of the first row, and of the one that was not measured.
var (
	wantFirst = map[string]string{
		"created_at": "com.acme.Main.make:4", "submitted_ns": "1001999750", "submitter_thread": "main#1", "executor_id": "7",
		"executor_class": "java.util.concurrent.ThreadPoolExecutor", "submitted_at": "com.acme.Main.<init>", "queue_ns": "250", "init_ns": "90",
		"bytecodes": "2000", "self_bytecodes": "2000", "alloc_bytes": "0", "self_alloc_bytes": "0", "instructions": "", "state": "executed",
		"page_faults": "1000", "self_page_faults": "1000",
	}
	wantSecond = map[string]string{"alloc_bytes": "1", "self_alloc_bytes": "0", "page_faults": "1001", "self_page_faults": "1000", "queue_ns": "", "init_ns": ""}
	wantFourth = map[string]string{"alloc_bytes": "", "self_alloc_bytes": "", "page_faults": "", "self_page_faults": "", "bytecodes": ""}
)

func checkColumns(t *testing.T, row map[string]string, want map[string]string) {
	t.Helper()
	for column, v := range want {
		if got, there := row[column]; !there || got != v {
			t.Errorf("%s is %q, want %q", column, got, v)
		}
	}
}

func TestTasksWithWork(t *testing.T) {
	dir := workSession(t)
	code, out, errs := shadow(t, nil, "tasks", dir, "--format", "csv")
	if code != 0 || !strings.Contains(errs, "1 created task is left out: some executions of their classes are in summaries") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	table, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(table) != 10 {
		t.Fatalf("%d lines, want 8 executions and 1 task never executed: %v", len(table), err)
	}
	if strings.Join(table[0], ", ") != promised+", page_faults, self_page_faults, name, cpu_estimated, delay_ns, trace_id, span_id" {
		t.Errorf("columns %v", table[0])
	}
	cells := func(line int) map[string]string {
		row := map[string]string{}
		for i, column := range table[0] {
			row[column] = table[line][i]
		}
		return row
	}
	checkColumns(t, cells(1), wantFirst)
	checkColumns(t, cells(2), wantSecond)
	checkColumns(t, cells(4), wantFourth)
	if last := cells(9); last["state"] != "never submitted" || last["page_faults"] != "" {
		t.Errorf("a task never executed: %v", last)
	}
}

func TestTasksWithWorkInJSONAndParquet(t *testing.T) {
	dir := workSession(t)
	code, out, errs := shadow(t, nil, "tasks", dir, "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var rows []map[string]json.RawMessage
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 9 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	for i, want := range []map[string]string{wantFirst, wantSecond} {
		row := map[string]string{}
		for k, v := range rows[i] {
			if row[k] = strings.Trim(string(v), `"`); row[k] == "null" {
				row[k] = ""
			}
		}
		checkColumns(t, row, want)
	}
	file := filepath.Join(t.TempDir(), "t.parquet")
	if code, _, errs := shadow(t, nil, "tasks", dir, "--format", "parquet", "-o", file); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	type wide struct {
		TaskID     uint64  `parquet:"task_id"`
		State      string  `parquet:"state"`
		Submitted  *string `parquet:"submitted_at,optional"`
		Faults     *int64  `parquet:"page_faults,optional"`
		SelfFaults *int64  `parquet:"self_page_faults,optional"`
	}
	got, err := parquet.ReadFile[wide](file)
	if err != nil || len(got) != 9 {
		t.Fatalf("%d rows, %v", len(got), err)
	}
	if x := got[0]; *x.Faults != 1000 || *x.SelfFaults != 1000 || *x.Submitted != "com.acme.Main.<init>" || x.State != "executed" || got[3].Faults != nil || got[8].TaskID != 5 {
		t.Errorf("rows %+v", got)
	}
}
