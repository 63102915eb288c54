package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// growingSession stores 40 tasks in 4 parts, all of them executed, and keeps the manifest as it was after
// each part.
func growingSession(t *testing.T, ended string) (dir string, manifests [][]byte) {
	t.Helper()
	w, err := store.OpenWriter(t.TempDir(), "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	const from, perPart = units.MonoNs(1_000 * ms), 10
	w.Manifest = store.Manifest{Session: "s1", StartNs: from, Metrics: []string{"wall", "cpu"},
		JVM: store.JVM{PID: 42, Host: "box", Version: "21.0.2", MainClass: "com.acme.Main", GC: "G1", CPUs: 2}}
	for part := range uint64(4) {
		p := &store.Part{Range: store.Range{From: part + 1, To: part + 1}}
		if part == 0 {
			p.Classes = []store.Class{{ID: 1, Name: "com.acme.Job", Kinds: "runnable"}}
			p.Threads = []store.Thread{{ID: 1, JavaID: 1, OSID: 100, Name: "main", Group: "main", Class: "java.lang.Thread"}}
		}
		for i := range uint64(perPart) { // the executions lag a part behind the creations, but for the last
			id := part*perPart + i + 1
			p.Creations = append(p.Creations, store.Creation{TaskID: id, Class: 1, Thread: 1, AtNs: from + units.MonoNs(id*ms)})
			if part > 0 {
				p.Executions = append(p.Executions, jobOf(id-perPart, from))
			}
			if part == 3 {
				p.Executions = append(p.Executions, jobOf(id, from))
			}
		}
		w.Manifest.EndNs = from + units.MonoNs((part+1)*20*ms)
		w.Manifest.Produced.Executions += uint64(len(p.Executions))
		w.Manifest.Produced.Creations += uint64(len(p.Creations))
		if part == 3 {
			w.Manifest.Ended = ended
		}
		if err := w.Commit(p); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(w.Dir(), store.ManifestName))
		if err != nil {
			t.Fatal(err)
		}
		manifests = append(manifests, b)
	}
	return w.Dir(), manifests
}

func jobOf(id uint64, from units.MonoNs) store.Execution {
	start := from + units.MonoNs(id*ms+100*us)
	return store.Execution{TaskID: id, Class: 1, Thread: 1, StartNs: start, EndNs: start + 100*us, WallNs: 100 * us, CPUNs: 100 * us, SelfWallNs: 100 * us, SelfCPUNs: 100 * us}
}

// says what the verbs say of a session.
type says struct {
	code                int
	stats, table, page  string
	notes               string
	Never, Executions   int64
	Incomplete, Hotspot bool
}

func ask(t *testing.T, dir string, flags ...string) says {
	t.Helper()
	run := func(args ...string) (string, bool) {
		code, out, errs := shadow(t, nil, append(append(args, dir), flags...)...)
		if code != 0 && (code != 1 || out != "" || !strings.Contains(errs, "damaged") && !strings.Contains(errs, store.ManifestName)) {
			t.Errorf("%q: exit code %d: %s%s", args, code, out, errs)
		}
		return out + "\x00" + errs, code == 0
	}
	var x says
	out, ok := run("stats")
	if !ok {
		x.code = 1
		return x
	}
	x.stats, x.notes, _ = strings.Cut(out, "\x00")
	out, _ = run("hotspots")
	x.table, _, _ = strings.Cut(out, "\x00")
	out, _ = run("stats", "--format", "json")
	out, _, _ = strings.Cut(out, "\x00")
	var s struct {
		Tasks struct {
			Executions int64
			Never      int64 `json:"never_executed"`
		}
		Incomplete *struct {
			Why    []string
			AtMost []string `json:"at_most"`
		}
	}
	if err := json.Unmarshal([]byte(out), &s); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	x.Never, x.Executions = s.Tasks.Never, s.Tasks.Executions
	x.Incomplete = s.Incomplete != nil && len(s.Incomplete.Why) > 0 && slices.Contains(s.Incomplete.AtMost, "tasks.never_executed")
	out, _ = run("hotspots", "--format", "json")
	x.Hotspot = strings.Contains(out, `"never_executed_at_most": true`)
	page := filepath.Join(t.TempDir(), "r.html")
	run("report", "-o", page)
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, data, _ := strings.Cut(string(b), `id="data">`) // the script and its texts are no part of what is said
	x.page, _, _ = strings.Cut(data, "</script>")
	return x
}

// whole holds what is said of a session of which nothing is missing.
func (x *says) whole(t *testing.T, what string) {
	t.Helper()
	if x.code != 0 || x.Never != 0 || x.Executions != 40 || x.Incomplete || strings.Contains(x.stats+x.notes+x.page, "incomplete") ||
		!strings.Contains(x.page, "Nothing was lost.") || strings.Contains(x.page, `"never_at_most":true`) {
		t.Errorf("%s: %+v", what, x.stats)
	}
}

// incomplete holds what is said of one of which something is.
func (x *says) incomplete(t *testing.T, what string) {
	t.Helper()
	if !x.Incomplete || !strings.Contains(x.stats, "\nincomplete ") || !strings.Contains(x.notes, "the session is incomplete: ") ||
		!strings.Contains(x.page, `"account":"This session is incomplete: `) {
		t.Errorf("%s: not marked as incomplete:\n%s%s", what, x.stats, x.notes)
	}
	for _, lie := range []string{"ended: cleanly\n", "Nothing was lost"} {
		if strings.Contains(x.stats+x.page, lie) {
			t.Errorf("%s: says %q", what, lie)
		}
	}
	if x.Never > 0 && (!x.Hotspot || !strings.Contains(x.stats, "never executed: at most ") || !strings.Contains(x.page, `"never_at_most":true`) || !strings.Contains(x.table, "≤")) {
		t.Errorf("%s: %d tasks never executed, not marked as a bound:\n%s%s", what, x.Never, x.stats, x.table)
	}
}

// Sessions are cut at many places. Each file that is short or gone is an error that names it, and with
// --damaged what is left is shown as what it is. No task of the program was never executed.
func TestCutSession(t *testing.T) {
	dir, _ := growingSession(t, store.EndedExit)
	x := ask(t, dir)
	x.whole(t, "nothing is cut")
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ".lock") {
			continue
		}
		path := filepath.Join(dir, e.Name())
		good, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(good) == 0 {
			continue
		}
		files++
		places := []int{-1, len(good) / 2, len(good) - 1}
		if os.Getenv("STACKAGENT_TORTURE") == "full" {
			places = append(places, 0, 1, len(good)/3, len(good)-9)
		}
		for _, keep := range places {
			what := e.Name() + " cut"
			if keep < 0 {
				what = e.Name() + " gone"
				err = os.Remove(path)
			} else {
				err = os.WriteFile(path, good[:keep], 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if x := ask(t, dir); x.code == 0 {
				t.Errorf("%s: not refused without --damaged", what)
			}
			if x := ask(t, dir, "--damaged"); x.code == 0 {
				x.incomplete(t, what)
			} else if e.Name() != store.ManifestName {
				t.Errorf("%s: --damaged reads nothing", what)
			}
			if err := os.WriteFile(path, good, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if files < 8 {
		t.Errorf("only %d files were cut", files)
	}
}

// A manifest that is older than the parts is what a shadow leaves that is killed between both.
func TestOlderManifest(t *testing.T) {
	dir, manifests := growingSession(t, store.EndedExit)
	for i, b := range manifests[:3] {
		if err := os.WriteFile(filepath.Join(dir, store.ManifestName), b, 0o600); err != nil {
			t.Fatal(err)
		}
		x := ask(t, dir)
		if x.code != 0 {
			t.Errorf("manifest %d: refused", i)
			continue
		}
		x.incomplete(t, "older manifest")
		if x.Executions != 40 || !strings.Contains(x.stats, "still running: not known") {
			t.Errorf("manifest %d: %d executions:\n%s", i, x.Executions, x.stats)
		}
	}
}

// A session without an end says until when it is recorded, whatever it ended by.
func TestNoEnd(t *testing.T) {
	for _, ended := range []string{store.EndedRunning, store.EndedLostContact, store.EndedClosed, store.EndedElsewhere} {
		dir, manifests := growingSession(t, ended)
		for _, name := range []string{store.PartName(store.Executions, 4, 4), store.PartName(store.Creations, 4, 4)} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, store.ManifestName), manifests[2], 0o600); err != nil {
			t.Fatal(err)
		}
		x := ask(t, dir)
		x.incomplete(t, "without its last part")
		if x.Never != 10 || !strings.Contains(x.stats, "nothing is recorded after 60.0 ms") || !strings.Contains(x.page, `{"label":"never executed","value":10,"note":"at most: `) {
			t.Errorf("ended %q: %d never executed:\n%s", ended, x.Never, x.stats)
		}
		whole, _ := growingSession(t, ended)
		x = ask(t, whole)
		x.incomplete(t, "ended "+ended)
		if x.Never != 0 || !strings.Contains(x.stats, "nothing is recorded after 80.0 ms") {
			t.Errorf("ended %q: %d never executed:\n%s", ended, x.Never, x.stats)
		}
	}
}
