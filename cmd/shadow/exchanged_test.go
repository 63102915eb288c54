package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackagent/shadow/store"
)

// What was seen to pass without a word: columns of another table, a part of
// another session, a flipped byte in a dictionary, counters cut or gone, numbers
// of the manifest edited, and a manifest made older so that it has no checksums.
// Each is named, exit code 1; --damaged reads what is left, and says so.
func TestExchangedParts(t *testing.T) {
	sites, creations := store.PartName(store.Sites, 3, 4), store.PartName(store.Creations, 3, 4)
	executors := store.PartName(store.Executors, 3, 4)
	other := tortureSession(t, t.TempDir(), 3)
	for what, c := range map[string]struct {
		damage func(t *testing.T, dir string) error
		names  string // the file
		verb   string
	}{
		"columns of another table": {func(_ *testing.T, dir string) error {
			return copyFile(filepath.Join(dir, creations), filepath.Join(dir, sites))
		}, sites, "hotspots"},
		"a part of another session": {func(_ *testing.T, dir string) error {
			return copyFile(filepath.Join(other, creations), filepath.Join(dir, creations))
		}, creations, "stats"},
		"a flipped byte in a dictionary": {func(t *testing.T, dir string) error {
			return change(t, filepath.Join(dir, executors), "ThreadPoolExecutor", "Thre?dPoolExecutor")
		}, executors, "hotspots"},
		"counters cut":    {func(_ *testing.T, dir string) error { return os.Truncate(filepath.Join(dir, "counters.json"), 100) }, "counters.json", "threads"},
		"counters gone":   {func(_ *testing.T, dir string) error { return os.Remove(filepath.Join(dir, "counters.json")) }, "counters.json", "threads"},
		"the record gone": {func(_ *testing.T, dir string) error { return os.RemoveAll(filepath.Join(dir, "sched")) }, "record.json", "stats"},
		"produced edited": {func(t *testing.T, dir string) error {
			return change(t, filepath.Join(dir, store.ManifestName), `"executions": 9,`, `"executions": 49,`)
		}, store.ManifestName, "stats"},
		"a manifest made older": {func(t *testing.T, dir string) error {
			path := filepath.Join(dir, store.ManifestName)
			b, err := os.ReadFile(path)
			b = regexp.MustCompile(`"version": \d+`).ReplaceAll(b, []byte(`"version": 2`))
			b = regexp.MustCompile(`(?s),\s*"files": .*`).ReplaceAll(b, []byte("\n}\n"))
			return errors.Join(err, os.WriteFile(path, b, 0o600), copyFile(filepath.Join(other, creations), filepath.Join(dir, creations)))
		}, "-1-1.parquet", "stats"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := tortureSession(t, t.TempDir(), 0)
			if code, _, errs := shadow(t, nil, c.verb, dir, "--format", "json"); code != 0 || errs != "" && strings.Contains(errs, "damaged") {
				t.Fatalf("the good session: exit code %d: %s", code, errs)
			}
			if err := c.damage(t, dir); err != nil {
				t.Fatal(err)
			}
			code, out, errs := shadow(t, nil, c.verb, dir, "--format", "json")
			if code != 1 || out != "" || !strings.Contains(errs, c.names) || !strings.Contains(errs, "--damaged") {
				t.Errorf("exit code %d, %q, %s", code, out, errs)
			}
			code, out, errs = shadow(t, nil, "stats", dir, "--format", "json", "--damaged")
			var s struct {
				NotAvailable map[string]string `json:"not_available"`
				Balance      struct{ State string }
			}
			if err := json.Unmarshal([]byte(out), &s); code != 0 || err != nil {
				t.Fatalf("--damaged: exit code %d, %v: %s", code, err, errs)
			}
			if s.NotAvailable["totals"] == "" || s.Balance.State != store.BalanceUnknown || !strings.Contains(errs, c.names) {
				t.Errorf("--damaged: %+v, %s", s, errs)
			}
		})
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	return errors.Join(err, os.WriteFile(to, b, 0o600))
}

// change puts a text in the place of another, which must be there.
func change(t *testing.T, path, from, to string) error {
	t.Helper()
	b, err := os.ReadFile(path)
	if !bytes.Contains(b, []byte(from)) {
		t.Fatalf("%s does not have %q in it", path, from)
	}
	return errors.Join(err, os.WriteFile(path, bytes.Replace(b, []byte(from), []byte(to), 1), 0o600))
}
