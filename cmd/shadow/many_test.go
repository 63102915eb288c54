package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/store/storetest"
)

// manyVerbs are the commands that read a session, without its folder; OUT is a folder for files, SAME the session.
var manyVerbs = []string{
	"stats", "stats --units", "stats --app --format json", "stats --check",
	"hotspots", "hotspots --units", "hotspots --by site --units", "hotspots --by executor", "hotspots --by executor --units", "hotspots --by executor --each",
	"hotspots --by thread", "hotspots --by context",
	"tasks --format csv", "tasks --units --format csv", "tasks --format parquet -o OUT/tasks.parquet", "tasks --format tgp -o OUT/tgp",
	"report -o OUT/report.html", "report -o OUT/figures --figure-format svg",
	"threads", "threads --group pool", "bottle", "bottle --group pool", "bottle --every 10ms", "bottle -o OUT/bottle.svg",
	"gc", "gc --class *", "latency --class *", "latency --class app.Task0",
	"waits", "waits --by site", "waits --by unit", "waits --by thread", "waits --by wait", "waits --format collapsed",
	"path", "path --by kind", "path --by part --format csv", "whatif --faster app.Task0=2", "whatif --cpus 16", "why", "stack", "warmup --every 10ms",
	"monitors", "vertical", "vertical --every task:app.Task0 --samples --format csv",
	"check --fail-if cpu_ns.max>1s", `check --allow-empty --fail-if executor("*pool*").executions>1000000000`,
	"export --format perfetto -o OUT/a.pftrace", "export --format jfr -o OUT/a.jfr", "export --format duckdb -o OUT/a.sql",
	"export --format otlp -o OUT/a.jsonl", "export --format pprof -o OUT/a.pb.gz", "export --format collapsed -o OUT/a.txt",
	"diff SAME", "diff SAME --by all", "diff SAME --units", "tgp fine", "tgp coarse --min-gran 0", "tgp diagnose",
}

// mostGrowth is how many times the processor time may be of ten times as many. What a command does in any case makes it
// fewer than ten, and what others do on the machine more; pairs of them are a hundred times as many.
const mostGrowth = 40

// TestVeryMany: with ten times the executors, classes, sites and threads a command takes about ten times the processor time.
// In full, it tries a hundred thousand, also summarised and of each by themselves.
func TestVeryMany(t *testing.T) {
	n := 1_500
	many := map[string]func(n int) storetest.Many{
		"of all": func(n int) storetest.Many { return storetest.Many{Executors: n, Classes: n, Sites: n, Threads: n} },
	}
	if os.Getenv("STACKAGENT_TORTURE") == "full" {
		n = 100_000
		many["summaries"] = func(n int) storetest.Many { // of three at once, so a third of each
			return storetest.Many{Executors: n / 3, Classes: n / 3, Sites: n / 3, Summarised: true}
		}
		many["executors"] = func(n int) storetest.Many { return storetest.Many{Executors: n} }
		many["classes"] = func(n int) storetest.Many { return storetest.Many{Classes: n} }
		many["sites"] = func(n int) storetest.Many { return storetest.Many{Sites: n} }
		many["threads"] = func(n int) storetest.Many { return storetest.Many{Threads: n} }
	}
	for name, of := range many {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			few, err := of(n/10).Write(root, "few")
			if err != nil {
				t.Fatal(err)
			}
			many, err := of(n).Write(root, "many")
			if err != nil {
				t.Fatal(err)
			}
			for _, verb := range manyVerbs {
				if name == "summaries" && strings.HasPrefix(verb, "warmup") {
					continue // it refuses them, as it cannot date them
				}
				growth(t, verb, n, name, func() time.Duration { return cpuOf(t, few, verb) }, func() time.Duration { return cpuOf(t, many, verb) })
			}
		})
	}
}

// growth checks what a command takes with few and with ten times as many, which are n. If that is too much, it measures
// again and takes the mean of the small runs, as one is too short to mean much, and the minimum of the large ones.
func growth(t *testing.T, verb string, n int, name string, few, many func() time.Duration) {
	t.Helper()
	least, most := few(), many()
	for runs := 1; runs < 10 && most > mostGrowth*least; runs++ {
		least = (time.Duration(runs)*least + few()) / time.Duration(runs+1)
		if runs%4 == 0 {
			most = min(most, many())
		}
	}
	grew(t, verb, n, name, least, most)
}

// grew checks the processor time with a tenth of n and with n.
func grew(t *testing.T, verb string, n int, name string, least, most time.Duration) {
	t.Helper()
	if most > mostGrowth*least {
		t.Errorf("%s: %v of processor time with %d %s, %v with %d", verb, least, n/10, name, most, n)
	}
	if testing.Verbose() {
		t.Logf("%-9s %-60s %8v %8v", name, verb, least.Round(time.Millisecond), most.Round(time.Millisecond))
	}
}

// cpuOf is the processor time of a command on a session.
func cpuOf(t *testing.T, dir, verb string) time.Duration {
	t.Helper()
	words := strings.Fields(strings.NewReplacer("OUT", filepath.ToSlash(t.TempDir()), "SAME", dir).Replace(verb))
	at := 1
	if words[0] == "tgp" {
		at = 2
	}
	var out, errs bytes.Buffer
	env := console.Env{In: strings.NewReader(""), Out: &out, Err: &errs, Environ: os.Environ(), Now: time.Now,
		Executable: func() (string, error) { return "/nowhere/shadow", nil }}
	before := cpuUsed(t)
	if code := Run(context.Background(), slices.Insert(words, at, dir), env); code != 0 {
		t.Errorf("%s: exit code %d: %s", verb, code, errs.String())
	}
	return cpuUsed(t) - before
}

// cpuUsed is the processor time of the test so far.
func cpuUsed(t *testing.T) time.Duration {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestManyExecutorsAreOneRow: those made at one line are one row with their number, so that none of the work is hidden.
func TestManyExecutorsAreOneRow(t *testing.T) {
	const n = 500
	dir, err := storetest.Many{Executors: n}.Write(t.TempDir(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		rows int
	}{{nil, 1}, {[]string{"--each"}, n}} {
		var rows []struct {
			Executor              string
			Executors, Executions int64
		}
		code, out, errs := shadow(t, nil, append([]string{"hotspots", dir, "--by", "executor", "--units", "--format", "json"}, c.args...)...)
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
			t.Fatalf("%v: exit code %d, %v: %s", c.args, code, err, errs)
		}
		count, all := 0, int64(0)
		for _, r := range rows {
			if strings.Contains(r.Executor, "Serial, Main.java:8") {
				count++
				all += r.Executors
				if r.Executions != r.Executors {
					t.Errorf("%v: %+v, but each executor ran one task", c.args, r)
				}
			}
		}
		if count != c.rows || all != n {
			t.Errorf("%v: %d rows of %d executors, want %d of %d", c.args, count, all, c.rows, n)
		}
	}
	code, out, errs := shadow(t, nil, "hotspots", dir, "--by", "executor", "--units")
	if code != 0 || !strings.Contains(out, fmt.Sprintf(" %d  ", n)) || strings.Count(out, "Serial") != 1 {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	if code, _, errs := shadow(t, nil, "hotspots", dir, "--each"); code != 2 || !strings.Contains(errs, "--by executor") {
		t.Errorf("--each without --by executor: exit code %d: %s", code, errs)
	}
}
