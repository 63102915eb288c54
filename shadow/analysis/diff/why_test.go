package diff

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/session"
)

func withFindings(r *Run, list ...advice.Finding) *Run {
	r.Findings = list
	return r
}

// TestFindings: a finding is the same on both sides if its rule, class and executor are, whatever lines and figures its sentences have.
func TestFindings(t *testing.T) {
	held := advice.Finding{Rule: "held", Class: "a.A", Executor: "tax (ThreadPoolExecutor, Orders.java:12)", Title: "A waits 70 %", Worth: 7, Evidence: &advice.Unended{}}
	moved, few, itself := held, held, held
	moved.Title, moved.Executor = "A waits 30 %", "tax (ThreadPoolExecutor, Orders.java:9)"
	few.Rule, few.Title = "few-workers", "tax has too few workers"
	itself.Rule, itself.Title, itself.Worth = "waits-for-itself", "tax waits for itself", 9
	run := func(list ...advice.Finding) *Run { return withFindings(one(map[string]float64{"a.A": 1e6}), list...) }

	d := compared(t, []*Run{run(held, few)}, []*Run{run(moved, itself)})
	want := "Only in B: tax waits for itself.\nOnly in A: tax has too few workers.\nIn both: A waits 30 %."
	if got := strings.Join(d.FoundTexts(), "\n"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, x := range d.Findings {
		if x.Evidence != nil {
			t.Errorf("%s has evidence", x.Title)
		}
	}
	var out bytes.Buffer
	if err := d.Markdown(&out, d.Rows); err != nil || !strings.Contains(out.String(), "Only in B: tax waits for itself.") {
		t.Errorf("%v: %s", err, &out)
	}
	d = compared(t, []*Run{run(held), run()}, []*Run{run(), run()})
	if got := strings.Join(d.FoundTexts(), "\n"); got != "Only in A (1 of 2 in A, 0 of 2 in B): A waits 70 %." {
		t.Error(got)
	}
	if d = compared(t, []*Run{run()}, []*Run{run()}); len(d.Findings) != 0 || d.Findings == nil {
		t.Errorf("%+v", d.Findings)
	}
}

// TestCauses: the parts of a class's response times are rows, unless the session or the choice of classes has no account.
func TestCauses(t *testing.T) {
	root := t.TempDir()
	if _, err := summarytest.Generate(root, "s", 500, true); err != nil {
		t.Fatal(err)
	}
	s, err := session.Open(filepath.Join(root, "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := Gather(s, summary.Options{}, []By{Cause})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, name := range r.Names(Cause) {
		if strings.HasPrefix(name, "com.acme.fine.Step ") {
			sum += r.Rows[Key{Cause, name}]["unit_ns"]
		}
	}
	if sum <= 0 || r.NotAvailable[Cause] != "" {
		t.Errorf("the parts of com.acme.fine.Step are %v ns: %v, %v", sum, r.Names(Cause), r.NotAvailable)
	}
	filtered, err := Gather(s, summary.Options{Filter: summary.Filter{Class: "com.acme.*"}}, nil)
	if err != nil || filtered.NotAvailable[Cause] == "" || len(filtered.Names(Cause)) != 0 {
		t.Errorf("of some classes: %v, %+v", err, filtered)
	}
	d, err := Compare([]*Run{r}, []*Run{filtered}, []By{Class})
	if err != nil || d.Missing[string(Cause)] == "" {
		t.Errorf("%v: why there are no findings is not said: %v", err, d.Missing)
	}
}
