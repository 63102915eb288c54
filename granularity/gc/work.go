package gc

import (
	"fmt"
	"math"
	"slices"

	"stackagent/granularity/activity"
	"stackagent/granularity/bottle"
	"stackagent/granularity/estimate"
	"stackagent/internal/units"
)

// Work is what the threads of the collector and of the application did in a run, in the words of the bottle
// graph paper (Du Bois and others, OOPSLA 2013, section 4): work is the area of boxes, time is their height.
type Work struct {
	GC, Application bottle.Box // the main thread belongs to the application
	Collections     int        // pauses of collections that began
	PauseNs         units.Ns   // the program was stopped by them
	// GCWaits are the collector threads' waits in a futex during pauses, ApplicationWaits those of the application's
	// threads at any time. The paper counts calls; a wait is a call that had to block.
	GCWaits, ApplicationWaits int
	NoGC, NoWaits             string // why work and time of the collector, or the waits, are not known; "": they are
	LLCMisses                 float64
	HasLLC                    bool // LLCMisses, of all threads, were counted
}

// Add takes in a window's graph.
func (w *Work) Add(g *bottle.Graph) {
	w.GC = w.GC.Plus(g.Sum(activity.KindGC))
	w.Application = w.Application.Plus(g.Sum(activity.KindApplication, activity.KindMain))
}

// Futexes counts waits in futexes.
type Futexes struct {
	threads   []activity.Thread
	spans     []activity.Span // of the region, in order
	pauses    []activity.Span // joined, in order
	waitUntil []units.MonoNs  // by thread: its latest wait in a futex ends then
	gc, app   int
}

// NewFutexes counts in these spans of time.
func NewFutexes(threads []activity.Thread, spans, pauses []activity.Span) *Futexes {
	f := &Futexes{threads: threads, spans: spans, waitUntil: make([]units.MonoNs, len(threads))}
	for _, s := range spans {
		f.pauses = append(f.pauses, activity.Union(pauses, s)...)
	}
	return f
}

// Watch counts the waits of a stream that somebody else uses.
func (f *Futexes) Watch(stream activity.Stream) activity.Stream {
	return func(use func(activity.Slice) error) error {
		return stream(func(s activity.Slice) error {
			f.count(s)
			return use(s)
		})
	}
}

// count counts a wait when it begins. The record cuts long waits: the rest follows on without a gap.
func (f *Futexes) count(s activity.Slice) {
	if !s.InFutex || int(s.Thread) >= len(f.threads) {
		return
	}
	goesOn := f.waitUntil[s.Thread] == s.From && s.From != 0
	f.waitUntil[s.Thread] = s.To
	for len(f.spans) > 0 && f.spans[0].To <= s.From {
		f.spans = f.spans[1:]
	}
	for len(f.pauses) > 0 && f.pauses[0].To <= s.From {
		f.pauses = f.pauses[1:]
	}
	if goesOn || !in(f.spans, s.From) {
		return
	}
	switch f.threads[s.Thread].Kind {
	case activity.KindGC:
		if in(f.pauses, s.From) {
			f.gc++
		}
	case activity.KindApplication, activity.KindMain:
		f.app++
	}
}

// in reports whether at lies in the first span, after its begin: what begins with it was cut there.
func in(spans []activity.Span, at units.MonoNs) bool {
	return len(spans) > 0 && at > spans[0].From && at < spans[0].To
}

// Fill sets the waits of w.
func (f *Futexes) Fill(w *Work) { w.GCWaits, w.ApplicationWaits = f.gc, f.app }

// Quantity is a figure of Work.
type Quantity int

// The quantities, with the figures of the paper that show them.
const (
	GCWork           Quantity = iota // 5a, 6, 15a: running time of the collector's threads
	GCTime                           // 5b, 6, 15b: height of their boxes
	Collections                      // 8
	GCWaits                          // 16: waits in a futex per ms of pause
	ApplicationWork                  // 9
	ApplicationTime                  // 9
	ApplicationWaits                 // section 4.3: waits in a futex per ms of application time
	LLCMisses                        // 7
	NQuantities
)

var quantityNames = [NQuantities]string{"gc_work_ns", "gc_time_ns", "collections", "gc_waits_per_ms", "application_work_ns", "application_time_ns", "application_waits_per_ms", "llc_misses"}

// String is the name in JSON.
func (q Quantity) String() string { return quantityNames[q] }

// Of is the quantity in a run; false if it is not known.
func (q Quantity) Of(w *Work) (float64, bool) {
	switch q {
	case GCWork:
		return float64(w.GC.RunningNs), w.NoGC == ""
	case GCTime:
		return w.GC.HeightNs, w.NoGC == ""
	case Collections:
		return float64(w.Collections), true
	case GCWaits:
		return perMS(w.GCWaits, float64(w.PauseNs)), w.NoGC == "" && w.NoWaits == "" && w.PauseNs > 0
	case ApplicationWork:
		return float64(w.Application.RunningNs), true
	case ApplicationTime:
		return w.Application.HeightNs, true
	case LLCMisses:
		return w.LLCMisses, w.HasLLC
	}
	return perMS(w.ApplicationWaits, w.Application.HeightNs), w.NoWaits == "" && w.Application.HeightNs > 0
}

func perMS(n int, ns float64) float64 { return float64(n) * 1e6 / max(ns, 1) }

// Configuration is the repeated runs of one configuration of an experiment.
type Configuration struct {
	Levels []string // of the experiment's factors
	Runs   []Work
}

// values are those of the runs in which the quantity is known.
func (c *Configuration) values(q Quantity) []float64 {
	var out []float64
	for i := range c.Runs {
		if v, ok := q.Of(&c.Runs[i]); ok {
			out = append(out, v)
		}
	}
	return out
}

// Means are the means of a quantity by configuration: NaN where it is not known.
func Means(all []Configuration, q Quantity) []estimate.Interval {
	out := make([]estimate.Interval, len(all))
	for i := range all {
		out[i] = estimate.Mean(all[i].values(q))
	}
	return out
}

// Normalised are the means divided by that of the first configuration in which the quantity is known, as the paper gives
// them. The intervals have the error of both; the first is 1 and has none. It is NaN where there is no ratio.
func Normalised(all []Configuration, q Quantity) []estimate.Interval {
	out := make([]estimate.Interval, len(all))
	var base []float64
	for i := range all {
		v := all[i].values(q)
		if base != nil || len(v) == 0 {
			out[i] = estimate.Ratio(v, base)
			continue
		}
		base = v
		out[i] = estimate.Mean([]float64{estimate.Ratio(v, v).Mean})
	}
	return out
}

// Averaged are the normalised means of several programs that ran in the same configurations, in the order of the first program's:
// geometric means, as of any ratios. A program without a figure in the first configuration is left out. Where one of the others has none,
// there is no average: it would be of other programs. N is how many there are.
func Averaged(programs [][]Configuration, q Quantity) []estimate.Interval {
	if len(programs) == 1 {
		return Normalised(programs[0], q)
	}
	if len(programs) == 0 {
		return nil
	}
	var comparable [][]Configuration
	for _, all := range programs {
		isBase := func(c Configuration) bool {
			return slices.Equal(c.Levels, programs[0][0].Levels) && len(c.values(q)) > 0
		}
		if i := slices.IndexFunc(all, isBase); i >= 0 {
			comparable = append(comparable, slices.Concat(all[i:i+1], all[:i], all[i+1:]))
		}
	}
	return across(programs[0], comparable, func(all []Configuration) []estimate.Interval { return Normalised(all, q) }, estimate.Combine)
}

// AveragedMeans are the means over programs of their means; the interval is that of the programs.
func AveragedMeans(programs [][]Configuration, q Quantity) []estimate.Interval {
	if len(programs) == 1 {
		return Means(programs[0], q)
	}
	return across(first(programs), programs, func(all []Configuration) []estimate.Interval { return Means(all, q) }, func(of []estimate.Interval) estimate.Interval {
		var values []float64
		for _, v := range of {
			values = append(values, v.Mean)
		}
		return estimate.Mean(values)
	})
}

func first(programs [][]Configuration) []Configuration {
	if len(programs) == 0 {
		return nil
	}
	return programs[0]
}

// across joins the figures of several programs for each of the configurations.
func across(configurations []Configuration, programs [][]Configuration, figures func([]Configuration) []estimate.Interval, join func([]estimate.Interval) estimate.Interval) []estimate.Interval {
	byLevels := map[string][]estimate.Interval{}
	key := func(c *Configuration) string { return fmt.Sprintf("%q", c.Levels) }
	for _, all := range programs {
		for i, v := range figures(all) {
			if k := key(&all[i]); !math.IsNaN(v.Mean) {
				byLevels[k] = append(byLevels[k], v)
			}
		}
	}
	var out []estimate.Interval
	for i := range configurations {
		if of := byLevels[key(&configurations[i])]; len(of) > 0 && len(of) == len(programs) {
			out = append(out, join(of))
		} else {
			out = append(out, estimate.Mean(nil))
		}
	}
	return out
}

// ByProgram divides configurations by the level of one factor, which they lose. Each program then has all configurations in the same
// order; those in which it did not run have no runs.
func ByProgram(all []Configuration, factor int) [][]Configuration {
	var names []string
	var levels [][]string
	for _, c := range all {
		if !slices.Contains(names, c.Levels[factor]) {
			names = append(names, c.Levels[factor])
		}
		if others := without(c.Levels, factor); !slices.ContainsFunc(levels, func(l []string) bool { return slices.Equal(l, others) }) {
			levels = append(levels, others)
		}
	}
	out := make([][]Configuration, len(names))
	for i, name := range names {
		for _, l := range levels {
			c := Configuration{Levels: l}
			for _, of := range all {
				if of.Levels[factor] == name && slices.Equal(without(of.Levels, factor), l) {
					c.Runs = append(c.Runs, of.Runs...)
				}
			}
			out[i] = append(out[i], c)
		}
	}
	return out
}

func without(levels []string, i int) []string { return slices.Delete(slices.Clone(levels), i, i+1) }
