package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// submitHostile gives the session in root/h call sites, executors and submissions with hostile names.
func submitHostile(t *testing.T, root string, names []string) {
	t.Helper()
	w, err := store.OpenWriter(root, "h", "h")
	if err != nil {
		t.Fatal(err)
	}
	p := &store.Part{Range: store.Range{From: 2, To: 2}}
	for i, name := range names {
		id := uint32(i + 1)
		p.Sites = append(p.Sites, store.Site{ID: id, Class: name, Method: name, File: name, Line: -1})
		p.Executors = append(p.Executors, store.Executor{ID: id, Class: name, Name: name})
		at, task := 2*ms+units.MonoNs(id)*ms, uint64(1000+id)
		p.Submissions = append(p.Submissions, store.Submission{TaskID: task, Class: id, Thread: id, Executor: id, Site: id, AtNs: at})
		p.Creations = append(p.Creations, store.Creation{TaskID: task, Class: id, Thread: id, AtNs: at - us, Site: id})
		p.Executions = append(p.Executions, store.Execution{TaskID: task, Class: id, Thread: id, StartNs: at + us, EndNs: at + 2*us, SubmittedNs: at, Site: id,
			WallNs: us, CPUNs: us, SelfWallNs: us, SelfCPUNs: us})
		p.Blockers = append(p.Blockers, store.Blocker{ID: id, Class: name, Lock: name})
		p.Waits = append(p.Waits, store.Wait{Kind: "park", Thread: id, Blocker: id, StartNs: int64(at + us), EndNs: int64(at + 2*us), Waker: id, Holder: id, Within: id, Site: id},
			store.Wait{Kind: name, Thread: id, Blocker: id, StartNs: int64(at + 3*us), EndNs: int64(at + 4*us)})
	}
	p.Pauses = []store.Pause{{StartNs: int64(3 * ms), EndNs: int64(4 * ms)}}
	w.Manifest.Submissions = &store.RecordAccount{Produced: uint64(len(names))}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
}

// schedule gives the session a scheduling record whose threads, collectors and causes have these names.
func schedule(t *testing.T, dir string, names []string) {
	t.Helper()
	why := map[string]string{}
	for _, name := range names {
		why[name] = name
	}
	w, err := sched.Create(filepath.Join(dir, sched.Folder), sched.Record{Source: "perf", PID: 1, NotAvailable: why})
	if err != nil {
		t.Fatal(err)
	}
	p := sched.Part{From: ms, To: 101 * ms}
	for i, name := range names {
		p.Threads = append(p.Threads, sched.ThreadRow{Index: uint32(i), Thread: sched.Thread{TID: int32(101 + i), Name: name, First: ms, Last: 101 * ms, CPU: 50 * units.Ns(ms)}})
		p.Slices = append(p.Slices, sched.Slice{Thread: uint32(i), State: sched.Running, From: ms, To: 51 * ms}, sched.Slice{Thread: uint32(i), State: sched.Futex, From: 51 * ms, To: 101 * ms})
		p.GC = append(p.GC, sched.GCSample{At: 3*ms + units.MonoNs(i), Collector: name, Cause: name, Invocations: int64(i + 1), Entry: units.Ns(2 * ms), Exit: units.Ns(3 * ms)})
	}
	if err := w.Write(&p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(why); err != nil {
		t.Fatal(err)
	}
}

// The verbs that TestHostileNames does not call: none sends a name to the
// terminal that does something there, makes a formula of it, or breaks its own
// format over it, and the figures hold no element that a name brought.
func TestHostileNamesEverywhere(t *testing.T) {
	names := slices.Sorted(maps.Values(attacks))
	root := t.TempDir()
	dir := makeHostile(t, root, names)
	submitHostile(t, root, names)
	schedule(t, dir, names)
	for _, args := range [][]string{
		{"hotspots", dir, "--by", "site"}, {"hotspots", dir, "--by", "executor"}, {"hotspots", dir, "--units"}, {"hotspots", dir, "--by", "site", "--units"},
		{"tasks", dir, "--units"}, {"stats", dir, "--units"}, {"threads", dir, "--counters"}, {"bottle", dir}, {"bottle", dir, "--group", "pool"},
		{"bottle", dir, "--every", "50ms"}, {"gc", dir}, {"gc", dir, "--class", "*"}, {"stack", dir, dir, "--threads", "2", "--workers", "*"},
		{"waits", dir}, {"waits", dir, "--by", "site"}, {"waits", dir, "--by", "unit"}, {"waits", dir, "--by", "thread"},
		{"tgp", "fine", dir}, {"tgp", "coarse", dir, "--min-gran", "0"}, {"tgp", "diagnose", dir},
	} {
		for _, format := range []string{"table", "csv", "json"} {
			what := strings.Join(args, " ") + " " + format
			code, out, errs := shadow(t, nil, append(slices.Clone(args), "--format", format)...)
			if code != 0 {
				t.Errorf("%s: exit code %d: %s", what, code, errs)
				continue
			}
			printed(t, what, out+errs)
			switch format {
			case "csv":
				checkCSV(t, what, out)
			case "json":
				for d := json.NewDecoder(strings.NewReader(out)); d.More(); {
					var v any
					if err := d.Decode(&v); err != nil {
						t.Errorf("%s: %v", what, err)
						break
					}
				}
			}
		}
	}
	code, out, errs := shadow(t, nil, "waits", dir, "--format", "collapsed")
	if printed(t, "waits collapsed", out+errs); code != 0 || strings.Count(out, "\n") == 0 {
		t.Errorf("waits collapsed: exit code %d: %s", code, errs)
	}
	code, out, errs = shadow(t, nil, "stats", dir, "--check")
	printed(t, "stats --check", out+errs)
	if code > 1 { // 1: these threads do not agree with the kernel's account
		t.Errorf("stats --check: exit code %d: %s", code, errs)
	}
	hostileFigures(t, dir)
	hostileTraces(t, dir)
}

func hostileFigures(t *testing.T, dir string) {
	t.Helper()
	for verb, args := range map[string][]string{"bottle": {dir}, "gc": {dir}, "stack": {dir, dir, "--threads", "2", "--workers", "*"}} {
		file := filepath.Join(t.TempDir(), verb+".svg")
		code, out, errs := shadow(t, nil, append([]string{verb, "-o", file}, args...)...)
		printed(t, verb+" -o", out+errs)
		b, err := os.ReadFile(file)
		if code != 0 || err != nil {
			t.Errorf("%s: exit code %d, %v: %s", verb, code, err, errs)
			continue
		}
		checkXML(t, file, b)
		printed(t, file, string(b))
	}
}

// hostileTraces: a trace in tgp's format has as many lines and cells whatever the
// names, and what is made of it again is a session.
func hostileTraces(t *testing.T, dir string) {
	t.Helper()
	traces := filepath.Join(t.TempDir(), "traces")
	code, out, errs := shadow(t, nil, "tasks", dir, "--format", "tgp", "-o", traces)
	printed(t, "tasks --format tgp", out+errs)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	files, err := filepath.Glob(filepath.Join(traces, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("files of tgp: %v, %v", files, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		printed(t, file, string(b))
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll() // all of as many cells
		if lines := bytes.Count(b, []byte("\n")); err != nil || len(rows) != lines {
			t.Errorf("%s: %d rows in %d lines, %v", file, len(rows), lines, err)
		}
	}
	for i, args := range [][]string{{"tgp", "diagnose", traces}, {"tgp", "fine", traces}, {"import", "tgp", filepath.Join(traces, "tasks.csv"), "-o", filepath.Join(t.TempDir(), "again")}} {
		code, out, errs := shadow(t, nil, args...)
		printed(t, fmt.Sprint(args[:2]), out+errs)
		if code != 0 {
			t.Errorf("%d: %v: exit code %d: %s", i, args[:2], code, errs)
		}
	}
}
