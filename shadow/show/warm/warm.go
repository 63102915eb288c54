// Package warm compares the iterations of sessions: from which on a program is warm, and what the time before costs. It
// prints that, too.
package warm

import (
	"fmt"
	"math"
	"time"

	"stackagent/granularity/activity"
	"stackagent/granularity/warmup"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
)

// Study says how sessions are compared and where that is printed.
type Study struct {
	*view.Printer
	Every  time.Duration // the length of windows; 0: iterations are compared
	Of     string        // the class whose executions are the iterations; "": markers, or methods named when it was recorded
	Metric string        // wall or cpu
	Share  float64       // how much longer than the fastest iteration a warm one takes at most
}

// mostIterations bounds the iterations of a session that are compared: nobody can read more.
const mostIterations = 4096

// Run is the warm-up of one session.
type Run struct {
	session, label, source string
	*iteration.Measured
	values  []float64 // by which iterations are compared, one each
	verdict warmup.Verdict
}

// Measure measures the iterations of a session. found is called when it was read, with the number of its warnings before.
func (f *Study) Measure(s *session.Session, label string, found func(before int)) (*Run, error) {
	r := &Run{session: s.Manifest.Session, label: label}
	list, err := f.list(s, r)
	if err != nil {
		return nil, err
	}
	if len(list) > mostIterations {
		return nil, fmt.Errorf("session %s: %s, at most %d are compared: choose a longer time with --every, or others with --iterations-of",
			r.session, text.PluralExact(len(list), f.one(), f.many()), mostIterations)
	}
	before := len(s.Warnings)
	if r.Measured, err = iteration.Measure(s, list); err != nil {
		return nil, err
	}
	found(before)
	if f.Every > 0 && r.Summarised > 0 {
		return nil, fmt.Errorf("session %s: %s of fast classes were summarised, so how many ran in a window is not known: record with --detail=all, or mark iterations (shadow run --marker)",
			r.session, text.PluralExact(r.Summarised, "execution", "executions"))
	}
	r.values = f.quantity().Of(r.Run)
	r.verdict = warmup.Judge(r.values, f.Share)
	return r, nil
}

// list are the iterations or windows of a session.
func (f *Study) list(s *session.Session, r *Run) ([]iteration.Iteration, error) {
	if f.Every > 0 {
		r.source = fmt.Sprintf("windows of %v", f.Every)
		list := iteration.Windows(s, units.Ns(f.Every), mostIterations+1)
		if len(list) == 0 {
			return nil, fmt.Errorf("session %s: it is shorter than --every %v", s.Manifest.Session, f.Every)
		}
		return list, nil
	}
	set, err := iteration.Find(s, f.Of)
	if err != nil {
		return nil, fmt.Errorf("%w; or compare windows with --every 1s", err)
	}
	r.source = set.Source
	list, err := iteration.Apart(set.All, activity.Span{From: s.Manifest.StartNs, To: s.Manifest.EndNs})
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	if set.Dropped > 0 {
		r.source += fmt.Sprintf(" (the first %d)", len(list))
	}
	return list, nil
}

func (f *Study) one() string {
	if f.Every > 0 {
		return "window"
	}
	return "iteration"
}

func (f *Study) many() string { return f.one() + "s" }

// Runs are all runs together.
type Runs struct {
	runs    []*Run
	all     [][]warmup.Iteration
	values  []float64 // means over the runs
	verdict warmup.Verdict
	settled int // the first iteration that stands for the warm program, from 0
	classes []warmup.ClassLoss
}

// Join brings runs of one program together. Of several, it compares the iterations that all have.
func (f *Study) Join(runs []*Run) *Runs {
	w := &Runs{runs: runs}
	for _, r := range runs {
		w.all = append(w.all, r.Run)
	}
	if n := warmup.Common(w.all); len(runs) > 1 {
		for _, r := range runs {
			if len(r.Run) > n {
				f.Note("%s has %s: of several runs the first %d are compared, which all have", table.Clean(r.label), text.PluralExact(len(r.Run), f.one(), f.many()), n)
			}
		}
	}
	for _, mean := range f.quantity().Over(w.all) {
		w.values = append(w.values, mean.Mean)
	}
	w.verdict = warmup.Judge(w.values, f.Share)
	w.settled = warmup.Settled(w.values, f.Share)
	var losses [][]warmup.Loss
	for _, r := range runs {
		losses = append(losses, warmup.Losses(r.Work, w.settled))
	}
	w.classes = warmup.Join(losses)
	return w
}

// quantity is what iterations are compared by.
func (f *Study) quantity() warmup.Quantity {
	q := warmup.Time
	if f.Metric == "cpu" {
		q = warmup.CPU
	}
	if f.Every > 0 {
		return q.PerTask()
	}
	return q
}

// compared names it.
func (f *Study) compared() string {
	name := "time"
	if f.Metric == "cpu" {
		name = "CPU time"
	}
	if f.Every > 0 {
		name += " per task"
	}
	return name
}

// Curve is what the figure shows.
func (f *Study) Curve(w *Runs) figure.WarmCurve {
	c := figure.WarmCurve{What: f.compared(), Of: f.one(), Runs: len(w.runs), Warm: w.verdict.Warm, Limit: w.verdict.Best * (1 + f.Share), Within: f.Share}
	times, compiler, collector, deopts := f.quantity().Over(w.all), warmup.Compiler.Over(w.all), warmup.GC.Over(w.all), warmup.Deopts.Over(w.all)
	for i := range times {
		point := figure.WarmPoint{Time: times[i], Compiler: compiler[i].Mean, GC: collector[i].Mean, Deopts: deopts[i].Mean}
		for _, r := range w.runs {
			if v := r.values[i]; len(w.runs) > 1 && !math.IsNaN(v) {
				point.Each = append(point.Each, v)
			}
		}
		c.Points = append(c.Points, point)
	}
	return c
}
