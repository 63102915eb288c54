package lbo

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"stackagent/granularity/estimate"
)

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

var nan = math.NaN()

// at is a point with the same cost on both clocks in each of n runs.
func at(collector, heap string, n int, total, plain, tighter float64) Point {
	p := Point{Collector: collector, Heap: heap, Multiple: nan}
	for range n {
		c := Cost{Total: total, Collector: [NBounds]float64{plain, tighter}}
		p.Runs = append(p.Runs, Run{Wall: c, CPU: c})
	}
	return p
}

// A program that does not allocate costs the same everywhere.
func TestNoAllocation(t *testing.T) {
	r := Of(Program{Points: []Point{at("Serial", "1x", 3, 100, 0, 0), at("G1", "1x", 3, 100, 0, 0), at("G1", "2x", 3, 100, 0, 0)}})
	for _, p := range r.Points {
		for c := range NClocks {
			for b := range NBounds {
				if p.Overheads[c][b] != (estimate.Interval{Mean: 1, Low: 1, High: 1, N: 3}) {
					t.Errorf("%s %s %s %s: %+v", p.Collector, p.Heap, c, b, p.Overheads[c][b])
				}
			}
		}
	}
	if len(r.Notes) > 0 {
		t.Errorf("%+v", r.Notes)
	}
}

// The same with noise: the overhead is above 1, as the least of several means is too low, but the interval has 1.
func TestNoAllocationWithNoise(t *testing.T) {
	random, hits, points := rand.New(rand.NewPCG(5, 0)), 0, 0
	for range 100 {
		var p Program
		for _, collector := range []string{"Serial", "Parallel", "G1", "Shenandoah", "ZGC"} {
			pt := Point{Collector: collector, Heap: "2x"}
			for range 5 {
				c := Cost{Total: 100 + 3*random.NormFloat64()}
				pt.Runs = append(pt.Runs, Run{c, c})
			}
			p.Points = append(p.Points, pt)
		}
		for _, pt := range Of(p).Points {
			points++
			if o := pt.Overheads[Wall][Plain]; o.Mean >= 1 && o.Contains(1) {
				hits++
			}
		}
	}
	if share := float64(hits) / float64(points); share < 0.92 || share > 0.99 {
		t.Errorf("%.3f of the intervals contain 1", share)
	}
}

// Costs with a closed form: the program needs 100, a collector's barriers add a tax, collections take work/(heap - 1).
// The distilled cost is 100 and the least tax.
func TestClosedForm(t *testing.T) {
	collectors := []struct {
		name      string
		tax, work float64
		apart     float64 // share of work in concurrent threads
	}{{"Serial", 0.02, 30, 0}, {"G1", 0.05, 20, 0.25}, {"ZGC", 0.10, 40, 0.75}}
	heaps := map[string]float64{"1.5x": 1.5, "2x": 2, "6x": 6}
	var p Program
	for _, c := range collectors {
		for label, h := range heaps {
			g := c.work / (h - 1)
			p.Points = append(p.Points, at(c.name, label, 2, 100*(1+c.tax)+g, g*(1-c.apart), g))
		}
	}
	// Plain at 6x leaves G1 105 + 20/5*0.25 = 106; Serial has 102 at each heap.
	r := Of(p)
	for _, pt := range r.Points {
		for _, c := range collectors {
			g := c.work / (heaps[pt.Heap] - 1)
			if want := (100*(1+c.tax) + g) / 102; pt.Collector == c.name && (!near(pt.Overheads[CPU][Plain].Mean, want) || !near(pt.Overheads[CPU][Tighter].Mean, want)) {
				t.Errorf("%s at %s: %+v, want %v", c.name, pt.Heap, pt.Overheads[CPU], want)
			}
		}
	}
	if b := r.Baselines[Wall][Plain]; !near(b.Cost, 102) || b.Collector != "Serial" {
		t.Errorf("baseline %+v", b)
	}
	// Without Serial, the tighter bound finds G1's 105 at each heap, the plain one its 106 at 6x.
	var others Program
	for _, pt := range p.Points {
		if pt.Collector != "Serial" {
			others.Points = append(others.Points, pt)
		}
	}
	b := Of(others).Baselines[Wall]
	if !near(b[Plain].Cost, 106) || b[Plain].Heap != "6x" || !near(b[Tighter].Cost, 105) {
		t.Errorf("baselines %+v", b)
	}
}

// Two points with spread: Welch's interval of the ratio, and the pair at the distilled point.
func TestIntervals(t *testing.T) {
	cost := func(total, g float64) Run { c := Cost{total, [NBounds]float64{g, nan}}; return Run{c, c} }
	p := Program{Points: []Point{
		{Collector: "Serial", Heap: "2x", Runs: []Run{cost(109, 10), cost(111, 10), cost(110, 10)}},
		{Collector: "ZGC", Heap: "2x", Runs: []Run{cost(198, 2), cost(200, 2), cost(202, 2)}},
	}}
	r := Of(p)
	serial, zgc := r.Points[0].Overheads[Wall][Plain], r.Points[1].Overheads[Wall][Plain]
	// The points are far apart: only the bias of one mean of three, which is none, could matter.
	if s := r.Baselines[Wall][Plain].Selection; math.Abs(s-1) > 1e-3 {
		t.Errorf("selection %v", s)
	}
	want := estimate.Ratio([]float64{198, 200, 202}, []float64{99, 101, 100})
	if !near(zgc.Mean, 2) || math.Abs(zgc.Low-want.Low) > 0.002 || !near(zgc.High, want.High) {
		t.Errorf("ZGC %+v, want %+v", zgc, want)
	}
	// Residuals of the pair: ±1/110 ∓ 1/100, t(0.975, 2) = 4.302652730.
	half := 4.302652730 * (1.0/100 - 1.0/110) / math.Sqrt(3)
	if !near(serial.Mean, 1.1) || math.Abs(serial.High-1.1*math.Exp(half)) > 1e-9 {
		t.Errorf("Serial %+v, want ± %v", serial, half)
	}
	if tighter := r.Points[1].Overheads[Wall][Tighter]; !math.IsNaN(tighter.Mean) {
		t.Errorf("no run knows the tighter part, but there is a bound: %+v", tighter)
	}
}

// The documented coverage, where a quarter of the points are near the distilled cost.
func TestCoverage(t *testing.T) {
	const trials, points, runs = 120, 8, 10
	random, hits := rand.New(rand.NewPCG(9, 0)), 0
	for range trials {
		var p Program
		var truth []float64
		for k := range points {
			app, g := 100+3*float64(k), 50/float64(k+1)
			truth = append(truth, (app+g)/100)
			pt := Point{Collector: "G1", Heap: strings.Repeat("x", k)}
			for range runs {
				gi := g * (1 + 0.05*random.NormFloat64())
				c := Cost{app + 3*random.NormFloat64() + gi, [NBounds]float64{gi, nan}}
				pt.Runs = append(pt.Runs, Run{c, c})
			}
			p.Points = append(p.Points, pt)
		}
		for k, pt := range Of(p).Points {
			if pt.Overheads[CPU][Plain].Contains(truth[k]) {
				hits++
			}
		}
	}
	share := float64(hits) / (trials * points)
	// Intervals of a trial share its distilled cost: count trials, not points, for the bound.
	if e := math.Sqrt(0.95 * 0.05 / trials); math.Abs(share-0.95) > 2*e {
		t.Errorf("%.3f of the intervals contain the true overhead", share)
	}
}

func TestFailures(t *testing.T) {
	none := Of(Program{Points: []Point{{Collector: "ZGC", Heap: "1x", Failed: "OutOfMemoryError"}, {Collector: "G1", Heap: "1x"}}})
	for _, p := range none.Points {
		if !math.IsNaN(p.Overheads[Wall][Plain].Mean) || !math.IsNaN(p.Totals[Wall].Mean) {
			t.Errorf("%+v", p)
		}
	}
	// A failed point's runs, such as those before the failure, do not count.
	fast := at("ZGC", "1x", 2, 10, 0, 0)
	fast.Failed = "OutOfMemoryError in 1 of 3 runs"
	r := Of(Program{Points: []Point{fast, at("G1", "1x", 2, 100, 20, nan)}})
	if o := r.Points[1].Overheads[Wall][Plain]; !near(o.Mean, 1.25) {
		t.Errorf("%+v", o)
	}
	// More for the collector than in all: a note, and no part in the distilled cost.
	odd := Of(Program{Points: []Point{at("Serial", "2x", 2, 90, 95, nan), at("G1", "2x", 2, 100, 20, nan)}})
	if o := odd.Points[0].Overheads[Wall][Plain]; len(odd.Notes) != 2 || odd.Notes[0].Kind != Implausible || odd.Notes[0].Collector != "Serial" || !near(o.Mean, 90.0/80) {
		t.Errorf("%+v %+v", o, odd.Notes)
	}
}

func TestEpsilon(t *testing.T) {
	fine := Of(Program{Points: []Point{at("Serial", "2x", 3, 120, 20, nan), at(Epsilon, "6x", 3, 101, 0, 0)}})
	if b := fine.Baselines[Wall][Plain]; b.Collector != "Serial" || b.Cost != 100 || len(fine.Notes) > 0 {
		t.Errorf("%+v %v", b, fine.Notes)
	}
	low := Of(Program{Points: []Point{at("Serial", "2x", 3, 120, 20, nan), at(Epsilon, "6x", 3, 80, 0, 0)}})
	if len(low.Notes) != 2 || low.Notes[1].Kind != Cheaper || low.Notes[1].Clock != CPU || !near(low.Notes[0].Overhead.High, 0.8) { // wall and cpu, plain: of the tighter bound no other point knows anything
		t.Errorf("%+v", low.Notes)
	}
}

func TestMeans(t *testing.T) {
	a := Of(Program{Name: "a", Points: []Point{at("G1", "1x", 2, 200, 100, 0), at("G1", "2x", 2, 110, 10, 0), at("ZGC", "2x", 2, 400, 0, 0)}})
	failed := at("G1", "1x", 0, 0, 0, 0)
	failed.Failed = "OutOfMemoryError"
	b := Of(Program{Name: "b", Points: []Point{failed, at("G1", "2x", 2, 440, 40, 0)}})
	means := Means([]Result{a, b})
	if len(means) != 3 {
		t.Fatalf("%+v", means)
	}
	if m := means[0]; !slices.Equal(m.Missing, []Missing{{"b", "OutOfMemoryError"}}) || !math.IsNaN(m.Overheads[Wall][Plain].Mean) {
		t.Errorf("a point at which a program fails: %+v", m)
	}
	if m := means[1]; m.Missing != nil || !near(m.Overheads[Wall][Plain].Mean, 1.1) || m.Programs != 2 {
		t.Errorf("%+v", m)
	}
	if m := means[2]; !slices.Equal(m.Missing, []Missing{{"b", ""}}) {
		t.Errorf("%+v", m)
	}
	// Overheads of 2 and 8 have the geometric mean 4.
	four := Means([]Result{Of(Program{Points: []Point{at("G1", "1x", 2, 200, 100, 0)}}), Of(Program{Points: []Point{at("G1", "1x", 2, 800, 700, 0)}})})
	if !near(four[0].Overheads[CPU][Plain].Mean, 4) {
		t.Errorf("%+v", four)
	}
	if len(Means(nil)) != 0 {
		t.Error("means of nothing")
	}
}

// The names that docs/contract promises.
func TestJSON(t *testing.T) {
	failed := Point{Collector: "ZGC", Heap: "1x", Multiple: 1, HeapBytes: 7, Failed: "OutOfMemoryError"}
	g1 := at("G1", "2x", 2, 110, 10, nan)
	g1.Multiple, g1.HeapBytes = 2, 14
	b, err := json.Marshal(Of(Program{Points: []Point{failed, g1}}))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if base := got["baseline"].(map[string]any); base["wall_ns"] != 100.0 || base["cpu_ns"] != 100.0 || base["cpu_tighter_ns"] != nil {
		t.Errorf("baseline %v", base)
	}
	points := got["points"].([]any)
	zgc, p := points[0].(map[string]any), points[1].(map[string]any)
	if zgc["failed"] != "OutOfMemoryError" || zgc["wall"].(map[string]any)["overhead"] != nil {
		t.Errorf("%v", zgc)
	}
	if want := map[string]any{"overhead": 1.1, "low": 1.1, "high": 1.1}; !reflect.DeepEqual(p["wall"], want) || !reflect.DeepEqual(p["cpu"], want) {
		t.Errorf("%v, want %v", p, want)
	}
	if p["collector"] != "G1" || p["heap"] != "2x" || p["heap_bytes"] != 14.0 || p["runs"] != 2.0 || p["failed"] != "" {
		t.Errorf("%v", p)
	}
}
