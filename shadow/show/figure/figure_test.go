package figure

import (
	"bytes"
	"errors"
	"flag"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/activity"
	"stackagent/internal/histogram"
	"stackagent/internal/text"
	"stackagent/internal/units"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// lognormal makes n values around median, the same every time.
func lognormal(n int, median, sigma float64) *granularity.Values {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	v := new(granularity.Values)
	for range n {
		v.Add(units.Ns(median * math.Exp(sigma*rng.NormFloat64())))
	}
	return v
}

func shapeOf(label string, all bool, v *granularity.Values) Shape {
	return Shape{Label: label, All: all, CDF: granularity.CDFOf(v, 2000), Box: granularity.BoxOf(v)}
}

func valuesOf(ns ...units.Ns) *granularity.Values {
	v := new(granularity.Values)
	for _, n := range ns {
		v.Add(n)
	}
	return v
}

func someShapes() []Shape {
	fine, coarse, mid := lognormal(40_000, 800, 0.7), lognormal(300, 4e6, 1.2), lognormal(5_000, 30_000, 0.9)
	two := valuesOf(0, 0, 0, 250, 250, 90_000)
	all := new(granularity.Values)
	for _, v := range []*granularity.Values{fine, coarse, mid, two} {
		all.Merge(v)
	}
	return []Shape{
		shapeOf("all executions", true, all),
		shapeOf("com.acme.render.TileRenderer$RenderTask", false, coarse),
		shapeOf("com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", false, mid),
		shapeOf("com.acme.search.internal.scoring.VeryLongDescriptiveScoringTaskFactoryBean$InnerScoringCallable", false, fine),
		shapeOf("java.util.concurrent.FutureTask", false, two),
	}
}

func someSeries() (*granularity.Series, []ClassSeries) {
	g := granularity.NewGrid(1e9, 13e9, 200)
	total, a, b := granularity.NewSeries(g), granularity.NewSeries(g), granularity.NewSeries(g)
	rng := rand.New(rand.NewPCG(2, 3))
	for range 3000 {
		start := units.MonoNs(1e9 + rng.Float64()*rng.Float64()*12e9)
		end := start + units.MonoNs(rng.ExpFloat64()*2e7)
		total.Add(start, end)
		switch {
		case rng.IntN(3) == 0:
			a.Add(start, end)
		case rng.IntN(10) > 0:
			b.Add(start, end)
		}
	}
	return total, []ClassSeries{{Label: "com.acme.Parser$ParseTask", Series: b}, {Label: "com.acme.Main$$Lambda -> com.acme.Main.lambda$main$0", Series: a}}
}

func someFigures() map[string]*Figure {
	total, classes := someSeries()
	var pauses []activity.Span
	for i := range 60 {
		from := units.MonoNs(1e9 + i*190_000_000)
		pauses = append(pauses, activity.Span{From: from, To: from + units.MonoNs(2_000_000+i%7*1_300_000)})
	}
	bars := []ThreadBar{}
	for i, name := range []string{"pool-1-thread-1#31", "pool-1-thread-2#32", "main#1", "ForkJoinPool.commonPool-worker-with-a-long-name-1#40"} {
		busy := make([]float64, total.Grid.N)
		for k := range busy {
			busy[k] = math.Max(0, math.Sin(float64(k)/20+float64(i)))
		}
		bars = append(bars, ThreadBar{Label: name, Busy: busy})
	}
	shapes := someShapes()
	total2, part := summarisedParts(shapes)
	times := TimesOf(1e9, 13e9)
	same := []Shape{shapeOf("all executions", true, valuesOf(5000, 5000, 5000))}
	figs := map[string]*Figure{
		"cdf": CDF(Time("self CPU time", text.Executions), shapes), "box": Box(Time("self CPU time", text.Executions), shapes),
		"tasks": TasksOverTime(times, text.Executions, total, classes), "gc": Pauses(times, pauses),
		"threads":   Threads(times, total.Grid, bars),
		"cdf-empty": CDF(Time("wall time", text.Executions), nil), "box-empty": Box(Time("wall time", text.Executions), nil),
		"tasks-empty": TasksOverTime(times, text.Executions, nil, nil), "gc-empty": Pauses(times, nil), "threads-empty": Threads(times, total.Grid, nil),
		"cdf-equal": CDF(Time("wall time", text.Executions), same), "box-equal": Box(Time("wall time", text.Executions), same),
		"cdf-zero":       CDF(Time("CPU time", text.Executions), []Shape{shapeOf("all executions", true, valuesOf(0, 0, -3))}),
		"cdf-summarised": CDF(Time("self CPU time", text.Executions), part), "box-summarised": Box(Time("self CPU time", text.Executions), part),
		"tasks-summarised": TasksOverTime(times, text.Executions, total2, []ClassSeries{{Label: "com.acme.Parser$ParseTask", Series: total2}}),
		"box-one":          Box(Time("CPU time", text.Executions), []Shape{shapeOf("all executions", true, valuesOf(1_234_567))}),
	}
	maps.Copy(figs, activityFigures())
	maps.Copy(figs, latencyFigures())
	maps.Copy(figs, lboFigures())
	maps.Copy(figs, componentFigures())
	maps.Copy(figs, verticalFigures())
	return figs
}

// summarisedParts are a class over time whose executions were summarised, and
// distributions of which one is recorded, one in part and one all summarised.
func summarisedParts(recorded []Shape) (*granularity.Series, []Shape) {
	s := granularity.NewSeries(granularity.NewGrid(1e9, 13e9, 200))
	s.Add(2e9, 3e9)
	s.Spread(4e9, 9e9, 120_000, 8e9)
	some, all := lognormal(1000, 3e5, 0.4), new(granularity.Values)
	for _, v := range []*granularity.Values{some, all} {
		buckets := []histogram.Bucket{{Index: 900, Count: 1500}, {Index: 910, Count: 2000}, {Index: 1010, Count: 5}}
		v.AddSummarised(3505, 3505*6e5, 5.6e5, 1.9e6, buckets)
	}
	return s, []Shape{recorded[1], shapeOf("com.acme.Parser$ParseTask", false, some), shapeOf("com.acme.fine.Step", false, all)}
}

// TestGolden compares every figure, byte for byte, with its stored SVG.
func TestGolden(t *testing.T) {
	for name, f := range someFigures() {
		var got bytes.Buffer
		if err := f.Write(&got, "svg"); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		path := filepath.Join("testdata", name+".svg")
		if *update {
			if err := os.WriteFile(path, got.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("no golden file: run with -update and look at it: %v", err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("%s differs from %s; if that is meant, run with -update and look at it", name, path)
		}
		if strings.Contains(got.String(), "NaN") || strings.Contains(got.String(), "Inf") {
			t.Errorf("%s has a coordinate that is not a number", name)
		}
	}
}

// TestFormats writes every format and checks what kind of file it is.
func TestFormats(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "figures")
	figs := someFigures()
	files, err := WriteAll(dir, []*Figure{figs["cdf"], figs["gc"]}, []string{"svg", "png", "pdf"})
	if err != nil {
		t.Fatal(err)
	}
	magic := map[string]string{".svg": "<?xml", ".png": "\x89PNG", ".pdf": "%PDF"}
	if len(files) != 6 {
		t.Fatalf("wrote %v", files)
	}
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte(magic[filepath.Ext(path)])) || len(data) < 1000 {
			t.Errorf("%s (%d bytes) does not begin like a file of its kind: %q", path, len(data), data[:5])
		}
	}
	if _, err := WriteAll(dir, nil, []string{"gif"}); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("gif: %v", err)
	}
	if err := figs["gc"].Write(&bytes.Buffer{}, "gif"); !errors.Is(err, ErrUnknownFormat) {
		t.Errorf("gif: %v", err)
	}
	if _, err := WriteAll(filepath.Join(files[0], "x"), []*Figure{figs["gc"]}, []string{"svg"}); err == nil {
		t.Error("a file in place of the folder must be an error")
	}
}

// TestBoxRangeBehindZero: a whisker at 0 does not push the box off the axis.
func TestBoxRangeBehindZero(t *testing.T) {
	shapes := []Shape{shapeOf("all executions", true, valuesOf(0, 60, 70, 9_000, 40_000)), shapeOf("a", false, valuesOf(2_000, 90_000))}
	r := boxRange(Time("", text.Executions), shapes)
	for _, n := range []units.Ns{60, 70, 9_000, 40_000, 90_000} {
		if at := r.clamp(n); at != log10(n) {
			t.Errorf("%d ns is drawn at %g, want %g", n, at, log10(n))
		}
	}
}
