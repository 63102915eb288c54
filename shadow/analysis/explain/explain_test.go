package explain

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/granularity/vertical"
	"stackagent/hpc/monitor"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/timeseries"
)

// start is when the session of dips starts.
const start = units.MonoNs(7e9)

// dips is a session of 8 s at 10 ms: its throughput falls by half from 3.1 to 3.9 s and from 6 to 6.8 s, when cause rises
// 60x. Many others vary by chance.
func dips(cause string, effect float64) *Profile {
	rnd := rand.New(rand.NewPCG(1, 3))
	const n = 800
	t := &timeseries.Table{NotAvailable: map[string]string{}}
	for i := range n + 1 {
		t.Edges = append(t.Edges, start+units.MonoNs(i)*10e6)
	}
	add := func(name, unit string, layer monitor.Layer, kind monitor.Kind, f func(dip float64) float64) {
		s := timeseries.Series{Declaration: monitor.Declaration{Name: name, Unit: unit, Layer: layer, Kind: kind}}
		for i := range n {
			dip := 0.0
			if i >= 310 && i < 390 || i >= 600 && i < 680 {
				dip = 1
			}
			s.Values = append(s.Values, f(dip))
		}
		t.Series = append(t.Series, s)
	}
	add("app.tasks.finished", "tasks", monitor.Application, monitor.Counter, func(dip float64) float64 { return 20 - 10*dip*effect + rnd.NormFloat64() })
	add(`app.tasks.started{class="a.Order"}`, "tasks", monitor.Application, monitor.Counter, func(dip float64) float64 { return 20 - 10*dip*effect + rnd.NormFloat64() })
	add(cause, "", monitor.OS, monitor.Counter, func(dip float64) float64 { return 5 + 295*dip*effect + math.Abs(rnd.NormFloat64()) })
	for _, name := range []string{"vm.jit.time_ns", "vm.heap.old.used_bytes", "os.context_switches", "vm.classes.loaded"} {
		add(name, "", monitor.VM, monitor.Gauge, func(float64) float64 { return 100 + 10*rnd.NormFloat64() })
	}
	return New(t, start)
}

func explained(t *testing.T, p *Profile, in vertical.Range) *Explanation {
	t.Helper()
	m, err := p.Metrics.Metric("task_throughput")
	if err != nil {
		t.Fatal(err)
	}
	return p.Explain(m, in)
}

func TestExplain(t *testing.T) {
	p := dips("os.minor_faults", 1)
	for name, in := range map[string]vertical.Range{"found": {}, "asked": {From: 310, To: 390}} {
		e := explained(t, p, in)
		if len(e.Causes) != 1 || e.Causes[0].Monitor != "os.minor_faults" || e.Causes[0].Rank != 1 || e.Found != (name == "found") {
			t.Fatalf("%s: %+v", name, e)
		}
		if c := e.Causes[0]; c.Unit != "1/s" || *c.P > 0.01 || c.LagNs == nil || *c.LagNs != 0 || *c.R > -0.9 {
			t.Errorf("%s: %+v", name, c)
		}
		if len(e.Similar) != 1 || e.ToNs-e.FromNs < 750e6 || e.ToNs-e.FromNs > 850e6 {
			t.Errorf("%s: %v, and %v", name, e.Span, e.Similar)
		}
		for _, want := range []string{"Throughput fell by 50 %", "and once more in the same way", "The number of minor page faults rose 5", "at the same time", "Try -XX:+AlwaysPreTouch"} {
			if !strings.Contains(e.Sentence, want) {
				t.Errorf("%s: %q does not say %q", name, e.Sentence, want)
			}
		}
		for _, c := range e.Others {
			if strings.HasPrefix(c.Monitor, "app.tasks.") && !strings.Contains(c.Why, "in other words") {
				t.Errorf("%s: %+v", name, c)
			}
		}
		if _, err := json.Marshal(e); err != nil {
			t.Error(err)
		}
	}
}

// TestReadSeldom: what is read every 100 ms is not said to have changed before or after within that time, and its lag is an interval.
func TestReadSeldom(t *testing.T) {
	p := dips("os.minor_faults", 1)
	for i := range p.Table.Series {
		if s := &p.Table.Series[i]; s.Name == "os.minor_faults" {
			s.Dated = 100e6
		}
	}
	e := explained(t, New(p.Table, start), vertical.Range{})
	if len(e.Causes) != 1 || e.Causes[0].Monitor != "os.minor_faults" {
		t.Fatalf("%+v", e)
	}
	if c := e.Causes[0]; c.LagNs != nil || c.LagLow == nil || *c.LagLow > -100e6 || *c.LagHigh < 100e6 || !strings.Contains(e.Sentence, "within 100 ms of it") {
		t.Errorf("%+v: %s", c, e.Sentence)
	}
}

// TestNothingExplains: where only the throughput falls, no series is named, and the sentence says how many were tried.
func TestNothingExplains(t *testing.T) {
	p := dips("os.minor_faults", 1)
	p.Table.Series = append(p.Table.Series[:2], p.Table.Series[3:]...)
	e := explained(t, New(p.Table, start), vertical.Range{From: 310, To: 390})
	if len(e.Causes) != 0 || !strings.Contains(e.Sentence, "Nothing recorded explains it (6 series tried)") {
		t.Errorf("%q, %+v", e.Sentence, e.Causes)
	}
	if e := explained(t, dips("os.minor_faults", 0), vertical.Range{}); len(e.Causes) != 0 {
		t.Errorf("a program without a dip: %q", e.Sentence)
	}
}

func TestPhases(t *testing.T) {
	p := dips("os.steal_ns", 1)
	m, err := p.Metrics.Metric("task_throughput")
	if err != nil {
		t.Fatal(err)
	}
	phases := p.Phases(m)
	if len(phases) != 1 || math.Abs(phases[0].Usual-2000) > 50 || len(phases[0].Similar) != 1 {
		t.Fatalf("%+v", phases)
	}
	if !strings.Contains(phases[0].Sentence, "CPU time that the hypervisor gave to other machines rose") {
		t.Error(phases[0].Sentence)
	}
}

func TestSamples(t *testing.T) {
	p := dips("os.minor_faults", 1)
	for _, c := range []struct{ from, to, first, last int }{{0, 10, 0, 1}, {5, 15, 0, 2}, {10, 20, 1, 2}, {-50, 5, 0, 1}, {7990, 9000, 799, 800}, {9000, 9100, 800, 800}} {
		in := activity.Span{From: start + units.MonoNs(c.from)*1e6, To: start + units.MonoNs(c.to)*1e6}
		if got := p.Samples(in); got.From != c.first || got.To != c.last {
			t.Errorf("%d to %d ms: %v, want %d to %d", c.from, c.to, got, c.first, c.last)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		before, during float64
		unit, want     string
	}{
		{100, 60, "", "fell by 40 %"}, {100, 140, "", "rose by 40 %"}, {10, 600, "", "rose 60x"}, {10, 25, "", "rose 2.5x"},
		{0, 830, "1/s", "rose from 0/s to 830/s"}, {100, 0, "", "fell to 0"}, {1, 4000, "bytes", "rose from 1 B to 3.91 KiB"},
		{5, 5, "ns", "stayed at 5 ns"}, {-3, -6, "", "fell from -3 to -6"}, {math.NaN(), 1, "", "changed"},
	} {
		if got := change(c.before, c.during, c.unit); got != c.want {
			t.Errorf("%g to %g %s: %q, want %q", c.before, c.during, c.unit, got, c.want)
		}
	}
	for name, want := range map[string]string{
		"os.minor_faults": "The number of minor page faults", `vm.monitor.wait_ns{class="a.B"}`: "Time in which threads waited for a lock (a.B)",
		"app.my#hits": "app.my#hits", "a\x1b[31m": "a?[31m",
	} {
		if got := subject(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	for span, want := range map[Span]string{{3.1e9, 3.9e9}: "from 3.10 to 3.90 s", {10e6, 499e6}: "from 10 to 499 ms", {3e9, 3.02e9}: "from 3.000 to 3.020 s", {1e9, 9e9}: "from 1.0 to 9.0 s"} {
		if got := fromTo(span); got != want {
			t.Errorf("%v: %q, want %q", span, got, want)
		}
	}
}

// TestRemediesAreReached: no pattern is hidden by one above it.
func TestRemediesAreReached(t *testing.T) {
	for i, r := range remedies {
		name := strings.ReplaceAll(r.pattern, "*", "x")
		if got := remedyOf(name); got != &remedies[i] {
			t.Errorf("%s is taken for %s", r.pattern, got.pattern)
		}
		if r.what == "" || r.try != "" && !strings.HasSuffix(r.try, ".") {
			t.Errorf("%s: %q, %q", r.pattern, r.what, r.try)
		}
	}
}
