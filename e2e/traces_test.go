package e2e_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/shadow/session"
)

// tracesOf counts the executions of the program's classes by class, trace and span, as examples/traces prints them.
func tracesOf(rows []map[string]string) map[string]int {
	got := map[string]int{}
	for _, r := range rows {
		if !strings.HasPrefix(r["class"], "Main$") || r["execution"] == "" {
			continue
		}
		where := "-"
		if r["trace_id"] != "" {
			where = r["trace_id"] + " " + r["span_id"]
		}
		got[r["class"]+" "+where]++
	}
	return got
}

// checkTraces compares them with what the program prints, which it gives.
func checkTraces(t *testing.T, rows []map[string]string, stdout string) (want map[string]int) {
	t.Helper()
	want = map[string]int{}
	for line := range strings.Lines(stdout) {
		want[strings.TrimSpace(line)]++
	}
	got := tracesOf(rows)
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if got[key] != want[key] {
			t.Errorf("%d executions of %q, want %d", got[key], key, want[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if want[key] == 0 {
			t.Errorf("%d executions of %q, which the program had not", got[key], key)
		}
	}
	return want
}

// TestTraces: each task that is handed over or executed in a span has it, and none has one without.
func TestTraces(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "traces")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := o.Command(t, jdk)
			cmd.Agent = []string{"--detail", "all"}
			p := cmd.Session(t)
			rows := p.Tasks(t)
			for _, wrong := range o.Compare(p.Hotspots(t), rows) {
				t.Error(wrong)
			}
			want := checkTraces(t, rows, p.Stdout)
			one := fmt.Sprintf("%032x", 0xABCDEF00+7)
			for key, n := range tracesOf(p.CSV(t, "tasks", p.Dir, "--trace", one)) {
				if !strings.Contains(key, one) || want[key] != n {
					t.Errorf("--trace: %d executions of %q, want %d", n, key, want[key])
				}
			}
			tracesStored(t, p)
		})
	}
}

// tracesStored checks that all records of traces were stored.
func tracesStored(t *testing.T, p testjvm.Profile) {
	t.Helper()
	s, err := session.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if a := s.Manifest.Traces; a == nil || a.Produced == 0 || a.Stored != a.Produced || a.Lost != 0 {
		t.Errorf("account of the traces: %+v", a)
	}
}

// TestTracesOff: without traces nothing of the tracing library is looked at; without submissions the executions are.
func TestTracesOff(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "traces")
	jdk := testjvm.JDKsInTurn(t)[0]
	cmd := o.Command(t, jdk)
	cmd.Agent = []string{"--detail", "all", "--traces", "off"}
	p := cmd.Session(t)
	for key := range tracesOf(p.Tasks(t)) {
		if !strings.HasSuffix(key, " -") {
			t.Errorf("--traces off: %s", key)
		}
	}
	cmd.Agent = []string{"--detail", "all", "--submissions=false"}
	served := 0
	for key, n := range tracesOf(cmd.Session(t).Tasks(t)) {
		if strings.HasPrefix(key, "Main$Serving 0") {
			served += n
		}
	}
	if served != 60 {
		t.Errorf("--submissions false: %d executions of Main$Serving have a trace, want 60", served)
	}
}

// TestAttachTraces: an agent that attaches when the tracing library is loaded sees each span that becomes current from then
// on; twice.
func TestAttachTraces(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			g := startAgain(t, jdk, "examples/traces")
			for range 2 {
				var printed string
				p := g.attached(t, func() { printed = g.again(t) }, "--detail", "all")
				checkTraces(t, p.Tasks(t), printed)
				tracesStored(t, p)
			}
			g.close(t)
		})
	}
}
