// Package gccost reckons lower bounds of what garbage collection costs in the runs of an experiment, and prints and draws
// them.
package gccost

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"stackagent/granularity/lbo"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
	"stackagent/shadow/show/figure"
	"stackagent/shadow/show/view"
)

// Study says which runs are compared and where that is printed.
type Study struct {
	*view.Printer
	Repeat int                                          // runs with each collector and heap
	Means  bool                                         // over what there are several of: they are programs
	Costs  func(session string) (*scaling.Costs, error) // of a run
	Write  func(path string, content any) error         // a JSON file
}

// Reckon computes the overheads of each program, JDK and set of options.
func (s *Study) Reckon(r *runner.Runner, points []experiment.Point) ([]lbo.Result, error) {
	var order []string
	programs := map[string]*lbo.Program{}
	missing := map[string]string{}
	for _, p := range points {
		of := p.Without(experiment.Collector).Without(experiment.Heap).Without(experiment.HeapMultiple)
		name := of.String()
		if programs[name] == nil {
			programs[name], order = &lbo.Program{Name: of.Label()}, append(order, name)
		}
		point, err := s.point(r, p, missing)
		if err != nil {
			return nil, err
		}
		programs[name].Points = append(programs[name].Points, point)
	}
	for what, why := range missing {
		r.Note("not available: %s: %s", text.OneLine(what), text.OneLine(why))
	}
	var out []lbo.Result
	labels := map[string]int{}
	for _, p := range programs {
		labels[p.Name]++
	}
	for _, name := range order {
		p := programs[name]
		if labels[p.Name] > 1 { // JDKs in folders with the same name
			p.Name = name
		}
		out = append(out, lbo.Of(*p))
	}
	return out, nil
}

// point is what the runs of a point cost. A collector that failed in any run cannot run there.
func (s *Study) point(r *runner.Runner, p experiment.Point, missing map[string]string) (lbo.Point, error) {
	out := lbo.Point{Collector: p.Of(experiment.Collector), Heap: cmp.Or(p.Of(experiment.HeapMultiple), p.Of(experiment.Heap)), Multiple: math.NaN()}
	if m, ok := runner.Multiple(out.Heap); ok {
		out.Multiple = m
	}
	var err error
	if out.HeapBytes, err = experiment.ParseHeap(p.Of(experiment.Heap)); err != nil {
		return out, err
	}
	for _, result := range r.Of(p) {
		if result.Invocation > s.Repeat {
			continue
		}
		if result.Failed() {
			out.Failed, out.Runs = fmt.Sprintf("%s: %s", result.Failure, result.Why), nil
			return out, nil
		}
		costs, err := s.Costs(r.Path(result))
		if err != nil {
			out.Failed, out.Runs = text.OneLine(err.Error()), nil
			return out, nil
		}
		for what, why := range costs.NotAvailable {
			missing[what] = why
		}
		out.Runs = append(out.Runs, costs.Run)
	}
	return out, nil
}

// Several is the content of lbo.json where there are several programs.
type Several struct {
	Programs []lbo.Result `json:"programs"`
	Means    []lbo.Mean   `json:"means"`
}

// FileName is the file with the overheads.
const FileName = "lbo.json"

// Show keeps the overheads and their figures in dir, and prints them.
func (s *Study) Show(dir string, results []lbo.Result) error {
	var content any = results[0]
	var means []lbo.Mean
	if len(results) > 1 {
		means = []lbo.Mean{} // none over JDKs or sets of options, which are no programs
		if s.Means {
			means = lbo.Means(results)
		}
		content = Several{results, means}
	}
	if err := s.Write(filepath.Join(dir, FileName), content); err != nil {
		return err
	}
	var figures []*figure.Figure
	add := func(name, of string, points []figure.LBOPoint) {
		fig := figure.LBO(of, points)
		fig.Name = name
		figures = append(figures, fig)
	}
	if len(means) > 0 {
		add("lbo", fmt.Sprintf("mean of %d programs", len(results)), figure.LBOMeans(means, lbo.Plain))
		add("lbo-tighter", fmt.Sprintf("mean of %d programs, tighter bound", len(results)), figure.LBOMeans(means, lbo.Tighter))
	}
	for _, r := range results {
		suffix := ""
		if len(results) > 1 {
			suffix = "-" + experiment.Point{{Factor: experiment.Program, Value: r.Program}}.Folder()
		}
		name := cmp.Or(r.Program, "the command")
		add("lbo"+suffix, name, figure.LBOPoints(r, lbo.Plain))
		add("lbo-tighter"+suffix, name+", tighter bound", figure.LBOPoints(r, lbo.Tighter))
	}
	written, err := figure.WriteAll(dir, figures, []string{"svg", "png"})
	if err != nil {
		return err
	}
	s.Note("wrote %s", strings.Join(append([]string{filepath.Join(dir, FileName)}, written...), ", "))
	if s.Format == "json" {
		return s.JSON(content)
	}
	rows := rowsOf(results, means)
	if s.Format == "csv" {
		return listing.All(listing.CSV(s.Out, Columns(true)), rows)
	}
	if err := s.Render(view.TableOf(rows, Columns(len(results) > 1)), len(rows)); err != nil {
		return err
	}
	for _, r := range results {
		for _, n := range r.Notes {
			s.Note("%s%s", prefix(r.Program), view.LBONote(n))
		}
	}
	return nil
}
