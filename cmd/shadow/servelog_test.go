package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/ingest"
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
	token, err := os.ReadFile(filepath.Join(dir, tokenName))
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

func TestLogLevels(t *testing.T) {
	for _, c := range []struct {
		flags logFlags
		want  string // first letters of the levels that are logged
	}{
		{logFlags{}, ""},
		{logFlags{format: "text"}, "IWE"},
		{logFlags{level: "debug"}, "DIWE"},
		{logFlags{format: "json", level: "warn"}, "WE"},
		{logFlags{format: "text", level: "error"}, "E"},
	} {
		var out bytes.Buffer
		env := console.Env{Err: &out}
		env.Log = c.flags.logger(env)
		log := env.Logger()
		log.Debug("D")
		log.Info("I")
		log.Warn("W")
		log.Error("E")
		got := ""
		for _, m := range regexp.MustCompile(`msg"?[=:]"?([DIWE])`).FindAllStringSubmatch(out.String(), -1) {
			got += m[1]
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.flags, got, c.want)
		}
	}
	for _, args := range [][]string{{"--log-format", "xml"}, {"--log-level", "loud"}} {
		if code, _, errs := shadow(t, nil, append([]string{"serve"}, args...)...); code != exitUsage || !strings.Contains(errs, "use one of") {
			t.Errorf("%v: exit code %d: %s", args, code, errs)
		}
	}
}

// With a log, trouble is in it once and there are no notes; names cannot act on a terminal.
func TestLogOfTrouble(t *testing.T) {
	var out bytes.Buffer
	env := console.Env{Err: &out}
	env.Log = slog.New(slog.DiscardHandler)
	live := newServeLive(env)
	live.Problem("s", errors.New("disk"))
	live.Refused("subject", 1, errors.New("why"))
	live.ForeignRow(errors.New("why"), 1)
	live.Crowded(1, 2)
	if out.Len() > 0 {
		t.Errorf("notes beside the log: %s", out.String())
	}
	env.Log = (&logFlags{format: "json"}).logger(env)
	live = newServeLive(env)
	live.logProgress(ingest.Progress{Session: "a\u009b2J\u202e", Folder: "f", Ended: store.EndedRunning})
	if strings.ContainsAny(out.String(), "\u009b\u202e") || !strings.Contains(out.String(), "session began") {
		t.Errorf("record %q", out.String())
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
