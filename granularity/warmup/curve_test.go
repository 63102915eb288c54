package warmup

import (
	"math"
	"testing"

	"stackagent/internal/units"
)

const ms = 1e6

// run makes iterations of these times in milliseconds. Half of the first one's CPU time is the compiler's, of each further one half as
// much as of the one before; the collector has a tenth.
func run(times ...float64) []Iteration {
	var out []Iteration
	at, part := units.MonoNs(1e9), 0.5
	for i, t := range times {
		cpu := units.Ns(2 * t * ms)
		out = append(out, Iteration{From: at, To: at + units.MonoNs(t*ms), CPU: cpu, Compiler: units.Ns(part * float64(cpu)), GC: cpu / 10,
			Stopped: units.Ns(t * ms / 20), Tasks: 100, Deopts: int64(10 - i)})
		at, part = out[i].To, part/2
	}
	return out
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(b)) }

// An exponential warm-up: iteration k takes 100 + 400/2^k ms, the last of 12 100.195 ms. So 101.5625 ms, of k = 8, is 1.365 % longer.
func TestExponential(t *testing.T) {
	var times []float64
	for k := range 12 {
		times = append(times, 100+400/math.Pow(2, float64(k)))
	}
	if v := Judge(times, Within); v.Warm != 8 || v.Reached != 8 || !near(v.Best, 100+400.0/2048) {
		t.Errorf("%+v, want warm from 8", v)
	}
	if v := Judge(times, 0.0137); v.Warm != 8 {
		t.Errorf("%+v", v)
	}
	if v := Judge(times, 0.0136); v.Warm != 9 {
		t.Errorf("%+v", v)
	}
	// 4 cold ones take 200 + 100 + 50 + 0 beyond 100, the warm ones 100.
	if v := Judge([]float64{300, 200, 150, 102, 100, 100}, Within); v.Warm != 4 || !near(v.Lost, 352) {
		t.Errorf("%+v, want 352 lost before 4", v)
	}
	if v := Judge([]float64{100, 150}, Within); v.Warm != -1 || v.Reached != 0 || !math.IsNaN(v.Lost) || v.Best != 100 {
		t.Errorf("never warm: %+v", v)
	}
	if v := Judge([]float64{math.NaN(), 100, math.NaN(), 100}, Within); v.Warm != 3 || v.Reached != 1 || v.Lost != 0 {
		t.Errorf("with unknown values: %+v", v)
	}
	if v := Judge([]float64{math.NaN()}, Within); v.Warm != -1 || v.Reached != -1 || !math.IsNaN(v.Best) {
		t.Errorf("nothing known: %+v", v)
	}
}

func TestOver(t *testing.T) {
	one, two, three := run(300, 110, 100), run(330, 120, 100), run(360, 130, 100, 100)
	two[1].CPU = units.NotMeasured
	all := [][]Iteration{one, two, three}
	times := Time.Over(all)
	if len(times) != 3 {
		t.Fatalf("%d iterations, want the 3 that all have", len(times))
	}
	// 300, 330, 360: mean 330, s = 30, t(0.975, 2) = 4.30265, half = 4.30265 * 30 / sqrt(3).
	if half := 4.302652729911275 * 30 / math.Sqrt(3) * ms; !near(times[0].Mean, 330*ms) || math.Abs(times[0].Half()/half-1) > 1e-6 || times[0].N != 3 {
		t.Errorf("%+v, want 330 ms ± %g", times[0], half)
	}
	if times[2].Mean != 100*ms || times[2].Half() != 0 {
		t.Errorf("equal times: %+v", times[2])
	}
	for k, want := range []float64{0.5, 0.25, 0.125} {
		if got := Compiler.Over(all)[k]; !near(got.Mean, want) {
			t.Errorf("share of the compiler in %d: %+v, want %g", k, got, want)
		}
	}
	if cpu := CPU.Over(all)[1]; cpu.N != 2 || !near(cpu.Mean, 240*ms) {
		t.Errorf("CPU time: %+v, want 240 ms of the two that know it", cpu)
	}
	for name, c := range map[string]struct {
		q    Quantity
		want float64
	}{"gc": {GC, 0.1}, "stopped": {Stopped, 0.05}, "tasks": {Tasks, 100}, "deopts": {Deopts, 8}, "time per task": {Time.PerTask(), ms}} {
		if got := c.q.Over(all)[2]; !near(got.Mean, c.want) {
			t.Errorf("%s: %+v, want %g", name, got, c.want)
		}
	}
	unknown := []Iteration{{From: 1, To: 2, CPU: units.NotMeasured, Compiler: 1, Deopts: -1}}
	for name, q := range map[string]Quantity{"CPU": CPU, "compiler": Compiler, "deopts": Deopts, "time per task": Time.PerTask()} {
		if got := q.Of(unknown); !math.IsNaN(got[0]) {
			t.Errorf("%s of what is not known: %v", name, got)
		}
	}
	if Common(nil) != 0 || len(Time.Over(nil)) != 0 {
		t.Error("no runs have iterations")
	}
}

func TestLosses(t *testing.T) {
	work := []Work{
		{Class: "even", Count: []int64{10, 10, 10, 10}, Sum: []float64{100, 100, 100, 100}},
		{Class: "slow first", Count: []int64{10, 10, 10, 10}, Sum: []float64{300, 200, 100, 100}}, // 20 cold ones took 25 each, 15 too much
		{Class: "start only", Count: []int64{4, 0, 0, 0}, Sum: []float64{9, 0, 0, 0}},
		{Class: "gets slower", Count: []int64{1, 0, 1, 1}, Sum: []float64{10, 0, 20, 20}},
		{Class: "never", Count: []int64{0, 0, 0, 0}, Sum: []float64{0, 0, 0, 0}},
	}
	got := Losses(work, 2)
	want := []Loss{
		{"slow first", 20, 20, 25, 10, 300}, {"even", 20, 20, 10, 10, 0}, {"gets slower", 1, 2, 10, 20, -10}, {"start only", 4, 0, 2.25, math.NaN(), math.NaN()},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, w := range want {
		g := got[i]
		same := func(a, b float64) bool { return near(a, b) || math.IsNaN(a) && math.IsNaN(b) }
		if g.Class != w.Class || g.ColdCount != w.ColdCount || g.Count != w.Count || !same(g.ColdMean, w.ColdMean) || !same(g.WarmMean, w.WarmMean) || !same(g.Lost, w.Lost) {
			t.Errorf("%d: %+v, want %+v", i, g, w)
		}
	}
	if got := Settled([]float64{300, 100, 100, 140, 130}, Within); got != 3 {
		t.Errorf("never warm: settled from %d, want the second half", got)
	}
}

func TestJoin(t *testing.T) {
	one := Losses([]Work{{Class: "a", Count: []int64{10, 10}, Sum: []float64{300, 100}}, {Class: "b", Count: []int64{1, 1}, Sum: []float64{900, 100}}}, 1)
	two := Losses([]Work{{Class: "a", Count: []int64{30, 10}, Sum: []float64{600, 100}}, {Class: "c", Count: []int64{5, 0}, Sum: []float64{5, 0}}}, 1)
	got := Join([][]Loss{one, two})
	if len(got) != 3 || got[0].Class != "b" || got[1].Class != "a" || got[2].Class != "c" {
		t.Fatalf("%+v, want b, a, c", got)
	}
	// a lost 200 and 300: mean 250, half 12.706 * 50; 40 cold ones took 900 together.
	if a := got[1]; a.ColdCount != 40 || a.Count != 20 || a.ColdMean != 22.5 || a.WarmMean != 10 || a.Lost.Mean != 250 || math.Abs(a.Lost.Half()-12.706*50) > 0.1 {
		t.Errorf("%+v", a)
	}
	if b := got[0]; b.Lost.Mean != 800 || b.Lost.Known() {
		t.Errorf("in one run: %+v", b)
	}
	if c := got[2]; !math.IsNaN(c.WarmMean) || !math.IsNaN(c.Lost.Mean) || c.ColdCount != 5 {
		t.Errorf("only cold: %+v", c)
	}
}
