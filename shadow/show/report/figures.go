// Package report writes the figures of a session as files.
package report

import (
	"errors"
	"fmt"
	"slices"

	"stackagent/granularity"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/show/figure"
)

// FigureNames lists the figures: cumulative distribution and box plot of the work and
// of the wall time, and what happened over time. Work is self CPU time, self wall time
// if CPU time was not measured, or the metric of summary.Summary.ShowBy. If the session
// has submissions, distributions are of units of work.
var FigureNames = []string{"cdf", "box", "cdf-wall", "box-wall", "tasks", "queue", "gc", "threads", "timeline", "bottle"}

// Errors for a figure that does not exist.
var (
	ErrUnknownFigure = errors.New("unknown figure")
	ErrNoShapes      = errors.New("the summary was built without the data for figures")
)

// Figures draws the named figures of s (all of them for no names). The summary
// must have been built with summary.Options.Shapes.
func Figures(s *summary.Summary, names []string) ([]*figure.Figure, error) {
	if s.Figures == nil {
		return nil, ErrNoShapes
	}
	if len(names) == 0 {
		names = FigureNames
	}
	var figs []*figure.Figure
	for _, name := range names {
		if !slices.Contains(FigureNames, name) {
			return nil, fmt.Errorf("%w %q: use some of %v", ErrUnknownFigure, name, FigureNames)
		}
		f := draw(s, name)
		f.Name = name
		figs = append(figs, f)
	}
	return figs, nil
}

// WriteFigures writes the named figures (all for no names) in the given
// formats (svg, png, pdf; SVG for none) to dir and lists the files.
func WriteFigures(dir string, s *summary.Summary, names, formats []string) ([]string, error) {
	figs, err := Figures(s, names)
	if err != nil {
		return nil, err
	}
	if len(formats) == 0 {
		formats = []string{"svg"}
	}
	files, err := figure.WriteAll(dir, figs, formats)
	if err != nil {
		return files, fmt.Errorf("figures of session %s: %w", s.Session, err)
	}
	return files, nil
}

func draw(s *summary.Summary, name string) *figure.Figure {
	whole := s
	if s.InUnits != nil {
		s = s.InUnits // distributions are of units of work if they are known
	}
	work := s.Shown()
	d := s.Metrics[work]
	measure := figure.Measure{Label: d.Title(work), Of: s.Of, Unit: d.In()}
	switch name {
	case "cdf":
		return figure.CDF(measure, shapes(s, work))
	case "box":
		return figure.Box(measure, shapes(s, work))
	case "cdf-wall":
		return figure.CDF(figure.Time(granularity.Wall.Label(), s.Of), shapes(s, granularity.Wall))
	case "box-wall":
		return figure.Box(figure.Time(granularity.Wall.Label(), s.Of), shapes(s, granularity.Wall))
	case "gc":
		return figure.Pauses(times(whole), s.Pauses)
	case "timeline", "bottle":
		return drawActivity(whole, name)
	case "threads":
		return figure.Threads(times(whole), whole.Figures.Grid, bars(whole))
	case "queue":
		return figure.QueuesOverTime(times(whole), s.Figures.Waiting, series(s.Figures.Queues), fates(s))
	}
	return figure.TasksOverTime(times(whole), whole.Of, whole.Figures.Total, series(whole.Figures.ByClass))
}

// times is what all figures over time draw over: the session, and the life of its JVM where there is a
// scheduling record.
func times(s *summary.Summary) figure.Times {
	t := figure.TimesOf(s.StartNs, s.EndNs)
	if a := s.Figures.Activity; a != nil && a.Timeline != nil {
		t = t.With(a.Timeline.Grid.From, a.Timeline.Grid.End())
	}
	if g := s.Figures.Grid; g.N > 0 {
		t = t.With(g.From, g.End())
	}
	return t
}

// drawActivity draws figures from the scheduling record; without one they say so.
func drawActivity(s *summary.Summary, name string) *figure.Figure {
	a := s.Figures.Activity
	switch {
	case a == nil && name == "bottle":
		return figure.Bottle(nil)
	case a == nil:
		return figure.Timeline(figure.Times{}, nil, nil, 0)
	case name == "bottle":
		return figure.Bottle(a.Bottle)
	}
	return figure.Timeline(times(s), a.Timeline, s.Pauses, s.JVM.CPUs)
}

func shapes(s *summary.Summary, m granularity.Metric) []figure.Shape {
	var out []figure.Shape
	for _, sh := range s.Figures.Shapes[m] {
		out = append(out, figure.Shape{Label: sh.Label, All: sh.All, CDF: sh.CDF, Box: sh.Box})
	}
	return out
}

func series(list []summary.ClassSeries) []figure.ClassSeries {
	var out []figure.ClassSeries
	for _, c := range list {
		out = append(out, figure.ClassSeries{Label: c.Label, Series: c.Series})
	}
	return out
}

func bars(s *summary.Summary) []figure.ThreadBar {
	var out []figure.ThreadBar
	for _, t := range s.Threads {
		if t.Busy != nil {
			out = append(out, figure.ThreadBar{Label: t.Label(), Busy: t.Busy, Spread: t.RunSummarised > 0})
		}
	}
	return out
}

// fates counts the known reasons why tasks were never executed.
func fates(s *summary.Summary) (sum granularity.Fates) {
	for i := range s.Rows {
		sum.Add(s.Rows[i].Fates)
	}
	return sum
}
