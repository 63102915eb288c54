package page

import (
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
)

const milli = units.Ns(1_000_000)

func withFindings(n int, f ...advice.Finding) *summary.Summary {
	s := &summary.Summary{DurationNs: 1000 * milli, JVM: summary.JVM{CPUs: 2}, Tasks: summary.Tasks{Executions: 10}}
	for range n {
		for _, x := range f {
			x.Describe()
			s.Findings = append(s.Findings, x)
		}
	}
	return s
}

// TestVerdictCards: the first advice is the sentence, three have cards and the others are folded; facts are no cards.
func TestVerdictCards(t *testing.T) {
	fine := advice.Finding{
		Rule: "fine-grained", Kind: advice.Advice, Class: "Tax", Gain: &advice.Gain{Ns: 250 * milli, Share: 0.25},
		Evidence: &advice.FineUnits{PoolName: advice.PoolName{Label: "tax (ThreadPoolExecutor, Orders.java:5)"}, Units: 5000, Median: 2000, Gap: 90000, Active: 900 * milli, Work: 10 * milli},
	}
	fact := advice.Finding{Kind: advice.Fact, Evidence: &advice.Volume{}}
	v := verdictOf(withFindings(4, fact, fine))
	if v.Sentence != "The tasks of Tax are too small." || len(v.Cards) != maxCards || len(v.More) != 1 {
		t.Fatalf("%+v", v)
	}
	c := v.Cards[0]
	if c.Remedy != "Give each task more work (batches, a higher threshold for splitting)." || c.GainShare != 0.25 || c.Show != (Link{View: "class", Name: "Tax"}) ||
		!strings.HasPrefix(c.Evidence, "The tasks of Tax are all fine-grained") || strings.Contains(c.Evidence, c.Remedy) {
		t.Errorf("%+v", c)
	}
	if len(c.Bars) != 2 || c.Bars[0] != (Bar{"a task's work", 2000, "2.00 µs", "running"}) || c.Bars[1] != (Bar{"to the next task", 90000, "90.0 µs", "idle"}) {
		t.Errorf("%+v", c.Bars)
	}
}

// TestVerdictOfTheAccount: an obstacle leads to its executor, to the waits, or to its class; without one the sentence says what most of the time
// depends on, or that this is not known.
func TestVerdictOfTheAccount(t *testing.T) {
	obstacle := func(o account.Obstacle) Link {
		v := verdictOf(withFindings(1, advice.Finding{Kind: advice.Advice, Rule: string(o.Kind), Evidence: &advice.Obstructed{Obstacle: o}}))
		if v.Sentence != o.Title+"." || len(v.Cards[0].Bars) != 2 || v.Cards[0].Bars[0] != (Bar{"depends on this", 0.8, "80 %", "lock"}) {
			t.Errorf("%+v", v)
		}
		return v.Cards[0].Show
	}
	if got := obstacle(account.Obstacle{Kind: account.FewWorkers, Title: "p has too few workers", Share: 0.8, Executor: "p"}); got != (Link{View: "executor", Name: "p"}) {
		t.Errorf("%+v", got)
	}
	if got := obstacle(account.Obstacle{Kind: account.Held, Title: "A waits", Share: 0.8}); got != (Link{View: "waits"}) {
		t.Errorf("%+v", got)
	}
	s := withFindings(1, advice.Finding{Kind: advice.Fact, Evidence: &advice.Bound{Bound: account.Bound{Class: "A", What: "both CPUs compute", Share: 0.9, Known: true}}})
	if got := verdictOf(s).Sentence; got != "Nothing was found to stand in the way. 90 % of the time of A depends on this: both CPUs compute." {
		t.Error(got)
	}
	s.Findings[0].Evidence = &advice.Bound{Bound: account.Bound{Class: "A", What: "A waits for a condition", Share: 0.9}}
	if got := verdictOf(s).Sentence; got != "It is not known what 90 % of the time of A depends on: A waits for a condition." {
		t.Error(got)
	}
	s.Findings = nil
	if got := verdictOf(s).Sentence; got != "Nothing to change was found, but what the time depends on is not known." {
		t.Error(got)
	}
}

// TestVerdictWithoutAdvice: what takes the CPU time is said instead, and that there is no account of time.
func TestVerdictWithoutAdvice(t *testing.T) {
	thread := func(kind string, cpu units.Ns) summary.ThreadRow {
		return summary.ThreadRow{Thread: session.Thread{Kind: kind, CPU: cpu}}
	}
	s := withFindings(0)
	s.Threads = []summary.ThreadRow{thread(session.KindApplication, 500*milli), thread(session.KindMain, 50*milli), thread(session.KindCompiler, 450*milli),
		thread(session.KindGC, units.NotMeasured), {Thread: session.Thread{Kind: session.KindApplication, Virtual: true, CPU: 900 * milli}}}
	v := verdictOf(s)
	if v.Sentence != "Nothing to change was found, but what the time depends on is not known." || len(v.Cards) != 0 ||
		v.Note != "The cautions below say why. The program's own threads took 55 % of the CPU time; the largest other cost is JIT compilation (45 %). Much of such a run is warm-up: figures of a longer one may differ. The process used 1 of 2 CPUs." {
		t.Errorf("%+v", v)
	}
	s.Threads = s.Threads[:2]
	if got := verdictOf(s).Note; !strings.HasSuffix(got, "The program's own threads took 100 % of the CPU time. The process used 0.55 of 2 CPUs.") {
		t.Error(got)
	}
	s.Tasks.Executions, s.Threads = 0, nil
	if v := verdictOf(s); v.Sentence != "No task was executed in this session." || v.Note != "" {
		t.Errorf("%+v", v)
	}
}

// TestEveryAdviceHasItsLink: what the page shows of a finding is never the whole page, if it is about a class.
func TestEveryAdviceHasItsLink(t *testing.T) {
	for _, c := range []struct {
		evidence advice.Evidence
		want     Link
	}{
		{&advice.FineExecutions{ExecutionsOf: advice.ExecutionsOf{Metric: granularity.SelfCPU}}, Link{View: "class", Name: "com.acme.Job"}},
		{&advice.CostlyPauses{}, Link{View: "gc"}},
		{&advice.NeverExecuted{Class: "com.acme.Other"}, Link{View: "class", Name: "com.acme.Other"}},
	} {
		if got := linkOf(&advice.Finding{Class: "com.acme.Job", Evidence: c.evidence}); got != c.want {
			t.Errorf("%T: %+v, want %+v", c.evidence, got, c.want)
		}
	}
}
