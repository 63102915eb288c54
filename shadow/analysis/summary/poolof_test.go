package summary_test

import (
	"slices"
	"strings"
	"testing"

	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
)

// TestPoolOfSummarisedSubmissions: tasks whose submission is in a summary are of the pool whose worker ran them, although
// another thread ran one of the class, too: the pool has all of its work, and no worker more.
func TestPoolOfSummarisedSubmissions(t *testing.T) {
	b := newSessionBuilder(t, []string{"", "com.acme.Tiny", "com.acme.Sum"})
	b.unit = 1000 // µs
	b.part.Threads[1].Executor = 1
	for i := range uint64(2000) {
		b.exec(10+2*i, 0, 1, 2, 2, 2, 300, 1)
		b.now += 83
		if i%200 == 0 {
			b.exec(11+2*i, 0, 2, 2, 100, 100, 300, 2)
			b.part.Submissions = b.part.Submissions[:len(b.part.Submissions)-1] // it is in a summary
			b.now += 103
		}
	}
	b.exec(9000, 0, 2, 1, 100, 100, -1)
	sum, err := summary.Build(b.open(true), summary.Options{})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(sum.Findings, func(f advice.Finding) bool { return f.Rule == "fine-grained" })
	if i < 0 {
		t.Fatalf("%+v", sum.Findings)
	}
	e := sum.Findings[i].Evidence.(*advice.FineUnits)
	if want := 2000*2*1000 + 10*100*1000; int(e.Work) != want || e.Lanes != 1 {
		t.Errorf("the pool of %d workers did %d ns of work, want 1 with %d: %s", e.Lanes, e.Work, want, strings.TrimSpace(sum.Findings[i].Text))
	}
}
