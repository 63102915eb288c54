package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store"
)

// keep makes an ended session in a store. It began so many seconds after 2000 s Unix time.
func keep(t testing.TB, dir, folder string, started int64) {
	t.Helper()
	w, err := store.OpenWriter(dir, folder, folder)
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest.JVM = store.JVM{MainClass: "com.acme." + folder, Host: "box", PID: int(started)}
	w.Manifest.WallUnixNs, w.Manifest.Ended = (2000+started)*int64(time.Second), store.EndedExit
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	// Older than any report: within one tick of the file system's clock a report is made again.
	past := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(dir, folder, store.ManifestName), past, past); err != nil {
		t.Fatal(err)
	}
}

// storeServer serves the store in dir.
func storeServer(dir string, sessions ...ingest.Progress) *Server {
	s := newServer(sessions...)
	s.o.Store, s.o.Now, s.catalog = dir, time.Now, catalog.New(dir)
	return s
}

func list(t *testing.T, s *Server, target string) (rows []Row, next string) {
	t.Helper()
	w := get(s, target)
	if err := json.Unmarshal(w.Body.Bytes(), &rows); w.Code != 200 || err != nil {
		t.Fatalf("%s: %d %v %s", target, w.Code, err, w.Body)
	}
	if m := regexp.MustCompile(`^<(/sessions\.json\?.*)>; rel="next"$`).FindStringSubmatch(w.Header().Get("Link")); m != nil {
		next = m[1]
	}
	return rows, next
}

func ids(rows []Row) string {
	var all []string
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return strings.Join(all, " ")
}

// A server lists the sessions of its store whoever wrote them, the newest first, and another one after it does too.
func TestWholeStore(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "old", 1)
	keep(t, dir, "new", 3)
	keep(t, dir, "mid", 2)
	if err := os.Rename(filepath.Join(dir, "mid"), filepath.Join(dir, "copied by hand (2)")); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"damaged/manifest.json": `{"format":"stackagent session","version":3,`, "damaged/executions-1-2.parquet": "x",
		"site/manifest.json": `{"name":"a web page"}`, "notes/todo.txt": "x", "token": "secret", ".bus/manifest.json": "{}",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "old"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	past := time.Unix(1000, 0)
	if err := os.Chtimes(filepath.Join(dir, "damaged", store.ManifestName), past, past); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		s := storeServer(dir, ingest.Progress{Session: "run", Folder: "run", LastBatch: time.Unix(9000, 0), Received: store.Counts{Executions: 7}},
			ingest.Progress{Session: "new", Folder: "new", Ended: store.EndedExit, Received: store.Counts{Executions: 9}})
		s.o.Data = okMaker("{}")
		rows, _ := list(t, s, "/sessions.json")
		if got := ids(rows); got != "run new copied by hand (2) old damaged" {
			t.Fatalf("sessions %q", got)
		}
		if r := rows[0]; !r.Running || r.Live != "/jvm/run" || r.Executions != 7 || r.Report != "/sessions/run/report" {
			t.Errorf("the running one: %+v", r)
		}
		if r := rows[1]; r.Running || r.Executions != 9 || r.Program != "" || r.Started != "1970-01-01T00:33:23Z" || r.State != store.EndedExit {
			t.Errorf("an ended one: %+v", r)
		}
		if r := rows[2]; r.Report != "/sessions/copied%20by%20hand%20%282%29/report" || r.Session != "mid" || r.Program != "com.acme.mid" {
			t.Errorf("the copied one: %+v", r)
		}
		if w := get(s, rows[2].Report); w.Code != 200 || !strings.Contains(w.Body.String(), `data-folder="copied by hand (2)"`) {
			t.Errorf("its report: %d %s", w.Code, w.Body)
		}
		if r := rows[4]; r.State != "damaged" || !strings.Contains(r.Damaged, "damaged") || r.Report != "" {
			t.Errorf("the damaged one: %+v", r)
		}
		if w := get(s, "/sessions/damaged/data.json"); w.Code != 404 {
			t.Errorf("data of the damaged one: %d %s", w.Code, w.Body)
		}
	}
}

func TestSearchAndPages(t *testing.T) {
	dir := t.TempDir()
	for i := range 25 {
		keep(t, dir, fmt.Sprintf("s%02d", i), int64(i/2)) // two of each start
	}
	s := storeServer(dir)
	seen := map[string]bool{}
	next := "/sessions.json?limit=10"
	for pages := 0; next != ""; pages++ {
		if pages == 1 { // one comes and one goes meanwhile: no other is passed over or seen twice
			keep(t, dir, "s99", 99)
			if err := os.RemoveAll(filepath.Join(dir, "s24")); err != nil {
				t.Fatal(err)
			}
			s.catalog.Look()
		}
		var rows []Row
		rows, next = list(t, s, next)
		for _, r := range rows {
			if seen[r.ID] {
				t.Errorf("%s is there twice", r.ID)
			}
			seen[r.ID] = true
		}
		if pages > 2 || len(rows) > 10 {
			t.Fatalf("page %d has %d rows", pages, len(rows))
		}
	}
	if len(seen) != 25 {
		t.Errorf("%d of 25 sessions", len(seen))
	}
	for q, want := range map[string]string{"s07": "s07", "ACME.S1+box": "s18 s19 s16 s17 s14 s15 s12 s13 s10 s11", "nothing": "", "s07+s08": "", "99": "s99"} {
		rows, _ := list(t, s, "/sessions.json?q="+q)
		if got := ids(rows); got != want {
			t.Errorf("%q: %q, want %q", q, got, want)
		}
	}
	rows, next := list(t, s, "/sessions.json?q=acme.s1&limit=3")
	more, _ := list(t, s, next)
	if ids(rows)+" "+ids(more) != "s18 s19 s16 s17 s14 s15" {
		t.Errorf("pages of a search: %s, %s", ids(rows), ids(more))
	}
	if got := get(s, "/sessions.json?q=acme.s1&limit=3").Header().Get("X-Total-Count"); got != "10" {
		t.Errorf("%s match", got)
	}
	for _, bad := range []string{"limit=0", "limit=1001", "limit=x", "limit=-1", "after=x", "after=~", "q=" + strings.Repeat("x", maxQuery+1)} {
		if w := get(s, "/sessions.json?"+bad); w.Code != http.StatusBadRequest {
			t.Errorf("%s: %d", bad, w.Code)
		}
	}
}

// A session that has not ended and that nobody writes to any more is not shown as running.
func TestCutOff(t *testing.T) {
	dir := t.TempDir()
	keep(t, dir, "s", 1)
	m, err := store.OpenWriter(dir, "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	m.Manifest.Ended = store.EndedRunning
	if err := m.CommitManifest(); err != nil {
		t.Fatal(err)
	}
	rows, _ := list(t, storeServer(dir), "/sessions.json")
	if !rows[0].Running || rows[0].Live != "" { // another shadow may write to it
		t.Errorf("just now: %+v", rows[0])
	}
	past := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "s", store.ManifestName), past, past); err != nil {
		t.Fatal(err)
	}
	rows, _ = list(t, storeServer(dir), "/sessions.json")
	if rows[0].Running || rows[0].State != "cut off" {
		t.Errorf("an hour later: %+v", rows[0])
	}
}
