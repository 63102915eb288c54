package main

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/shadow/store"
)

// notKnown is what an import of a recording without tasks, pauses and losses says.
func notKnown(m *store.Manifest) {
	m.NotAvailable = map[string]string{store.NoExecutions: "no traced methods", store.NoCreations: "no creations", store.NoPauses: "no pause events",
		store.NoLostCount: "losses are not counted", "threw": "no exceptions"}
	m.Lost = store.Lost{}
	m.Balance = &store.Balance{State: store.BalanceUnknown, Why: "losses are not counted"}
}

// A figure that a session does not know is neither 0 nor kept: null in the JSON of stats, not available in check and diff.
func TestNotKnownIsNotZero(t *testing.T) {
	dir := makeGappy(t, t.TempDir(), notKnown)
	for name, why := range map[string]string{"tasks.executions": "no traced methods", "tasks.threads": "no traced methods", "tasks.threw": "no", "threw": "no",
		"tasks.created": "no creations", "created": "no creations", "tasks.failed": "no creations", "tasks.never_executed": "no creations", "gc.pauses": "no pause events",
		"gc.share": "no pause events", "lost.events": "losses are not counted", "cpu_ns.count": "no value of cpu_ns", "balance.sum.lost": "not available"} {
		code, out, errs := shadow(t, nil, "check", dir, "--fail-if", name+" > 1000000")
		if code != 3 || !strings.Contains(out, "not available: ") || !strings.Contains(out, why) {
			t.Errorf("%s: exit code %d: %s%s", name, code, out, errs)
		}
	}
	_, out, errs := shadow(t, nil, "stats", dir, "--format", "json")
	var stats struct {
		Tasks, GC, Lost, Metrics map[string]any
	}
	if err := json.Unmarshal([]byte(out), &stats); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	for in, names := range map[string][]string{"tasks": {"executions", "created", "never_executed", "threw", "threads"}, "gc": {"pauses", "pause_ns"}, "lost": {"events", "batches"}} {
		of := map[string]map[string]any{"tasks": stats.Tasks, "gc": stats.GC, "lost": stats.Lost}[in]
		for _, name := range names {
			if v, there := of[name]; !there || v != nil {
				t.Errorf("%s.%s is %v, want null", in, name, v)
			}
		}
	}
	if len(stats.Metrics) > 0 {
		t.Errorf("metrics of executions that are not known: %v", stats.Metrics)
	}
	known := makeSession(t, t.TempDir())
	_, out, errs = shadow(t, nil, "diff", known, dir, "--format", "json")
	var d struct {
		Missing map[string]string `json:"not_available"`
		Rows    []struct {
			Figures []struct {
				Figure string
				B      struct{ Mean *float64 }
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	if d.Missing["class"] != "no traced methods" {
		t.Errorf("classes: %q", d.Missing)
	}
	for _, f := range d.Rows[0].Figures {
		switch f.Figure {
		case "executions", "created", "never_executed", "threw", "threads", "gc_pauses", "gc_pause_ns":
			if f.B.Mean != nil {
				t.Errorf("%s is %v in a session that does not know it", f.Figure, *f.B.Mean)
			}
		}
	}
}

// A session that broke off, or lost events, says so in every format, and its bounds decide only what they can.
func TestGapsAreSaid(t *testing.T) {
	killed := makeGappy(t, t.TempDir(), func(m *store.Manifest) { m.Ended, m.Lost = store.EndedLostContact, store.Lost{} })
	lossy := makeSession(t, t.TempDir())
	for dir, want := range map[string]string{killed: "session s1 is incomplete: it has no end", lossy: "in session s1 1 event was lost"} {
		for _, format := range []string{"table", "json", "junit", "github", "markdown"} {
			_, out, errs := shadow(t, nil, "check", dir, "--fail-if", "cpu_ns.max < 0", "--format", format)
			if format == "table" {
				out += errs
			}
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q: %s", format, want, out)
			}
		}
		if _, out, errs := shadow(t, nil, "diff", dir, dir, "--format", "json"); !strings.Contains(out, want) {
			t.Errorf("diff lacks %q: %s%s", want, out, errs)
		}
	}
	for _, c := range []struct{ dir, expr, want string }{
		{killed, "tasks.never_executed > 0", "not available: it has no end"},
		{killed, "tasks.never_executed > 1000", "1 kept"},
		{killed, "tasks.running > 1000", "not available"},
		{lossy, "tasks.threw > 1", "not available: 1 event was lost"},
		{lossy, "tasks.threw > 1000", "1 kept"},
		{lossy, "tasks.executions > 0", "1 broken"},
		{lossy, "tasks.threw == 2", "not available"},
		{lossy, "tasks.executions / tasks.executions > 1000", "1 kept"},
	} {
		if _, out, errs := shadow(t, nil, "check", c.dir, "--fail-if", c.expr); !strings.Contains(out, c.want) {
			t.Errorf("%s: want %q: %s%s", c.expr, c.want, out, errs)
		}
	}
}
