package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// The promised columns in their promised order, and behind them what became of the task.
const promised = "task_id, class, kinds, execution, outer_task_id, created_ns, creator_thread, created_at, " +
	"submitted_ns, submitter_thread, executor_id, executor_class, submitted_at, start_ns, " +
	"end_ns, thread, queue_ns, wall_ns, cpu_ns, bytecodes, instructions, ref_cycles, cycles, " +
	"alloc_bytes, init_ns, threw, " +
	"self_wall_ns, self_cpu_ns, self_bytecodes, self_instructions, self_ref_cycles, self_cycles, self_alloc_bytes, state"

func TestTaskColumns(t *testing.T) {
	_, out, _ := shadow(t, nil, "tasks", makeSession(t, t.TempDir()), "--format", "csv", "--top", "1")
	header, _, _ := strings.Cut(out, "\n")
	if got := strings.ReplaceAll(header, ",", ", "); got != promised+", name, cpu_estimated, delay_ns, trace_id, span_id" {
		t.Errorf("columns\n%s\nwant\n%s, name, cpu_estimated, delay_ns, trace_id, span_id", got, promised)
	}
}

// parquetTask has columns of the Parquet file of tasks.
type parquetTask struct {
	TaskID       uint64  `parquet:"task_id"`
	Class        string  `parquet:"class"`
	Execution    *int64  `parquet:"execution,optional"`
	OuterTaskID  *uint64 `parquet:"outer_task_id,optional"`
	CreatedNs    *int64  `parquet:"created_ns,optional"`
	StartNs      *int64  `parquet:"start_ns,optional"`
	EndNs        *int64  `parquet:"end_ns,optional"`
	Thread       *string `parquet:"thread,optional"`
	WallNs       *int64  `parquet:"wall_ns,optional"`
	CPUNs        *int64  `parquet:"cpu_ns,optional"`
	Instructions *int64  `parquet:"instructions,optional"`
	Threw        *bool   `parquet:"threw,optional"`
}

func TestTasksParquet(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "tasks.parquet")
	if code, out, errs := shadow(t, nil, "tasks", dir, "--format", "parquet", "-o", file); code != 0 || out != "" || errs != "" {
		t.Fatalf("exit code %d: %s%s", code, out, errs)
	}
	rows, err := parquet.ReadFile[parquetTask](file)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 9 {
		t.Fatalf("%d rows, want 8 executions and 1 task never executed", len(rows))
	}
	if r := rows[0]; r.TaskID != 1 || r.Class != "com.acme.Job" || *r.CPUNs != 10*ms || *r.OuterTaskID != 6 || *r.Thread != "pool-1-thread-1#31" || *r.Threw || r.Instructions != nil {
		t.Errorf("first row %+v", r)
	}
	if r := rows[6]; r.OuterTaskID != nil || r.Class != "=cmd|' /C calc'!A0\x1b[2J" {
		t.Errorf("Parquet holds names as they are: %+v", r)
	}
	if r := rows[7]; r.EndNs != nil || r.WallNs != nil || *r.StartNs != 1_050*ms {
		t.Errorf("a running execution has no end and no work: %+v", r)
	}
	if r := rows[8]; r.Execution != nil || r.StartNs != nil || r.Thread != nil || r.Threw != nil || *r.CreatedNs == 0 {
		t.Errorf("a task never executed: %+v", r)
	}
}

// A file appears whole or not at all, and with the content of standard output.
func TestTasksToFile(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	out := t.TempDir()
	for _, format := range []string{"csv", "json", "table"} {
		file := filepath.Join(out, "tasks."+format)
		if code, _, errs := shadow(t, nil, "tasks", dir, "--format", format, "-o", file); code != 0 {
			t.Fatalf("%s: exit code %d: %s", format, code, errs)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, want, _ := shadow(t, nil, "tasks", dir, "--format", format); string(got) != want {
			t.Errorf("%s: the file differs from standard output", format)
		}
	}
	code, _, errs := shadow(t, nil, "tasks", dir, "--format", "csv", "-o", filepath.Join(out, "missing", "x.csv"))
	if code != 1 || !strings.Contains(errs, "no such file or directory") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestReport(t *testing.T) {
	dir := makeSession(t, t.TempDir())
	out := t.TempDir()
	magic := map[string]string{".html": "<!doctype html>", ".svg": "<?xml", ".png": "\x89PNG", ".pdf": "%PDF"}
	tests := []struct {
		args []string
		want []string
	}{
		{[]string{"-o", out + "/r.html"}, []string{out + "/r.html"}},
		{nil, []string{dir + "/report.html"}},
		{[]string{"--figures", "cdf", "-o", out + "/one.svg"}, []string{out + "/one.svg"}},
		{[]string{"--figures", "box", "-o", out + "/one.pdf"}, []string{out + "/one.pdf"}},
		{[]string{"--figures", "cdf,gc", "--figure-format", "svg,png", "-o", out + "/all"},
			[]string{out + "/all/report.html", out + "/all/cdf.svg", out + "/all/cdf.png", out + "/all/gc.svg", out + "/all/gc.png"}},
	}
	for _, test := range tests {
		code, printed, errs := shadow(t, nil, append([]string{"report", dir}, test.args...)...)
		if code != 0 {
			t.Fatalf("%q: exit code %d: %s", test.args, code, errs)
		}
		if got := strings.Fields(printed); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: printed %q, want %q", test.args, got, test.want)
		}
		for _, file := range test.want {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Error(err)
			} else if start := magic[filepath.Ext(file)]; !strings.HasPrefix(strings.ToLower(string(b[:min(64, len(b))])), strings.ToLower(start)) {
				t.Errorf("%s begins with %q, want %q", file, b[:min(20, len(b))], start)
			}
		}
	}
	other := makeSession(t, t.TempDir())
	code, printed, errs := shadow(t, nil, "report", dir, other, "-o", out+"/both", "--figures", "cdf")
	if code != 0 || !strings.Contains(printed, out+"/both/s1/report.html") {
		t.Errorf("two sessions: exit code %d, %s%s", code, printed, errs)
	}
}
