package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func lines(t *testing.T, path string) (all []Entry) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var e Entry
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatalf("%q: %v", s.Text(), err)
		}
		all = append(all, e)
	}
	return all
}

func TestDo(t *testing.T) {
	path := filepath.Join(t.TempDir(), Name)
	now := func() time.Time { return time.Unix(100, 0) }
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	acted := 0
	ok := l.Do(Entry{Who: "ann\n\x1b", From: "192.0.2.1", Action: Delete, What: "a", Service: "shop"}, now, func() error { acted++; return nil })
	failed := l.Do(Entry{Who: "bob", Action: Delete, What: "b"}, now, func() error { return errors.New("in use") })
	if ok != nil || failed == nil || acted != 1 {
		t.Errorf("%v, %v, %d", ok, failed, acted)
	}
	got := lines(t, path)
	var results []string
	for _, e := range got {
		results = append(results, e.What+" "+e.Result)
	}
	if want := "a begun, a done, b begun, b in use"; strings.Join(results, ", ") != want || got[1].Who != "ann\n\x1b" || !got[1].Time.Equal(now()) || got[1].Service != "shop" {
		t.Errorf("%q, %+v", results, got)
	}
	// Another process appends, and nothing is cut off.
	again, err := OpenExisting(path)
	if err != nil || again == nil {
		t.Fatal(err)
	}
	if err := again.Do(Entry{What: "c"}, now, func() error { return nil }); err != nil || len(lines(t, path)) != 6 {
		t.Errorf("%v, %d lines", err, len(lines(t, path)))
	}
	// What cannot be logged is not done.
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if err := again.Do(Entry{What: "d"}, now, func() error { acted++; return nil }); err == nil || acted != 1 {
		t.Errorf("without a log: %v, %d", err, acted)
	}
	var none *Log
	if err := none.Do(Entry{}, now, func() error { acted++; return nil }); err != nil || acted != 2 {
		t.Error("no log keeps from acting")
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	if l, err := OpenExisting(filepath.Join(dir, Name)); l != nil || err != nil {
		t.Errorf("a log that is not there: %v, %v", l, err)
	}
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Symlink(target, link), os.Mkdir(filepath.Join(dir, "folder"), 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "folder", "none/log"} {
		if l, err := Open(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is opened: %v", name, fmt.Sprint(l))
		}
	}
}
