package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/serve"
	"stackagent/shadow/store"
)

// TestServeLogJSON: every line on stderr is a JSON record; sessions have theirs with name and folder.
func TestServeLogJSON(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	errs, run := serveInBackground(t, "--store", dir, "--log-format", "json")
	line := regexp.MustCompile(`bus (nats://\S+), page`)
	busURL := ""
	eventually(t, errs, func() bool {
		if m := line.FindStringSubmatch(errs.String()); m != nil {
			busURL = m[1]
		}
		return busURL != ""
	})
	token, err := os.ReadFile(filepath.Join(dir, serve.TokenName))
	if err != nil {
		t.Fatal(err)
	}
	if err := send(busURL, string(token), "logged", true); err != nil {
		t.Fatal(err)
	}
	eventually(t, errs, func() bool { return strings.Contains(errs.String(), "session ended") })
	if code := run(); code != 0 {
		t.Errorf("exit code %d: %s", code, errs)
	}
	found := map[string]map[string]any{}
	for line := range strings.Lines(errs.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Errorf("%q is no JSON: %v", line, err)
			continue
		}
		if record["level"] == nil || record["time"] == nil {
			t.Errorf("a record without level or time: %s", line)
		}
		found[record["msg"].(string)] = record
	}
	for _, msg := range []string{"session began", "session ended"} {
		if r := found[msg]; r == nil || r["path"] != filepath.Join(dir, r["session"].(string)) {
			t.Errorf("%s: %v", msg, r)
		}
	}
	if r := found["session ended"]; r["executions"] != 3.0 || r["ended"] != store.EndedExit {
		t.Errorf("the end: %v", r)
	}
}

func TestLogFlags(t *testing.T) {
	for _, args := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}} {
		if code, _, errs := shadow(t, nil, append([]string{"serve"}, args...)...); code != console.ExitUsage || !strings.Contains(errs, "use one of") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
}

// serveInBackground runs shadow serve; stop ends it and returns its exit code.
func serveInBackground(t *testing.T, flags ...string) (errs *safeBuffer, stop func() int) {
	t.Helper()
	errs = new(safeBuffer)
	ctx, cancel := context.WithCancel(t.Context())
	env := console.Env{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: errs, Environ: os.Environ(), Executable: os.Executable, Now: time.Now}
	ended := make(chan int, 1)
	go func() {
		ended <- Run(ctx, append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, flags...), env)
	}()
	return errs, func() int { cancel(); return <-ended }
}

// eventually waits until done.
func eventually(t *testing.T, errs *safeBuffer, done func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("did not happen: %s", errs)
		}
	}
}
