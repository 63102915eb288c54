package live

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/summary/summarytest"
	"stackagent/shadow/store"
)

func finding(rule, title string) advice.Finding {
	return advice.Finding{Rule: rule, Kind: advice.Advice, Class: "com.acme.Job", Title: title}
}

// seen is what a JVM shows: "rule since end", those that hold first.
func seen(f *findings) string {
	var list []string
	for _, h := range f.hold {
		list = append(list, fmt.Sprintf("%s %.0f", h.Title, h.SinceNs/second))
	}
	for _, h := range f.past {
		list = append(list, fmt.Sprintf("(%s %.0f-%.0f)", h.Title, h.SinceNs/second, *h.EndNs/second))
	}
	return strings.Join(list, " ")
}

// TestHistory: a finding begins after the look before, has its latest sentences, is in the past once a look does not have it, and goes on if it
// comes back soon.
func TestHistory(t *testing.T) {
	var f findings
	for i, step := range []struct {
		to    float64
		found []advice.Finding
		want  string
	}{
		{30, []advice.Finding{finding("held", "a")}, "a 0"},
		{40, []advice.Finding{finding("few-workers", "b"), finding("held", "a2")}, "b 30 a2 0"},
		{40, nil, "b 30 a2 0"}, // nothing new was stored
		{50, []advice.Finding{finding("held", "a3")}, "a3 0 (b 30-40)"},
		{60, nil, "(a3 0-50) (b 30-40)"},
		{110, []advice.Finding{finding("held", "a4")}, "a4 0 (b 30-40)"}, // it is back
		{120, nil, "(a4 0-110) (b 30-40)"},
		{190, []advice.Finding{finding("held", "a5")}, "a5 160 (a4 0-110) (b 30-40)"}, // another one
	} {
		f.update(&look{from: max(0, units.Ns((step.to-30)*second)), to: units.Ns(step.to * second), findings: step.found})
		if got := seen(&f); got != step.want {
			t.Errorf("step %d: %s, want %s", i, got, step.want)
		}
	}
	for i := range 3 * mostPast {
		f.update(&look{to: units.Ns((1000 + i) * second), findings: []advice.Finding{finding(fmt.Sprint(i), "x")}})
	}
	if len(f.past) != mostPast {
		t.Errorf("%d are kept", len(f.past))
	}
}

// TestLook: a JVM is looked at no more often than it may be, from the batches of the time on that is looked at, and one that could not be looked at
// says why and keeps what was found.
func TestLook(t *testing.T) {
	p := newProgram(t)
	if p.live.Look() || p.view().Missing["findings"] != "this shadow does not look for any" {
		t.Error("without a folder there is nothing to look at")
	}
	p.live.o.Root = "root"
	looks := 0
	var from uint64
	var fails error
	p.live.look = func(dir string, batch uint64) (*look, error) {
		looks, from = looks+1, batch
		if dir != filepath.Join("root", "s") {
			t.Errorf("looks at %s", dir)
		}
		return &look{to: units.Ns(looks * second), findings: []advice.Finding{finding("held", "a")}, bound: "It waits."}, fails
	}
	for s := 1; s <= 100; s++ {
		busy(p, float64(s), 10, 0.3)
		p.send(float64(s))
		p.live.Look()
		p.live.Look()
	}
	if looks != 10 {
		t.Errorf("%d looks in 100 s", looks)
	}
	if want := uint64(91 - 60 + 1); from != want { // a batch each second, the first at the start; the last look was at 91 s
		t.Errorf("from batch %d, want %d", from, want)
	}
	v := p.view()
	if len(v.Findings) != 1 || v.Findings[0].Title != "a" || v.Row.Findings != 1 || v.Bound != "It waits." || v.Missing["findings"] != "" {
		t.Errorf("%+v", v)
	}
	fails = errors.New("the disk is gone")
	p.now = p.now.Add(lookEvery)
	if p.live.Look(); p.view().Missing["findings"] != "the disk is gone" || len(p.view().Findings) != 1 {
		t.Errorf("%+v", p.view().Missing)
	}
	p.live.jvm("s").ended.Store(1)
	p.now = p.now.Add(lookEvery)
	if p.live.Look() {
		t.Error("it looks at a JVM that has ended")
	}
}

// TestLookAt reads the account of what is stored last, also from the middle of a file on.
func TestLookAt(t *testing.T) {
	root := t.TempDir()
	if _, err := summarytest.Generate(root, "s", 5000, true); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "s")
	m, err := store.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []uint64{1, m.Sequences.Max()} {
		x, err := lookAt(dir, from)
		if err != nil || x.why != "" || x.bound == "" || x.to != m.DurationNs || x.to-x.from > lookSpan {
			t.Errorf("from batch %d: %+v, %v", from, x, err)
		}
	}
	if x, err := lookAt(dir, m.Sequences.Max()+1); err != nil || !strings.HasPrefix(x.why, "no unit of work ended in the last ") {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := lookAt(filepath.Join(root, "gone"), 1); err == nil {
		t.Error("a session that is not there was looked at")
	}
}

// busy submits tasks evenly and lets one worker run them, each as long as share of the time to the next.
func busy(p *program, from float64, n int, share float64) {
	for i := range n {
		at := from - 1 + float64(i)/float64(n)
		task, future := p.submit(jobClass, at, true)
		p.run(task, future, jobClass, worker1, at, at+0.0001, at+0.0001+share/float64(n))
	}
}

// TestSilentInTurns: a JVM of which nothing comes is silent; while sessions take turns, batches are late, and it is not.
func TestSilentInTurns(t *testing.T) {
	p := newProgram(t)
	for s := 1.0; s <= 10; s++ {
		busy(p, s, 10, 0.3)
		p.send(s)
	}
	p.live.Turns(50 * time.Second)
	for after := range 90 {
		p.now = p.now.Add(time.Second)
		if state := p.view().Row.State; after == 55 && state != "running" || after == 89 && state != "silent" {
			t.Errorf("after %d s: %s", after, state)
		}
	}
}

// Somebody looks at a JVM as long as what its page shows is asked for.
func TestWatched(t *testing.T) {
	p := newProgram(t)
	session := p.view().Row.Session
	if watched := p.live.Turns(0); len(watched) != 1 || !watched[session] {
		t.Errorf("%v, want %s", watched, session)
	}
	p.now = p.now.Add(watchedFor + time.Second)
	if watched := p.live.Turns(0); len(watched) != 0 {
		t.Errorf("%v, want none: nobody asks any more", watched)
	}
}

// TestCPUs has the CPU time of the program's threads from the kernel's account.
func TestCPUs(t *testing.T) {
	p := newProgram(t)
	for s := 1.0; s <= 60; s++ {
		p.batch().OS = []wire.OSThread{{OSID: 71, Name: "tax", CPU: units.Ns(s * 0.98 * second)}, {OSID: 70, Name: "main", CPU: 0}}
		p.send(s)
	}
	if c := p.view().Row.CPUs; len(c) != numCPUKinds || !near(c[cpuApplication].Value, 0.98) {
		t.Errorf("CPUs: %+v", c)
	}
}
