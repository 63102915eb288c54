package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testobjects"
	"stackagent/shadow/exchange/export/exporttest"
	"stackagent/shadow/session/remotefs"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
	"stackagent/shadow/store/objectstore/objectstoretest"
)

// bucket is a store in a server of the test, by an address that is the only one of its bucket.
func bucket(t *testing.T) (*testobjects.Server, objectstore.Store) {
	t.Helper()
	t.Cleanup(remotefs.Forget)
	server := testobjects.Start(t)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	s, err := objectstore.Open(t.Context(), "s3://"+testobjects.Bucket+"/fleet")
	if err != nil {
		t.Fatal(err)
	}
	return server, s
}

// TestRemoteSession: a session in an object store gives what it gives on the disk, to the byte, and is not written to.
func TestRemoteSession(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_, s := bucket(t)
	key := objectstore.SessionPrefix(time.Unix(1, 0), "orders", "job")
	objectstoretest.Copy(t, s, dir, key)
	address := s.String() + "/" + key
	for _, verb := range [][]string{{"stats"}, {"stats", "--format", "json"}, {"hotspots"}, {"tasks"}, {"tasks", "--format", "csv"}, {"threads"}, {"waits"}, {"gc"}} {
		code, want, errs := shadow(t, nil, append(slices.Clone(verb), dir)...)
		remotefs.Forget() // else the next one finds all in memory
		code1, got, errs1 := shadow(t, nil, append(slices.Clone(verb), address)...)
		errs1, cost, said := strings.Cut(errs1, "shadow: the object store answered ")
		if code != code1 || got != want || errs != errs1 || code != 0 || !said || !strings.Contains(cost, " with ") {
			t.Errorf("%v: %d, %d\n%s\n%s\n%s\n%s", verb, code, code1, want, got, errs, errs1)
		}
	}
	for _, place := range []string{dir, address} {
		if code, _, errs := shadow(t, nil, "report", place, "-o", filepath.Join(t.TempDir(), "r.html")); code != 0 {
			t.Errorf("report %s: %d %s", place, code, errs)
		}
	}
	if code, _, errs := shadow(t, nil, "report", address); code != 2 || !strings.Contains(errs, "-o FILE.html") {
		t.Errorf("a report into the store: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "stats", s.String()+"/sessions/none"); code != 1 || !strings.Contains(errs, "there is no") {
		t.Errorf("a session that is not there: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "label", address, "--name", "x"); code != 1 || !strings.Contains(errs, "cannot be labelled") {
		t.Errorf("a label: %d %s", code, errs)
	}
}

// TestRemoteDamage: what an object store does not give is not called damaged; what is damaged is.
func TestRemoteDamage(t *testing.T) {
	dir, err := exporttest.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, s := bucket(t)
	objectstoretest.Copy(t, s, dir, "a")
	part, err := filepath.Glob(filepath.Join(dir, "executions-*.parquet"))
	if err != nil || len(part) != 1 {
		t.Fatal(part, err)
	}
	name := filepath.Base(part[0])
	server.Fail(func(r *http.Request) testobjects.Fault {
		if strings.HasSuffix(r.URL.Path, name) {
			return testobjects.Answer(http.StatusForbidden, "AccessDenied")
		}
		return nil
	})
	for _, args := range [][]string{{"stats"}, {"stats", "--damaged"}, {"tasks", "--damaged"}} {
		if code, _, errs := shadow(t, nil, append(args, s.String()+"/a")...); code != 1 || !strings.Contains(errs, "AccessDenied") || strings.Contains(errs, "is damaged") {
			t.Errorf("%v of a store that refuses: %d %s", args, code, errs)
		}
	}
	server.Fail(nil)
	remotefs.Forget()
	content, err := os.ReadFile(part[0])
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)/2] ^= 0xff
	if err := s.Put(t.Context(), "a/"+name, bytes.NewReader(content), int64(len(content))); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := shadow(t, nil, "stats", s.String()+"/a"); code != 1 || !strings.Contains(errs, "is damaged") {
		t.Errorf("a damaged part: %d %s", code, errs)
	}
}

// TestRemoteSessions: visible are sessions with a manifest, and a deletion begins with it.
func TestRemoteSessions(t *testing.T) {
	root := t.TempDir()
	server, s := bucket(t)
	day := time.Date(2024, 3, 1, 12, 0, 0, 0, time.UTC)
	var keys []string
	for i := range 40 {
		dir := filepath.Join(root, fmt.Sprint("s", i))
		began(t, dir, day.Add(time.Duration(i)*time.Hour))
		keys = append(keys, objectstore.SessionPrefix(day.Add(time.Duration(i)*time.Hour), fmt.Sprint("service ", i%3), fmt.Sprint("s", i)))
		objectstoretest.Copy(t, s, dir, keys[i])
		if err := s.Put(t.Context(), keys[i]+"counters.json", strings.NewReader("{}"), 2); err != nil {
			t.Fatal(err)
		}
	}
	list := func(args ...string) (dirs []string) {
		t.Helper()
		code, out, errs := shadow(t, nil, append([]string{"sessions", "ls", "--format", "json"}, args...)...)
		var rows []struct{ Folder, Program, State string }
		if err := json.Unmarshal([]byte(out), &rows); code != 0 || err != nil {
			t.Fatalf("%d %v: %s", code, err, errs)
		}
		for _, r := range rows {
			if r.Program != "com.acme.Main" || r.State != "exit" {
				t.Errorf("%+v", r)
			}
			dirs = append(dirs, r.Folder+"/")
		}
		return dirs
	}
	var want []string
	for _, k := range slices.Backward(keys) {
		want = append(want, s.String()+"/"+k)
	}
	if got := list(s.String()); !slices.Equal(got, want) {
		t.Errorf("listed: %v, want %v", got, want)
	}
	if got := list(s.String() + "/sessions/date=2024-03-01"); !slices.Equal(got, want[28:]) {
		t.Errorf("of a day: %v, want %v", got, want[28:])
	}
	if got := list(want[0]); !slices.Equal(got, want[:1]) {
		t.Errorf("one: %v", got)
	}

	// A deletion that is cut after the manifest leaves nothing visible.
	var deleted []string
	server.Fail(func(r *http.Request) testobjects.Fault {
		if r.Method != http.MethodDelete {
			return nil
		}
		if deleted = append(deleted, path.Base(r.URL.Path)); len(deleted) > 1 {
			return testobjects.Answer(http.StatusForbidden, "AccessDenied")
		}
		return nil
	})
	code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", want[0])
	if code != 1 || deleted[0] != store.ManifestName || !strings.Contains(errs, "delete it again") {
		t.Errorf("cut: %d %s; the first to go is %s", code, errs, deleted[0])
	}
	server.Fail(nil)
	if got := list(s.String()); !slices.Equal(got, want[1:]) {
		t.Errorf("after a cut deletion: %v", got)
	}
	// The test's clock is long before that of the store: what is left may be an upload that goes on.
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", want[0]); code != 1 || !strings.Contains(errs, "may be uploaded just now") {
		t.Errorf("young leftovers: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", want[1]); code != 0 || !strings.Contains(errs, "deleted 1 session") {
		t.Errorf("whole: %d %s", code, errs)
	}
	for o, err := range s.List(t.Context(), keys[38]) {
		t.Errorf("left: %+v %v", o, err)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", s.String()); code != 1 || !strings.Contains(errs, "holds 38 sessions") {
		t.Errorf("all: %d %s", code, errs)
	}
	if code, _, errs := shadow(t, nil, "sessions", "rm", "--yes", "--older-than", "1h", s.String()); code != 0 || !strings.Contains(errs, "deleted 38 sessions") {
		t.Errorf("old ones: %d %s", code, errs)
	}
	if got := list(s.String()); len(got) != 0 {
		t.Errorf("left: %v", got)
	}
}
