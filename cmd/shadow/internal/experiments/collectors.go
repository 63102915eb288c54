package experiments

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"

	"stackagent/granularity/estimate"
	"stackagent/granularity/gc"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/experiment"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
)

// configuration is what the collector and the application did in the runs of one point of an experiment.
type configuration struct {
	point experiment.Point
	gc.Configuration
}

// figureFactors are the names in figures of the factors that they know.
var figureFactors = map[string]string{
	experiment.Threads: figure.FactorThreads, experiment.GCThreads: figure.FactorGCThreads,
	experiment.Collector: figure.FactorCollector, experiment.HeapMultiple: figure.FactorHeap, experiment.Heap: figure.FactorHeap,
}

// configurationsOf are those of an experiment with their factors. A heap that is a multiple is named by it only.
func configurationsOf(points []experiment.Point, runs runsOf) (factors []string, all []configuration) {
	for _, p := range points {
		c := configuration{point: p}
		factors = nil
		for _, l := range p {
			name, value := l.Factor, l.Value
			switch {
			case name == experiment.Heap && p.Of(experiment.HeapMultiple) != "":
				continue
			case name == experiment.JDK:
				value = filepath.Base(value)
			}
			if known, ok := figureFactors[name]; ok {
				name = known
			}
			factors, c.Levels = append(factors, name), append(c.Levels, value)
		}
		of := runs[pointKey(p)]
		for _, invocation := range sorted(of) {
			c.Runs = append(c.Runs, of[invocation].Work)
		}
		if len(c.Runs) > 0 {
			all = append(all, c)
		}
	}
	return factors, all
}

func sorted[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func pure(all []configuration) []gc.Configuration {
	out := make([]gc.Configuration, len(all))
	for i, c := range all {
		out[i] = c.Configuration
	}
	return out
}

// collectorJSON is what the collector's threads, and the application's, did in the runs of one configuration.
type collectorJSON struct {
	Threads       int                          `json:"threads"`    // 0: the program's choice
	GCThreads     int                          `json:"gc_threads"` // 0: the JVM's choice
	Configuration experiment.Point             `json:"configuration"`
	WorkNs        *float64                     `json:"work_ns"` // running time of the collector's threads; null: it has none of its own
	TimeNs        *float64                     `json:"time_ns"` // height of their boxes
	Confidence    map[string]*float64          `json:"confidence"`
	Runs          int                          `json:"runs"`
	Quantities    map[string]estimate.Interval `json:"quantities"` // means
}

func (c *configuration) json() collectorJSON {
	threads, _ := strconv.Atoi(c.point.Of(experiment.Threads))
	gcThreads, _ := strconv.Atoi(c.point.Of(experiment.GCThreads))
	out := collectorJSON{Threads: threads, GCThreads: gcThreads, Configuration: c.point, Runs: len(c.Runs), Confidence: map[string]*float64{}, Quantities: map[string]estimate.Interval{}}
	for q := range gc.NQuantities {
		if v := c.mean(q); !math.IsNaN(v.Mean) {
			out.Quantities[q.String()] = v
		}
	}
	work, time := c.mean(gc.GCWork), c.mean(gc.GCTime)
	out.WorkNs, out.TimeNs = estimate.Number(work.Mean), estimate.Number(time.Mean)
	out.Confidence["work_ns"], out.Confidence["time_ns"] = estimate.Number(work.Half()), estimate.Number(time.Half())
	return out
}

func (c *configuration) mean(q gc.Quantity) estimate.Interval {
	return gc.Means([]gc.Configuration{c.Configuration}, q)[0]
}

// collectorTable prints what the collector's threads, and the application's, did.
func (f *stackFlags) collectorTable(all []configuration) error {
	if len(all) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(f.Out); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	columns := []listing.Column[*configuration]{{Title: "runs with", Kind: listing.Name, Stays: true, Show: func(c *configuration) string { return configurationLabel(c.point) }}}
	for q, title := range [gc.NQuantities]string{"GC work", "GC time", "collections", "GC waits/ms", "application work", "time", "waits/ms"} {
		columns = append(columns, listing.Column[*configuration]{Title: title, Kind: listing.Float, Show: func(c *configuration) string {
			v := c.mean(gc.Quantity(q))
			switch {
			case math.IsNaN(v.Mean):
				return ""
			case quantityIsTime(gc.Quantity(q)):
				return plusMinus(v, func(f float64) string { return units.FormatNs(units.Ns(math.Round(f))) })
			}
			return plusMinus(v, func(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) })
		}})
	}
	return view.Table(f.Out, f.TableOptions(false), listing.Refs(all), columns)
}

func quantityIsTime(q gc.Quantity) bool {
	return slices.Contains([]gc.Quantity{gc.GCWork, gc.GCTime, gc.ApplicationWork, gc.ApplicationTime}, q)
}

// plusMinus shows a mean and half its interval.
func plusMinus(v estimate.Interval, show func(float64) string) string {
	if !v.Known() {
		return show(v.Mean)
	}
	return show(v.Mean) + " ± " + show(v.Half())
}

// configurationLabel names all of a point, its numbers of threads too.
func configurationLabel(p experiment.Point) string {
	label := p.Without(experiment.Threads).Label()
	if n := p.Of(experiment.Threads); n != "" {
		label = n + " threads, " + label
		if n == "1" {
			label = "1 thread, " + p.Without(experiment.Threads).Label()
		}
	}
	if len(p) == 1 && p[0].Factor == experiment.Threads {
		label = label[:len(label)-2]
	}
	return label
}
