package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/session/catalog"
	"stackagent/shadow/show/web/audit"
	"stackagent/shadow/store"
)

// began makes a session in dir that began at a time.
func began(t *testing.T, dir string, at time.Time) {
	t.Helper()
	w, err := store.OpenWriter(filepath.Dir(dir), filepath.Base(dir), "job")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.JVM.MainClass, w.Manifest.WallUnixNs, w.Manifest.Ended = "com.acme.Main", at.UnixNano(), store.EndedExit
	w.Manifest.StartNs, w.Manifest.EndNs = 1e9, 4e9
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// placed makes the default place: a session, a run of two JVMs, a store, and what is none of these.
func placed(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	day := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	for dir, hours := range map[string]int{"shadow-1": 1, "shadow-2/a": 3, "shadow-2/b": 2, "shadow-store/web": 4, "elsewhere": 9} {
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		began(t, dir, day.Add(time.Duration(hours)*time.Hour))
	}
	if err := os.WriteFile("shadow-x.log", []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func folders(t *testing.T, args ...string) string {
	t.Helper()
	code, out, errs := shadow(t, nil, append([]string{"sessions", "ls", "--format", "csv"}, args...)...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) == 0 || rows[0][0] != "folder" {
		t.Fatalf("%v: %s", err, out)
	}
	var all []string
	for _, r := range rows[1:] {
		all = append(all, r[0])
	}
	return strings.Join(all, " ")
}

func TestSessionsList(t *testing.T) {
	placed(t)
	if got, want := folders(t), "shadow-store/web shadow-2/a shadow-2/b shadow-1"; got != want {
		t.Errorf("the default place: %q, want %q", got, want)
	}
	if got := folders(t, "--top", "2"); got != "shadow-store/web shadow-2/a" {
		t.Errorf("--top 2: %q", got)
	}
	if got := folders(t, "shadow-2", "elsewhere"); got != "elsewhere shadow-2/a shadow-2/b" {
		t.Errorf("folders: %q", got)
	}
	if code, _, errs := shadow(t, nil, "sessions", "ls", "nowhere"); code != 1 || !strings.Contains(errs, "nowhere") {
		t.Errorf("a folder that is not there: %d %s", code, errs)
	}
	_, out, _ := shadow(t, nil, "sessions", "ls", "--format", "json", "elsewhere")
	var rows []map[string]any
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]any{"folder": "elsewhere", "session": "job", "program": "com.acme.Main", "started": "2024-03-01T21:00:00Z", "state": "exit", "duration_ns": 3e9} {
		if rows[0][name] != want {
			t.Errorf("%s is %v, want %v", name, rows[0][name], want)
		}
	}
	_, out, _ = shadow(t, nil, "sessions", "ls")
	for line := range strings.Lines(out) {
		if len([]rune(line)) > 81 {
			t.Errorf("%d columns: %s", len([]rune(line)), line)
		}
	}
}

// The folder of a fleet lists the sessions of all its days and services, and no others.
func TestSessionsOfFleet(t *testing.T) {
	t.Chdir(t.TempDir())
	day := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	const a, b, c = "fleet/sessions/date=2024-03-01/service=orders/session=a", "fleet/sessions/date=2024-03-02/service=orders/session=b", "fleet/sessions/date=2024-03-01/service=stock/session=c"
	for i, dir := range []string{a, b, c, "outside/date=2024-03-01/service=orders/session=d"} {
		began(t, "made", day.Add(-time.Duration(i)*time.Hour))
		if err := errors.Join(os.MkdirAll(filepath.Dir(dir), 0o700), os.Rename("made", dir)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../outside/date=2024-03-01", "fleet/sessions/date=2024-03-03"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll("fleet/rollups/fresh/date=2024-03-01/service=orders", 0o700); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		"fleet":                          a + " " + b + " " + c,
		"fleet/sessions":                 a + " " + b + " " + c,
		"fleet/sessions/date=2024-03-01": a + " " + c,
		"fleet/sessions/date=2024-03-01/service=stock": c,
		a: a,
	} {
		if got := folders(t, dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--older-than", "1h", "--yes", "fleet"); code != 0 || !strings.Contains(errs, "deleted 3 sessions") {
		t.Errorf("rm: %d %s", code, errs)
	}
	if got := folders(t, "outside/date=2024-03-01"); !strings.HasSuffix(got, "session=d") {
		t.Errorf("outside: %q", got)
	}
}

func TestLast(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, errs := shadow(t, nil, "stats", "last"); code != 1 || !strings.Contains(errs, "there is no session here (last is the newest one") {
		t.Errorf("without sessions: %d %s", code, errs)
	}
	placed(t)
	for _, verb := range []string{"stats", "hotspots", "tasks", "threads", "gc"} {
		if code, _, errs := shadow(t, nil, verb, "last"); code != 0 || !strings.Contains(errs, "last is shadow-store/web") {
			t.Errorf("%s last: %d %s", verb, code, errs)
		}
	}
	began(t, "last", time.Unix(1, 0))
	if code, _, errs := shadow(t, nil, "stats", "last"); code != 0 || strings.Contains(errs, "last is") {
		t.Errorf("a folder of that name: %d %s", code, errs)
	}
}

func TestSessionsRemove(t *testing.T) {
	placed(t)
	if code, _, errs := shadow(t, nil, "sessions", "rm", "last"); code != 2 || !strings.Contains(errs, "--yes") {
		t.Errorf("nobody to ask: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "shadow-2"); code != 1 || !strings.Contains(errs, "holds 2 sessions") {
		t.Errorf("a store: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "."); code != 1 {
		t.Errorf("the current directory: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm"); code != 2 {
		t.Errorf("nothing: %d %s", code, errs)
	}
	if got := folders(t); got != "shadow-store/web shadow-2/a shadow-2/b shadow-1" {
		t.Fatalf("something is gone: %s", got)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "last", "shadow-2/b/"); code != 0 || !strings.Contains(errs, "deleted 2 sessions") {
		t.Errorf("two: %d %s", code, errs)
	}
	if got := folders(t); got != "shadow-2/a shadow-1" {
		t.Errorf("left: %s", got)
	}
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC) // see shadow
	began(t, "shadow-store/old", now.Add(-48*time.Hour))
	log := "shadow-store/" + audit.Name // shadow serve makes it
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	began(t, "shadow-store/new", now)
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "--older-than", "24h", "shadow-store"); code != 0 || !strings.Contains(errs, "deleted 1 session") {
		t.Errorf("old ones: %d %s", code, errs)
	}
	if lines, err := os.ReadFile(log); err != nil || strings.Count(string(lines), "\n") != 2 || !strings.Contains(string(lines), `"action":"delete","what":"shadow-store/old","result":"done"`) {
		t.Errorf("log: %s, %v", lines, err)
	}
	if got := folders(t, "shadow-store"); got != "shadow-store/new" {
		t.Errorf("left: %s", got)
	}
	w, err := store.OpenWriter("shadow-store", "live", "live")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.CommitManifest(); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "shadow-store/live"); code != 1 || !strings.Contains(errs, "still being recorded") {
		t.Errorf("a running one: %d %s", code, errs)
	}
	hidden, err := filepath.Glob("shadow-store/.*")
	if err != nil || len(hidden) > 0 {
		t.Errorf("left: %v %v", hidden, err)
	}
}

func TestSessionsOpenAndLabel(t *testing.T) {
	placed(t)
	code, out, errs := shadow(t, nil, "sessions", "open", "shadow-2")
	if code != 0 || strings.TrimSpace(out) != "shadow-2/a/report.html" || !strings.Contains(errs, "file:///") {
		t.Errorf("open: %d %s %s", code, out, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "label", "last", "--name", "before the fix", "--note", "cold"); code != 0 {
		t.Errorf("label: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "label", "last", "--note", ""); code != 0 {
		t.Errorf("label: %d %s", code, errs)
	}
	if _, out, _ := shadow(t, nil, "sessions", "ls"); !strings.Contains(out, "before the fix") {
		t.Errorf("list: %s", out)
	}
	if b, err := os.ReadFile(filepath.Join("shadow-store/web", catalog.LabelName)); err != nil || string(b) != `{"name":"before the fix"}` {
		t.Errorf("the label: %s %v", b, err)
	}
	for _, args := range [][]string{{"last"}, {}, {"last", "--name", "a\x1b[2J"}, {"last", "--name", strings.Repeat("x", 201)}} {
		if code, _, errs := shadow(t, nil, append([]string{"sessions", "label"}, args...)...); code == 0 {
			t.Errorf("%q: %s", args, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "stats", "last"); code != 0 {
		t.Errorf("a session with a label: %d %s", code, errs)
	}
}
