package figure

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"stackagent/granularity/activity"
	"stackagent/internal/units"
)

// verticalFigures are a run of 5 s in which throughput falls from 3.1 to 3.9 s, when minor faults rise.
func verticalFigures() map[string]*Figure {
	rnd := rand.New(rand.NewPCG(1, 2))
	const n = 500
	p := Profile{Times: TimesOf(1e9, 6e9)}
	values := func(f func(i int, dip float64) float64) []float64 {
		out := make([]float64, n)
		for i := range out {
			dip := 0.0
			if i >= 310 && i < 390 {
				dip = 1
			}
			out[i] = f(i, dip)
		}
		return out
	}
	for i := range n + 1 {
		p.Edges = append(p.Edges, units.MonoNs(1e9+i*10e6))
	}
	for i := range 9 {
		from := units.MonoNs(1.3e9 + i*510e6)
		p.Pauses = append(p.Pauses, activity.Span{From: from, To: from + 12e6})
	}
	p.Marked = []activity.Span{{From: 4.1e9, To: 4.9e9}}
	p.Series = []MonitorSeries{
		{"task_throughput", "tasks/s", "application", values(func(_ int, dip float64) float64 { return 1200 - 480*dip + 40*rnd.NormFloat64() })},
		{"vm.alloc.bytes", "bytes/s", "vm", values(func(_ int, dip float64) float64 { return 3e8 - 8e7*dip + 1e7*rnd.NormFloat64() })},
		{"vm.jit.time_ns", "ratio", "vm", values(func(i int, _ float64) float64 { return math.Exp(-float64(i) / 50) })},
		{"os.minor_faults", "1/s", "os", values(func(_ int, dip float64) float64 { return math.Max(0, 100+6000*dip+300*rnd.NormFloat64()) })},
		{"os.pressure_with_a_name_that_is_longer_than_any_panel{device=\"a very long device name\",kind=\"some\"}", "", "os", values(func(i int, _ float64) float64 {
			if i > 100 && i < 200 {
				return math.NaN()
			}
			return -3 + float64(i%7)
		})},
	}
	long := Profile{Times: TimesOf(1e9, 101e9)}
	var many []float64
	for i := range 10_000 {
		long.Edges = append(long.Edges, units.MonoNs(1e9+i*10e6))
		many = append(many, 1000+100*rnd.NormFloat64()-float64(i/5000*500))
	}
	long.Edges = append(long.Edges, 101e9)
	long.Series = []MonitorSeries{{"os.steal_ns", "ns", "os", many}}
	x, y := p.Series[0], p.Series[3]
	r := [][]float64{{1, 0.31, 0.02, -0.97, math.NaN()}, {0.31, 1, 0.2, -0.5, 0}, {0.02, 0.2, 1, 0, 0}, {-0.97, -0.5, 0, 1, 0}, {math.NaN(), 0, 0, 0, 1}}
	return map[string]*Figure{
		"vertical": Vertical(p), "vertical-empty": Vertical(Profile{}), "vertical-long": Vertical(long),
		"scatter": Scatter(x, y, -0.973, []string{"500 samples, r between -0.975 and -0.971 without any one of them, Spearman -0.61.",
			"The relation is not a straight line."}),
		"scatter-empty": Scatter(x, MonitorSeries{Name: "x", Values: []float64{math.NaN()}}, math.NaN(), nil),
		"matrix":        ScatterMatrix(p.Series, r), "matrix-empty": ScatterMatrix(nil, nil),
	}
}

// TestVerticalSays: what is drawn is named with the unit in which it is drawn.
func TestVerticalSays(t *testing.T) {
	figs := verticalFigures()
	many := Profile{Edges: []units.MonoNs{0, 1e6, 2e6}}
	for i := range maxBands + 3 {
		many.Series = append(many.Series, MonitorSeries{fmt.Sprintf("os.n%d", i), "", "os", []float64{1, 2}})
	}
	figs["many"] = Vertical(many)
	for name, wants := range map[string][]string{
		"vertical":       {"task_throughput (tasks/s)", "vm.alloc.bytes (MB/s)", "application", "JVM", "OS", "explained range", "stopped for a garbage collection"},
		"vertical-long":  {"os.steal_ns (ns)"},
		"many":           {"3 more series have no room here", "os.n39"},
		"vertical-empty": {"no monitors in this session"},
		"scatter":        {"r = -0.973", "Spearman -0.61", "task_throughput (tasks/s)", "os.minor_faults (1/s)"},
		"scatter-empty":  {"no sample has both values", "none can be computed"},
		"matrix":         {"-0.97", "0.31", "no r", "task_"},
		"matrix-empty":   {"a matrix has 2 to 8 metrics"},
	} {
		var b bytes.Buffer
		if err := figs[name].Write(&b, "svg"); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not say %q", name, want)
			}
		}
	}
}
