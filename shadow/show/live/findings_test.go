package live

import (
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
)

// A finding appears when it has held some looks, survives a look at the wrong moment, is going when it is
// gone for some, and goes. One that only flickers never appears.
func TestHysteresis(t *testing.T) {
	f := newFindings()
	x := advice.Finding{Rule: "queue-grows", Kind: advice.Advice, Executor: "tax", Title: "t", Text: "first"}
	for i, step := range []struct {
		holds bool
		want  string // "", shown, going
	}{
		{true, ""}, {true, ""}, {true, "shown"}, {false, "shown"}, {true, "shown"}, {false, "shown"}, {false, "going"}, {false, "going"}, {true, "shown"},
		{false, "shown"}, {false, "going"}, {false, "going"}, {false, "going"}, {false, ""},
		{true, ""}, {false, ""}, {true, ""}, {false, ""}, {true, ""}, {false, ""}, // flickers
	} {
		var list []advice.Finding
		if step.holds {
			list = []advice.Finding{x}
		}
		f.update(int64(i)*2*second, list)
		got := ""
		if s := f.shown(); len(s) == 1 {
			if got = "shown"; s[0].Going {
				got = "going"
			}
			if s[0].SinceNs != 0 {
				t.Errorf("step %d: since %v, want the first look", i, s[0].SinceNs)
			}
		}
		if got != step.want {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
	if len(f.states) != 0 {
		t.Errorf("left: %v", f.states)
	}
	x.Text = "second"
	for range appearAfter {
		f.update(100, []advice.Finding{x})
	}
	x.Text = "third"
	f.update(102, []advice.Finding{x, x})
	if s := f.shown(); len(s) != 1 || s[0].Text != "third" || s[0].SinceNs != 100 {
		t.Errorf("it does not change: %+v", s)
	}
	var many []advice.Finding
	for i := range 100 {
		many = append(many, advice.Finding{Rule: "r", Class: strings.Repeat("x", i)})
	}
	f.update(200, many)
	if len(f.states) != maxFindings {
		t.Errorf("%d findings are kept", len(f.states))
	}
}

// scenario runs a program of so many seconds, a batch and a look each second, and returns the findings at the end.
func scenario(t *testing.T, seconds int, each func(p *program, at float64)) (*program, []Held) {
	t.Helper()
	p := newProgram(t)
	for s := 1; s <= seconds; s++ {
		each(p, float64(s))
		p.send(float64(s))
		p.live.Evaluate()
	}
	return p, p.view().Findings
}

func rulesOf(list []Held) string {
	var names []string
	for _, f := range list {
		names = append(names, f.Rule)
	}
	return strings.Join(names, " ")
}

// busy submits tasks evenly and lets one worker run them, each as long as share of the time to the next.
func busy(p *program, from float64, n int, share float64, threw bool) {
	for i := range n {
		at := from - 1 + float64(i)/float64(n)
		task, future := p.submit(jobClass, at, true)
		p.run(task, future, jobClass, worker1, at, at+0.0001, at+0.0001+share/float64(n))
		if threw {
			p.b.Executions[len(p.b.Executions)-2].Flags = wire.Threw
		}
	}
}

func TestQuietProgram(t *testing.T) {
	if _, list := scenario(t, 60, func(p *program, at float64) { busy(p, at, 50, 0.3, false) }); len(list) != 0 {
		t.Errorf("findings about a program without problems: %+v", list)
	}
}

func TestFailingTasks(t *testing.T) {
	p, list := scenario(t, 20, func(p *program, at float64) { busy(p, at, 20, 0.3, true) })
	if rulesOf(list) != "tasks-throw" || !strings.Contains(list[0].Text, "100 % of the tasks") || list[0].Class != "com.acme.Job" {
		t.Fatalf("findings: %+v", list)
	}
	// It goes when the tasks that failed leave the window.
	gone := 0.0
	for s := 21.0; s < 200; s++ {
		busy(p, s, 20, 0.3, false)
		p.send(s)
		p.live.Evaluate()
		if len(p.view().Findings) == 0 {
			gone = s
			break
		}
	}
	if gone < 60 || gone > 140 {
		t.Errorf("gone after %v s", gone)
	}
}

func TestGrowingQueue(t *testing.T) {
	_, list := scenario(t, 40, func(p *program, at float64) {
		busy(p, at, 10, 0.5, false)
		for range 20 {
			p.submit(jobClass, at-0.5, false)
		}
	})
	if rulesOf(list) != "queue-grows" || !strings.Contains(list[0].Title, "tax (ThreadPoolExecutor, Main.java:6)") || !strings.Contains(list[0].Text, "780 tasks wait") {
		t.Errorf("findings: %+v", list)
	}
	// A long queue that does not grow is none.
	_, list = scenario(t, 40, func(p *program, at float64) {
		if at == 1 {
			for range 500 {
				p.submit(otherClass, 0.5, false)
			}
		}
		busy(p, at, 10, 0.5, false)
	})
	if rulesOf(list) != "" {
		t.Errorf("findings about a queue that does not grow: %+v", list)
	}
}

func TestRejectedTasks(t *testing.T) {
	_, list := scenario(t, 20, func(p *program, at float64) {
		busy(p, at, 10, 0.5, false)
		task, _ := p.submit(jobClass, at-0.5, false)
		p.b.Submissions = append(p.b.Submissions, wire.Submission{TaskID: task, Class: jobClass, Thread: mainThread, Executor: pool, Flags: wire.Rejected, At: tick(at - 0.4)})
	})
	if rulesOf(list) != "rejected" || !strings.Contains(list[0].Text, "19 tasks were rejected") {
		t.Errorf("findings: %+v", list)
	}
}

func TestNoProgress(t *testing.T) {
	var stuck uint64
	_, list := scenario(t, 40, func(p *program, at float64) {
		if at < 5 {
			busy(p, at, 10, 0.5, false)
			return
		}
		if at == 5 {
			stuck, _ = p.submit(otherClass, 4.9, false)
			p.submit(jobClass, 5, false)
		}
		p.batch().Running = &wire.RunningReport{At: tick(at), Threads: []wire.RunningThread{{Thread: worker1, Executions: []wire.RunningExecution{
			{TaskID: 1, Class: workerClass, Start: tick(0)}, {TaskID: stuck, Class: otherClass, Start: tick(4.95)}}}}}
	})
	if rulesOf(list) != "no-progress" || !strings.Contains(list[0].Text, "tax#21 has run com.acme.Part for 34") || !strings.Contains(list[0].Text, "jstack 7") {
		t.Errorf("findings: %+v", list)
	}
}

func TestSilentJVM(t *testing.T) {
	p, list := scenario(t, 10, func(p *program, at float64) { busy(p, at, 10, 0.3, false) })
	if len(list) != 0 {
		t.Errorf("findings: %+v", list)
	}
	for range 30 {
		p.now = p.now.Add(time.Second)
		p.live.Evaluate()
	}
	if list = p.view().Findings; rulesOf(list) != "silent" || list[0].Kind != advice.Caution || !strings.Contains(list[0].Text, "29.0 s ago") {
		t.Errorf("findings: %+v", list)
	}
}

// While sessions take turns, batches are late: a JVM of which nothing comes for no longer than that is not silent.
func TestNotSilentInTurns(t *testing.T) {
	p, _ := scenario(t, 10, func(p *program, at float64) { busy(p, at, 10, 0.3, false) })
	p.live.Turns(50 * time.Second)
	for after := range 90 {
		p.now = p.now.Add(time.Second)
		p.live.Evaluate()
		if list := p.view().Findings; after == 55 && len(list) != 0 || after == 89 && rulesOf(list) != "silent" {
			t.Errorf("findings after %d s: %+v", after, list)
		}
	}
}

// Somebody looks at a JVM as long as what its page shows is asked for.
func TestWatched(t *testing.T) {
	p, _ := scenario(t, 10, func(p *program, at float64) { busy(p, at, 10, 0.3, false) })
	session := p.view().Row.Session
	if watched := p.live.Turns(0); len(watched) != 1 || !watched[session] {
		t.Errorf("%v, want %s", watched, session)
	}
	p.now = p.now.Add(watchedFor + time.Second)
	if watched := p.live.Turns(0); len(watched) != 0 {
		t.Errorf("%v, want none: nobody asks any more", watched)
	}
}

// Rules of reports, on the window: a pool with one thread for which tasks wait while processors idle.
func TestSmallPool(t *testing.T) {
	p := newProgram(t)
	p.batch().Threads = []wire.Thread{{ID: worker2, OSID: 72, End: tick(0.5)}} // one worker is left
	ran := 0.0
	for s := 1.0; s <= 60; s++ {
		for i := range 20 {
			at := s - 1 + float64(i)/20
			task, future := p.submit(jobClass, at, true)
			ran = max(ran, at)
			p.run(task, future, jobClass, worker1, at-0.4, ran, ran+0.049)
			ran += 0.0495
		}
		p.b.OS = []wire.OSThread{{OSID: 71, Name: "tax", CPU: units.Ns(s * 0.98 * second)}, {OSID: 70, Name: "main", CPU: 0}}
		p.send(s)
		p.live.Evaluate()
	}
	list := p.view().Findings
	if rulesOf(list) != "pool-too-small" || list[0].Executor != "tax (ThreadPoolExecutor, Main.java:6)" || !strings.Contains(list[0].Text, "has 1 worker on 4 processors") || !strings.Contains(list[0].Text, "as many threads as processors") {
		t.Errorf("findings: %+v", list)
	}
	if c := p.view().Row.CPUs; len(c) != numCPUKinds || !near(c[cpuApplication].Value, 0.98) {
		t.Errorf("CPUs: %+v", c)
	}
}

func TestCollections(t *testing.T) {
	_, list := scenario(t, 40, func(p *program, at float64) {
		busy(p, at, 10, 0.3, false)
		p.b.Pauses = []wire.Pause{{Start: tick(at - 0.6), End: tick(at - 0.45), Cause: units.GCCauseOf("G1 Evacuation Pause")}}
	})
	if rulesOf(list) != "garbage-collection" || !strings.Contains(list[0].Text, "15 % of the time") {
		t.Errorf("findings: %+v", list)
	}
}

func TestLostEvents(t *testing.T) {
	_, list := scenario(t, 20, func(p *program, at float64) {
		busy(p, at, 10, 0.3, false)
		p.b.Totals = wire.Totals{Executions: 1000, Lost: []wire.Loss{{Reason: "ring full", Events: uint64(at) * 7}}}
	})
	if rulesOf(list) != "lost" || list[0].Title != "Events were lost" {
		t.Errorf("findings: %+v", list)
	}
}
