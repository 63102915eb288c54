package characterize

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"stackagent/granularity/estimate"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/nominal"
	"stackagent/hpc"
	"stackagent/shadow/analysis/summary"
)

func of(f *facts, code string) Value {
	x, _ := Find(code)
	return x.of(f)
}

// A run of two seconds whose every figure is known.
func knownFacts() *facts {
	alloc := granularity.MetricOf(2, true)
	resident := int64(300e6)
	return &facts{
		sum: &summary.Summary{DurationNs: 2e9, JVM: summary.JVM{CPUs: 2}, GC: summary.GC{Pauses: 7, Share: 0.125, MaxNs: 30e6},
			Metrics: granularity.Metrics{alloc: {Name: "self_alloc_bytes", Unit: "bytes", Count: 3, Sum: 500e6}}},
		units: &summary.Summary{Tasks: summary.Tasks{Executions: 800, Created: 1000, NeverExecuted: 200, Threads: 4},
			Metrics: granularity.Metrics{granularity.SelfCPU: {Count: 800, P5: 2e3, P50: 50e3, P95: 4e6}}},
		usage: &hpc.Usage{Wall: 2e9, User: 2.4e9, System: 0.6e9, MinorFaults: 1000, Voluntary: 400, Involuntary: 30, MaxResident: &resident},
		counters: &hpc.File{NotAvailable: map[hpc.Event]string{hpc.LLCMisses: "no such counter"}, Threads: []hpc.ThreadTotals{
			{Counts: map[hpc.Event]*hpc.Total{hpc.Instructions: {Estimate: 3e9}, hpc.Cycles: {Estimate: 1e9}, hpc.L1Misses: {Estimate: 20e6}}},
			{Counts: map[hpc.Event]*hpc.Total{hpc.Instructions: {Estimate: 1e9}, hpc.Cycles: {Estimate: 1e9}, hpc.L1Misses: {Estimate: 20e6}}},
		}},
		kinds: map[string]bottle.Box{
			activity.KindApplication: {RunningNs: 2.1e9, HeightNs: 1.2e9}, activity.KindMain: {RunningNs: 0.3e9, HeightNs: 0.3e9},
			activity.KindGC: {RunningNs: 0.15e9, HeightNs: 0.1e9}, activity.KindCompiler: {RunningNs: 0.45e9, HeightNs: 0.2e9},
		},
		iterations: []float64{9e8, 5.05e8, 5e8, 5.02e8},
	}
}

func TestStatistics(t *testing.T) {
	f := knownFacts()
	for code, want := range map[string]float64{
		"ARA": 250, "ATB": 500, "GCC": 7, "GCP": 12.5, "GPX": 30, "GCW": 5, "PET": 0.502, "PKP": 20, "PCU": 75, "PJC": 15, "PWU": 2,
		"TUS": 400, "TGS": 2, "TGM": 50, "TGL": 4000, "TNE": 20, "TTH": 4, "TPA": 1.6, "OMF": 500, "OVS": 200, "OIS": 15, "OMR": 300,
		"UIP": 200, "UDC": 10,
	} {
		if v := of(f, code); v.Why != "" || math.Abs(v.Number-want) > 1e-9*want {
			t.Errorf("%s: %+v, want %v", code, v, want)
		}
	}
	for code, why := range map[string]string{"ULL": "no such counter", "UDT": "dtlb_misses were not counted", "TQM": "no queue time"} {
		if v := of(f, code); !strings.Contains(v.Why, why) || !math.IsNaN(v.Number) {
			t.Errorf("%s: %+v, want %q", code, v, why)
		}
	}
	f.iterations = nil
	if v := of(f, "PET"); v.Number != 2 {
		t.Errorf("without iterations the time is that of the process: %+v", v)
	}
	f.iterations = []float64{5e8, 9e8}
	if v := of(f, "PWU"); v.Why == "" {
		t.Errorf("a program that gets slower is never warm: %+v", v)
	}
}

// TestNothingKnown: what a session lacks is a reason, never zero.
func TestNothingKnown(t *testing.T) {
	f := &facts{sum: &summary.Summary{GC: summary.GC{Pauses: 3}}, noUnits: "no units", noKinds: "no record", noIterations: "no iterations"}
	for _, x := range statistics {
		if x.of == nil || x.Code == "GCC" || x.Code == "GCP" || x.Code == "GPX" {
			continue // every session knows its pauses
		}
		if v := x.of(f); v.Why == "" || !math.IsNaN(v.Number) {
			t.Errorf("%s of nothing is %+v", x.Code, v)
		}
	}
	f.kinds = map[string]bottle.Box{activity.KindVM: {RunningNs: 5}}
	if v := of(f, "GCW"); !strings.Contains(v.Why, "Serial") {
		t.Errorf("Serial has no collector threads: %+v", v)
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, x := range Statistics() {
		if len(x.Code) != 3 || x.Code != strings.ToUpper(x.Code) || seen[x.Code] {
			t.Errorf("code %q", x.Code)
		}
		seen[x.Code] = true
		if x.Name == "" || x.Doc == "" || x.High == "" || (x.of == nil) == (x.Needs == "") {
			t.Errorf("%s: %+v", x.Code, x)
		}
	}
	if _, ok := Find("XYZ"); ok {
		t.Error("found what does not exist")
	}
}

// runsOf are runs with one statistic, NaN: not available.
func runsOf(code string, values ...float64) (runs []Run) {
	for _, v := range values {
		run := Run{}
		for _, x := range statistics {
			run[x.Code] = NotAvailable("not in this test")
		}
		if !math.IsNaN(v) {
			run[code] = Number(v)
		}
		runs = append(runs, run)
	}
	return runs
}

func rowOf(t *testing.T, s *Set, code string) Row {
	t.Helper()
	for _, r := range s.Rows {
		if r.Code == code {
			return r
		}
	}
	t.Fatalf("no row %s", code)
	return Row{}
}

func TestCharacterise(t *testing.T) {
	set, err := Characterise([]Program{
		{Name: "a", Runs: runsOf("GCC", 1, 2, 3, 4, math.NaN()), Extra: map[string]Cell{"GMD": Known(estimate.Mean([]float64{64})), "PIN": Missing("timed out")}},
		{Name: "b", Runs: runsOf("GCC", 9), Extra: map[string]Cell{"GMD": Known(estimate.Mean([]float64{32}))}},
		{Name: "c", Runs: runsOf("GCC", math.NaN())},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := rowOf(t, set, "GCC")
	// 1, 2, 3, 4: mean 2.5, t(0.975, 3) = 3.182446305 times sqrt(5/3)/2.
	a := r.Cells[0]
	if a.Value.Mean != 2.5 || a.Value.N != 4 || math.Abs(a.Value.High-2.5-3.182446305*math.Sqrt(5.0/3)/2) > 1e-6 || a.Place != (nominal.Place{Rank: 2, Of: 2, Score: 5}) {
		t.Errorf("%+v", a)
	}
	if b := r.Cells[1]; b.Value.Mean != 9 || b.Value.Known() || b.Place != (nominal.Place{Rank: 1, Of: 2, Score: 10}) {
		t.Errorf("%+v", b)
	}
	if c := r.Cells[2]; c.Why != "not in this test" || c.Place != (nominal.Place{}) {
		t.Errorf("%+v", c)
	}
	if low, median, high := r.Range(); low != 2.5 || median != 5.75 || high != 9 {
		t.Errorf("range %v %v %v", low, median, high)
	}
	heap := rowOf(t, set, "GMD")
	if heap.Cells[0].Value.Mean != 64 || heap.Cells[1].Place.Rank != 2 || heap.Cells[2].Why != "needs shadow heap" {
		t.Errorf("%+v", heap.Cells)
	}
	if c := rowOf(t, set, "GTO").Cells; c[0].Why != "not in this test" || c[2].Why != "not in this test" {
		t.Errorf("turnover without allocation: %+v", c)
	}
	if c := rowOf(t, set, "PIN").Cells; c[0].Why != "timed out" || c[1].Why != "needs runs with -Xint" {
		t.Errorf("%+v", c)
	}
	if set.Components != nil || set.NoComponents == "" {
		t.Error("one statistic that all have is too few for components")
	}
}

// The deviation of 9, 10, 11 is 1 of 10.
func TestDeviation(t *testing.T) {
	set, err := Characterise([]Program{{Name: "a", Runs: runsOf("PSD", 9, 10, 11)}, {Name: "b", Runs: runsOf("PSD", 9)}})
	if err != nil {
		t.Fatal(err)
	}
	many, _ := Characterise([]Program{{Name: "a", Runs: runsOf("PSD", 9, 10, 11, 9, 10, 11, 9, 10, 11, 10)}})
	if v := rowOf(t, many, "PSD").Cells[0].Value; !v.Known() || !v.Contains(v.Mean) || v.N != 10 || v.High > 12 || v.Low < 4 {
		t.Errorf("ten runs: %+v", v)
	}
	if c := rowOf(t, set, "PSD").Cells; math.Abs(c[0].Value.Mean-10) > 1e-9 || c[0].Value.Known() || c[0].Value.N != 3 || !strings.Contains(c[1].Why, "--repeat") {
		t.Errorf("%+v", c)
	}
}

// 640 MB allocated with a smallest heap of 64 MB: ten times over.
func TestTurnover(t *testing.T) {
	set, err := Characterise([]Program{
		{Name: "a", Runs: runsOf("ATB", 600, 680), Extra: map[string]Cell{"GMD": Known(estimate.Mean([]float64{64}))}},
		{Name: "b", Runs: runsOf("ATB", 600), Extra: map[string]Cell{"GTO": Known(estimate.Mean([]float64{3}))}},
		{Name: "c", Runs: runsOf("ATB", 600)},
	})
	if err != nil {
		t.Fatal(err)
	}
	c := rowOf(t, set, "GTO").Cells
	// t(0.975, 1) = 12.706204736 times the standard error of 40.
	if v := c[0].Value; v.Mean != 10 || math.Abs(v.High-10-40*12.706204736/64) > 1e-6 || c[1].Value.Mean != 3 || c[2].Why != "needs shadow heap" {
		t.Errorf("%+v", c)
	}
}

func TestRefused(t *testing.T) {
	if _, err := Characterise([]Program{{Name: "a"}, {Name: "a"}}); !errors.Is(err, ErrName) {
		t.Error(err)
	}
	if _, err := Characterise([]Program{{Name: "a", Extra: map[string]Cell{"XXX": Known(estimate.Mean([]float64{1}))}}}); !errors.Is(err, ErrCode) {
		t.Error(err)
	}
}

// Three programs with two statistics on a line: the first component has all.
func TestComponentsAndJSON(t *testing.T) {
	var programs []Program
	for i, name := range []string{"a", "b", "c"} {
		programs = append(programs, Program{Name: name, Extra: map[string]Cell{"GMD": Known(estimate.Mean([]float64{float64(i)})), "GMU": Known(estimate.Mean([]float64{float64(3 * i)})), "PIN": Known(estimate.Mean([]float64{7}))}})
	}
	set, err := Characterise(programs)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Programs   []string
		Statistics []struct {
			Code     string
			Programs map[string]map[string]any
		}
		Components []struct {
			Explained        float64
			Loadings, Scores map[string]float64
		}
	}
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	c := got.Components[0]
	if math.Abs(c.Explained-1) > 1e-9 || len(c.Loadings) != 2 || math.Abs(c.Loadings["GMD"]-math.Sqrt(0.5)) > 1e-9 || math.Abs(c.Scores["c"]-math.Sqrt2) > 1e-9 {
		t.Errorf("%+v", c)
	}
	for _, s := range got.Statistics {
		switch a := s.Programs["c"]; s.Code {
		case "GMU":
			if a["value"] != 6.0 || a["rank"] != 1.0 || a["score"] != 10.0 || a["low"] != nil || a["runs"] != 1.0 {
				t.Errorf("%v", a)
			}
		case "GLK":
			if a["not_available"] != "needs shadow heap" || len(a) != 1 {
				t.Errorf("%v", a)
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite the table in the documentation")

// TestGuide compares the table of statistics in the documentation with the declarations.
func TestGuide(t *testing.T) {
	const page, begin, end = "../../../docs/characterize.md", "<!-- statistics -->\n", "<!-- end -->"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	want.WriteString("\n| code | statistic | unit | what | a high value means |\n|---|---|---|---|---|\n")
	for _, x := range Statistics() {
		code, what := x.Code, x.Doc
		if x.Chopin {
			code = "**" + code + "**"
		}
		if x.Needs != "" {
			what += " (needs " + x.Needs + ")"
		}
		fmt.Fprintf(&want, "| %s | %s | %s | %s | %s |\n", code, x.Name, x.Unit, what, x.High)
	}
	want.WriteString("\n")
	before, rest, ok := strings.Cut(string(b), begin)
	got, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no %s", page, begin)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+want.String()+end+after), 0o666); err != nil {
			t.Fatal(err)
		}
	} else if got != want.String() {
		t.Errorf("the table in %s differs from the declarations: run with -update", page)
	}
}
