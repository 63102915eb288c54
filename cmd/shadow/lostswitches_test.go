package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/cmd/shadow/internal/choice"
	"stackagent/cmd/shadow/internal/console"
	"stackagent/hpc/sched"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/show/view"
)

// Lost records of switches are named wherever losses are: in the lines after a run, in the statistics and in the report.
func TestLostSwitches(t *testing.T) {
	for _, lost := range []uint64{0, 259_594} {
		dir := makeSession(t, t.TempDir())
		const from, to = units.MonoNs(1_000 * ms), units.MonoNs(1_100 * ms)
		r := &sched.Record{Source: "ebpf", PID: 42, From: from, To: to, Lost: lost, Threads: []sched.Thread{{TID: 100, Name: "java", First: from, Last: to}}}
		if err := sched.Write(dir, r, []sched.Slice{{State: sched.Unknown, From: from, To: to}}); err != nil {
			t.Fatal(err)
		}
		s, err := session.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := choice.Condense(console.Env{}, s, summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		page := filepath.Join(t.TempDir(), "r.html")
		if code, _, errs := shadow(t, nil, "report", dir, "-o", page); code != 0 {
			t.Fatalf("report: exit code %d: %s", code, errs)
		}
		html, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		_, stats, _ := shadow(t, nil, "stats", dir)
		for what, text := range map[string]string{"run": strings.Join(view.RecordedLines(sum), "\n"), "stats": stats, "report": string(html)} {
			names := strings.Contains(text, "context switches were lost") || strings.Contains(text, "259,594 context switches")
			if names != (lost > 0) || lost > 0 && strings.Contains(text, "Nothing was lost") {
				t.Errorf("%s, %d lost: %s", what, lost, text[:min(len(text), 2000)])
			}
		}
		sum.Lost.Events = 0
		if line := sum.AccountText(); strings.HasPrefix(line, "Nothing was lost") != (lost == 0) {
			t.Errorf("%d lost switches and no events: %s", lost, line)
		}
	}
}
