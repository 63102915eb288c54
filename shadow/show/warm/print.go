package warm

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	estimates "stackagent/granularity/estimate"
	"stackagent/granularity/warmup"
	"stackagent/internal/listing"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/show/view"
)

// WarmupJSON is the output of shadow warmup; its names are promised. Times are nanoseconds.
type WarmupJSON struct {
	Within     float64         `json:"within"`
	ComparedBy string          `json:"compared_by"` // "time", "CPU time per task"
	Warm       warmVerdictJSON `json:"warm"`        // by the means over the runs
	Iterations []warmStepJSON  `json:"iterations"`  // means over the runs
	Classes    []warmClassJSON `json:"classes"`
	Deopts     []warmDeopt     `json:"deopts"`
	Runs       []warmRunJSON   `json:"runs"`
}

type warmVerdictJSON struct {
	From    *int     `json:"from"`    // the first warm iteration, from 1; null: it never got warm
	Reached *int     `json:"reached"` // the first as fast as a warm one
	Best    *float64 `json:"best_ns"`
	Lost    *float64 `json:"lost_ns"` // null: it never got warm
}

type warmStepJSON struct {
	Iteration int                `json:"iteration"`
	Time      estimates.Interval `json:"time_ns"`
	Compared  estimates.Interval `json:"compared_ns"` // what iterations are compared by
	CPU       estimates.Interval `json:"cpu_ns"`
	Compiler  estimates.Interval `json:"jit_share"`
	GC        estimates.Interval `json:"gc_share"`
	Stopped   estimates.Interval `json:"stopped_share"`
	Tasks     estimates.Interval `json:"tasks"`
	Deopts    estimates.Interval `json:"deopts"`
}

type warmClassJSON struct {
	Class     string             `json:"class"`
	ColdCount int64              `json:"cold_executions"`
	Count     int64              `json:"warm_executions"`
	ColdMean  *float64           `json:"cold_mean_ns"` // null: it has none
	WarmMean  *float64           `json:"warm_mean_ns"`
	Lost      estimates.Interval `json:"lost_ns"`
}

type warmRunJSON struct {
	Session      string              `json:"session"`
	Source       string              `json:"iterations_are"`
	Work         string              `json:"work_is"`
	Warm         warmVerdictJSON     `json:"warm"`
	Iterations   []warmIterationJSON `json:"iterations"`
	Across       int64               `json:"executions_across_iterations"`
	Summarised   uint64              `json:"summarised_executions"`
	NotAvailable map[string]string   `json:"not_available"`
}

type warmIterationJSON struct {
	FromNs  units.MonoNs `json:"from_ns"`
	ToNs    units.MonoNs `json:"to_ns"`
	Label   string       `json:"label"`
	CPU     *units.Ns    `json:"cpu_ns"` // null: not known, as the next two
	JIT     *units.Ns    `json:"jit_ns"`
	GC      *units.Ns    `json:"gc_ns"`
	Stopped units.Ns     `json:"stopped_ns"`
	Tasks   int64        `json:"tasks"`
	Deopts  *int64       `json:"deopts"`
}

func verdictJSON(v warmup.Verdict) warmVerdictJSON {
	number := func(i int) *int {
		if i < 0 {
			return nil
		}
		i++
		return &i
	}
	return warmVerdictJSON{number(v.Warm), number(v.Reached), estimates.Number(v.Best), estimates.Number(v.Lost)}
}

func (f *Study) json(w *Runs) WarmupJSON {
	out := WarmupJSON{Within: f.Share, ComparedBy: f.compared(), Warm: verdictJSON(w.verdict), Iterations: f.steps(w), Classes: []warmClassJSON{}, Deopts: w.deopts()}
	for _, c := range w.classes {
		out.Classes = append(out.Classes, warmClassJSON{c.Class, c.ColdCount, c.Count, estimates.Number(c.ColdMean), estimates.Number(c.WarmMean), c.Lost})
	}
	measured := func(n units.Ns) *units.Ns {
		if !n.Measured() {
			return nil
		}
		return &n
	}
	for _, r := range w.runs {
		one := warmRunJSON{Session: r.session, Source: r.source, Work: r.WorkIs, Warm: verdictJSON(r.verdict), Across: r.Across, Summarised: r.Summarised, NotAvailable: r.NotAvailable}
		for _, i := range r.Run {
			x := warmIterationJSON{FromNs: i.From, ToNs: i.To, Label: i.Label, CPU: measured(i.CPU), JIT: measured(i.Compiler), GC: measured(i.GC), Stopped: i.Stopped, Tasks: i.Tasks}
			if i.Deopts >= 0 {
				x.Deopts = &i.Deopts
			}
			one.Iterations = append(one.Iterations, x)
		}
		out.Runs = append(out.Runs, one)
	}
	return out
}

// steps are the means over the runs.
func (f *Study) steps(w *Runs) []warmStepJSON {
	out := make([]warmStepJSON, warmup.Common(w.all))
	for _, q := range []struct {
		of   warmup.Quantity
		into func(*warmStepJSON) *estimates.Interval
	}{
		{warmup.Time, func(s *warmStepJSON) *estimates.Interval { return &s.Time }}, {f.quantity(), func(s *warmStepJSON) *estimates.Interval { return &s.Compared }},
		{warmup.CPU, func(s *warmStepJSON) *estimates.Interval { return &s.CPU }}, {warmup.Compiler, func(s *warmStepJSON) *estimates.Interval { return &s.Compiler }},
		{warmup.GC, func(s *warmStepJSON) *estimates.Interval { return &s.GC }}, {warmup.Stopped, func(s *warmStepJSON) *estimates.Interval { return &s.Stopped }},
		{warmup.Tasks, func(s *warmStepJSON) *estimates.Interval { return &s.Tasks }}, {warmup.Deopts, func(s *warmStepJSON) *estimates.Interval { return &s.Deopts }},
	} {
		for i, mean := range q.of.Over(w.all) {
			out[i].Iteration = i + 1
			*q.into(&out[i]) = mean
		}
	}
	return out
}

// Print prints the comparison in the format that the user chose.
func (f *Study) Print(w *Runs) error {
	switch f.Format {
	case "json":
		return f.JSON(f.json(w))
	case "csv":
		return listing.All(listing.CSV(f.Out, f.stepColumns(w)), listing.Refs(f.steps(w)))
	}
	steps := f.steps(w)
	if err := f.Render(view.TableOf(listing.Refs(view.First(f.Printer, steps)), f.stepColumns(w)), len(steps)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(f.Out, "\n%s\n", strings.Join(f.sentences(w), "\n")); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return errors.Join(f.classTable(w), f.deoptTable(w))
}

// stepColumns are the columns of iterations.
func (f *Study) stepColumns(w *Runs) []listing.Column[*warmStepJSON] {
	type step = *warmStepJSON
	several := len(w.runs) > 1
	columns := []listing.Column[step]{{Name: f.one(), Title: f.one(), Kind: listing.Int, Doc: "its number, from 1", Value: func(s step) listing.Value { return listing.IntOf(s.Iteration) }}}
	add := func(name, title string, unit listing.Unit, doc string, of func(step) estimates.Interval) {
		mean := numberColumn(name, title, unit, func(s step) float64 { return of(s).Mean })
		mean.Doc = doc
		if unit == listing.Plain {
			mean.Show = func(s step) string { return meanCount(of(s)) }
		}
		columns = append(columns, mean)
		if several {
			half := numberColumn(name+"_half", "", unit, func(s step) float64 { return of(s).Half() })
			half.Doc = "half of its 95 % confidence interval"
			columns = append(columns, half)
		}
	}
	add("time_ns", "time", listing.Ns, "wall time", func(s step) estimates.Interval { return s.Time })
	if f.Every == 0 && f.Metric == "wall" {
		f.overBest(&columns, w)
	}
	add("cpu_ns", "CPU", listing.Ns, "running time of all threads of the JVM but the agent's own", func(s step) estimates.Interval { return s.CPU })
	if f.Every == 0 && f.Metric == "cpu" {
		f.overBest(&columns, w)
	}
	if f.Every > 0 {
		add("compared_ns", f.compared(), listing.Ns, "by the number of tasks", func(s step) estimates.Interval { return s.Compared })
		f.overBest(&columns, w)
	}
	add("jit_share", "JIT", listing.Share, "the compiler's share of it", func(s step) estimates.Interval { return s.Compiler })
	add("gc_share", "GC", listing.Share, "the collector's share of it", func(s step) estimates.Interval { return s.GC })
	add("stopped_share", "stopped", listing.Share, "share of the time in pauses", func(s step) estimates.Interval { return s.Stopped })
	add("tasks", "tasks", listing.Plain, "executions that ended in it", func(s step) estimates.Interval { return s.Tasks })
	add("deopts", "deopts", listing.Plain, "compiled code thrown away", func(s step) estimates.Interval { return s.Deopts })
	return columns
}

// overBest adds how much longer than the fastest an iteration takes to the column by which they are compared.
func (f *Study) overBest(columns *[]listing.Column[*warmStepJSON], w *Runs) {
	if len(w.runs) > 1 {
		(*columns)[len(*columns)-1].Title = "± 95 %"
	}
	over := numberColumn("over_best", "over best", listing.Share, func(s *warmStepJSON) float64 { return s.Compared.Mean/w.verdict.Best - 1 })
	over.Doc = "how much longer than the fastest"
	*columns = append(*columns, over)
}

// meanCount shows the mean of counts: whole, as that of a single run is, where it is.
func meanCount(i estimates.Interval) string {
	switch {
	case math.IsNaN(i.Mean):
		return ""
	case i.Mean == math.Trunc(i.Mean):
		return units.FormatExact(int64(i.Mean))
	}
	return strconv.FormatFloat(i.Mean, 'f', 1, 64)
}

// numberColumn is a column of numbers, null where they are not known. Times are whole nanoseconds.
func numberColumn[R any](name, title string, unit listing.Unit, of func(R) float64) listing.Column[R] {
	c := listing.Column[R]{Name: name, Title: title, Kind: listing.Float, Unit: unit, Optional: true}
	if unit == listing.Ns {
		c.Kind = listing.Int
	}
	c.Value = func(r R) listing.Value {
		switch v := of(r); {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return listing.Null
		case unit == listing.Ns:
			return listing.IntOf(int64(math.Round(v)))
		default:
			return listing.FloatOf(v)
		}
	}
	return c
}

// sentences say when it is warm and what is not known.
func (f *Study) sentences(w *Runs) []string {
	var out []string
	if len(w.runs) == 1 {
		out = append(out, f.verdictText(w.verdict))
	} else {
		out = append(out, fmt.Sprintf("Means over %d runs. %s", len(w.runs), f.verdictText(w.verdict)))
		var each []string
		for _, r := range w.runs {
			from := "never"
			if r.verdict.Warm >= 0 {
				from = fmt.Sprintf("from %s %d", f.one(), r.verdict.Warm+1)
			}
			each = append(each, from)
		}
		out = append(out, "Each run by itself is warm: "+strings.Join(each, ", ")+".")
	}
	missing := map[string]string{}
	for _, r := range w.runs {
		maps.Copy(missing, r.NotAvailable)
	}
	for _, what := range slices.Sorted(maps.Keys(missing)) {
		out = append(out, table.Clean(fmt.Sprintf("Not available: %s: %s.", what, missing[what])))
	}
	if n := w.runs[0].Summarised; n > 0 {
		out = append(out, fmt.Sprintf("Not counted as tasks: %s of fast classes, which were summarised.", text.PluralExact(n, "execution", "executions")))
	}
	return out
}

func (f *Study) verdictText(v warmup.Verdict) string {
	best := units.FormatNs(units.Ns(v.Best))
	if f.Every > 0 {
		best += " per task"
	}
	share := units.FormatPercent(f.Share)
	switch {
	case v.Reached < 0:
		return fmt.Sprintf("The %s of each %s is not known, so nothing tells when it is warm.", f.compared(), f.one())
	case v.Warm < 0:
		return fmt.Sprintf("Never warm: the last %s takes over %s longer than the fastest (%s). %d is the first that does not.", f.one(), share, best, v.Reached+1)
	case v.Warm == 0:
		return fmt.Sprintf("Warm from the start: no %s takes over %s longer than the fastest (%s).", f.one(), share, best)
	}
	line := fmt.Sprintf("Warm from %s %d: from there on each takes at most %s longer than the fastest (%s).", f.one(), v.Warm+1, share, best)
	if f.Every > 0 {
		return line
	}
	if v.Warm == 1 {
		return line + fmt.Sprintf(" The first took %s more than a warm one.", units.FormatNs(units.Ns(v.Lost)))
	}
	return line + fmt.Sprintf(" The %d before took %s more than as many warm ones.", v.Warm, units.FormatNs(units.Ns(v.Lost)))
}

// whySettled says why warm executions are those that they are.
func whySettled(v warmup.Verdict) string {
	if v.Warm < 0 {
		return " (the second half, as it never got warm)"
	}
	return ""
}

// classTable lists the classes that lost most.
func (f *Study) classTable(w *Runs) error {
	if len(w.classes) == 0 {
		return nil
	}
	fmt.Fprintf(f.Out, "\n%s lost before %s %d, against executions from there on%s:\n", w.runs[0].WorkIs, f.one(), w.settled+1, whySettled(w.verdict))
	type loss = *warmup.ClassLoss
	columns := []listing.Column[loss]{
		{Title: "class", Kind: listing.Name, Value: func(l loss) listing.Value { return listing.NameOf(l.Class) }},
		{Title: "cold", Kind: listing.Int, Unit: listing.Count, Value: func(l loss) listing.Value { return listing.IntOf(l.ColdCount) }},
		numberColumn("", "mean", listing.Ns, func(l loss) float64 { return l.ColdMean }),
		{Title: "warm", Kind: listing.Int, Unit: listing.Count, Value: func(l loss) listing.Value { return listing.IntOf(l.Count) }},
		numberColumn("", "mean", listing.Ns, func(l loss) float64 { return l.WarmMean }),
		numberColumn("", "lost", listing.Ns, func(l loss) float64 { return l.Lost.Mean }),
	}
	if len(w.runs) > 1 {
		columns = append(columns, numberColumn("", "± 95 %", listing.Ns, func(l loss) float64 { return l.Lost.Half() }))
	}
	return f.Render(view.TableOf(listing.Refs(view.First(f.Printer, w.classes)), columns), len(w.classes))
}
