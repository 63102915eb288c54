package serve

import (
	"bytes"
	"errors"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/store"
)

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
}

// TestLogOfTrouble: with a log, trouble is in it once and there are no notes; names cannot act on a terminal.
func TestLogOfTrouble(t *testing.T) {
	var out bytes.Buffer
	env := console.Env{Err: &out}
	env.Log = slog.New(slog.DiscardHandler)
	live := newServeLive(env, "")
	live.Problem("s", errors.New("disk"))
	live.Refused("subject", 1, errors.New("why"))
	live.ForeignRow(errors.New("why"), 1)
	live.Crowded(1, 2)
	if out.Len() > 0 {
		t.Errorf("notes beside the log: %s", out.String())
	}
	env.Log = (&logFlags{format: "json"}).logger(env)
	live = newServeLive(env, "")
	live.logProgress(ingest.Progress{Session: "a\u009b2J\u202e", Folder: "f", Ended: store.EndedRunning})
	if strings.ContainsAny(out.String(), "\u009b\u202e") || !strings.Contains(out.String(), "session began") {
		t.Errorf("record %q", out.String())
	}
}
