package layers

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/granularity/vertical"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/show/view"
)

// phases lists when the throughput differs from its usual level, and why.
func (f *Flags) phases(env console.Env, v *verticalView) error {
	m, err := v.rate("throughput", DefaultTarget)
	if err != nil {
		return err
	}
	phases := v.Phases(m)
	if f.Format == "json" {
		if phases == nil {
			phases = []explain.Phase{}
		}
		return view.Encode(env.Out, phases)
	}
	if f.Format == "table" && len(phases) == 0 {
		env.Note("the throughput has no phase that stands out; --explain METRIC looks at another metric")
	}
	return view.Rows(&f.Printer, phases, phaseColumns)
}

var phaseColumns = []listing.Column[explain.Phase]{
	{Name: "from_ns", Title: "from", Kind: listing.Int, Unit: listing.Ns, Doc: "start of the phase, since the start of the session", Value: func(p explain.Phase) listing.Value { return listing.IntOf(p.FromNs) }},
	{Name: "to_ns", Title: "to", Kind: listing.Int, Unit: listing.Ns, Doc: "its end", Value: func(p explain.Phase) listing.Value { return listing.IntOf(p.ToNs) }},
	{Name: "similar", Title: "like it", Kind: listing.Int, Unit: listing.Count, Doc: "further ranges in which the metric changed in the same way", Value: func(p explain.Phase) listing.Value { return listing.IntOf(len(p.Similar)) }},
	{Name: "level", Title: "level", Kind: listing.Float, Optional: true, Doc: "mean of the metric in the phase", Value: func(p explain.Phase) listing.Value { return listing.Opt(p.During, listing.FloatOf) },
		Show: func(p explain.Phase) string { return showValue(p.During, p.Unit) }},
	{Name: "usual", Title: "usual", Kind: listing.Float, Doc: "level in most of the session", Value: func(p explain.Phase) listing.Value { return listing.FloatOf(p.Usual) },
		Show: func(p explain.Phase) string { return explain.Format(p.Usual, p.Unit) }},
	{Name: "explanation", Title: "explanation", Kind: listing.Name, Wraps: true, Doc: "what changed with it", Value: func(p explain.Phase) listing.Value { return listing.NameOf(p.Sentence) }},
}

func showValue(v *float64, unit string) string {
	if v == nil {
		return ""
	}
	return explain.Format(*v, unit)
}

// explanation prints what changed with a metric.
func (f *Flags) explanation(env console.Env, v *verticalView) error {
	m, e, err := f.ExplainAsked(v)
	if err != nil {
		return err
	}
	NoteGuarded(env, m)
	switch {
	case f.output != "":
		return files.WriteFigure(env, f.output, v.explained(m, e))
	case f.Format == "json":
		return view.Encode(env.Out, e)
	case f.Format == "table":
		if _, err := fmt.Fprintf(env.Out, "%s\n", text.OneLine(e.Sentence)); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		if len(e.Causes)+len(e.Others) == 0 {
			return nil
		}
		fmt.Fprintln(env.Out)
	}
	return view.Rows(&f.Printer, append(e.Causes, e.Others...), explainedColumns)
}

// ExplainAsked explains what --explain asks for.
func (f *Flags) ExplainAsked(v *verticalView) (*formula.Metric, *explain.Explanation, error) {
	name, in, err := v.rangeOf(f.Explain)
	if err != nil {
		return nil, nil, err
	}
	m, err := v.rate("--explain", name)
	if err != nil {
		return nil, nil, err
	}
	return m, v.Explain(m, in), nil
}

var explainedColumns = []listing.Column[explain.Cause]{
	{Name: "rank", Title: "rank", Kind: listing.Int, Optional: true, Doc: "the most likely cause first; empty: not a candidate", Value: func(c explain.Cause) listing.Value {
		if c.Rank == 0 {
			return listing.Null
		}
		return listing.IntOf(c.Rank)
	}},
	{Name: "layer", Title: "layer", Kind: listing.Word, Doc: "application, framework, libraries, vm, native, os or hardware", Value: func(c explain.Cause) listing.Value { return listing.WordOf(c.Layer) }},
	{Name: "monitor", Title: "monitor", Kind: listing.Name, Doc: "its name; a counter as growth per second", Value: func(c explain.Cause) listing.Value { return listing.NameOf(c.Monitor) }},
	{Name: "unit", Kind: listing.Word, Doc: "unit of both values, before and during", Value: func(c explain.Cause) listing.Value { return listing.WordOf(c.Unit) }},
	{Name: "before", Title: "before", Kind: listing.Float, Optional: true, Doc: "mean outside of the range, near it", Value: func(c explain.Cause) listing.Value { return listing.Opt(c.Before, listing.FloatOf) },
		Show: func(c explain.Cause) string { return showValue(c.Before, c.Unit) }},
	{Name: "during", Title: "during", Kind: listing.Float, Optional: true, Doc: "mean in the range", Value: func(c explain.Cause) listing.Value { return listing.Opt(c.During, listing.FloatOf) },
		Show: func(c explain.Cause) string { return showValue(c.During, c.Unit) }},
	{Name: "change", Title: "change", Kind: listing.Word, Doc: "the change in words", Value: func(c explain.Cause) listing.Value { return listing.WordOf(c.Change) }},
	{Name: "lag_ns", Title: "lag", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "how long after the metric it changed; below 0: before; empty: not clear, or it is read too seldom to say", Value: func(c explain.Cause) listing.Value { return listing.Opt(c.LagNs, listing.IntOf[units.Ns]) }},
	{Name: "r", Title: "r", Kind: listing.Float, Optional: true, Doc: "Pearson's correlation with the metric over the run", Value: func(c explain.Cause) listing.Value { return listing.Opt(c.R, listing.FloatOf) },
		Show: func(c explain.Cause) string { return showR(c.R) }},
	{Name: "p", Title: "adjusted p", Kind: listing.Float, Optional: true, Doc: "probability of such a change by chance, corrected for the number of series tried", Value: func(c explain.Cause) listing.Value { return listing.Opt(c.P, listing.FloatOf) },
		Show: func(c explain.Cause) string { return showP(c.P) }},
	{Name: "group", Title: "moves with", Kind: listing.Name, Wraps: true, Doc: "monitors that moved together with it", Value: func(c explain.Cause) listing.Value { return listing.NameOf(strings.Join(c.Group, ", ")) },
		Show: func(c explain.Cause) string {
			const most = 3
			if more := len(c.Group) - most; more > 0 {
				return strings.Join(c.Group[:most], ", ") + fmt.Sprintf(" and %d more", more)
			}
			return strings.Join(c.Group, ", ")
		}},
	{Name: "why", Title: "not a candidate because it", Kind: listing.Word, Doc: "why it is not a candidate", Value: func(c explain.Cause) listing.Value { return listing.WordOf(c.Why) }},
}

func showR(r *float64) string {
	if r == nil {
		return ""
	}
	return strconv.FormatFloat(*r, 'f', 2, 64)
}

func showP(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 0.001:
		return "< 0.001"
	}
	return strconv.FormatFloat(*p, 'f', 3, 64)
}

// CorrelationRow is how two metrics go together; what cannot be computed is null.
type CorrelationRow struct {
	X           string             `json:"x"`
	Y           string             `json:"y"`
	Samples     int                `json:"samples"`
	R           *float64           `json:"r"`
	Spearman    *float64           `json:"spearman"`
	LeaveOneOut [2]*float64        `json:"leave_one_out"`
	BestLagNs   units.Ns           `json:"best_lag_ns"` // above 0: x comes first
	Cautions    []vertical.Caution `json:"cautions"`
}

func (f *Flags) options(v *verticalView) vertical.Options {
	width := float64(v.Table.Edges[v.Table.Len()]-v.Table.Edges[0]) / float64(v.Table.Len())
	return vertical.Options{Use: v.use, MaxLag: min(int(math.Round(float64(f.lag)/width)), v.Table.Len()/2)}
}

func correlationOf(v *verticalView, x, y string, c vertical.Correlation) CorrelationRow {
	known := func(f float64) *float64 {
		if math.IsNaN(f) {
			return nil
		}
		return &f
	}
	r := CorrelationRow{X: x, Y: y, Samples: c.Samples, R: known(c.R), Spearman: known(c.Spearman),
		LeaveOneOut: [2]*float64{known(c.LeaveOneOut[0]), known(c.LeaveOneOut[1])}, BestLagNs: v.Lag(c.BestLag), Cautions: c.Cautions}
	if r.Cautions == nil {
		r.Cautions = []vertical.Caution{}
	}
	return r
}

// correlation prints how two metrics go together.
func (f *Flags) correlation(env console.Env, v *verticalView) error {
	m, err := v.several("--correlate", f.correlate)
	if err != nil {
		return err
	}
	if len(m) != 2 {
		return console.Usagef("--correlate %s: want two metrics, A,B", f.correlate)
	}
	c := vertical.Correlate(m[0].Values, m[1].Values, f.options(v))
	row := correlationOf(v, m[0].Name, m[1].Name, c)
	NoteGuarded(env, m...)
	switch {
	case f.output != "":
		return files.WriteFigure(env, f.output, scatterOf(m[0], m[1], c))
	case f.Format == "json":
		return view.Encode(env.Out, row)
	}
	return f.printCorrelations(env, []CorrelationRow{row})
}

func (v *verticalView) several(flag, list string) (out []*formula.Metric, err error) {
	for _, expression := range formula.Split(list) {
		m, err := v.metric(flag, expression)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// correlations prints how each pair of metrics goes together.
func (f *Flags) correlations(env console.Env, v *verticalView) error {
	m, err := v.several("--matrix", f.matrix)
	if err != nil {
		return err
	}
	const most = 50
	if len(m) < 2 || len(m) > most {
		return console.Usagef("--matrix %s: want 2 to %d metrics, A,B,C", f.matrix, most)
	}
	var series []vertical.Series
	for _, m := range m {
		series = append(series, vertical.Series{Name: m.Name, Values: m.Values})
	}
	cells := vertical.Matrix(series, f.options(v))
	NoteGuarded(env, m...)
	if f.output != "" {
		return files.WriteFigure(env, f.output, matrixOf(m, cells))
	}
	var rows []CorrelationRow
	for i := range m {
		for j := i + 1; j < len(m); j++ {
			rows = append(rows, correlationOf(v, m[i].Name, m[j].Name, cells[i][j]))
		}
	}
	if f.Format == "json" {
		return view.Encode(env.Out, rows)
	}
	return f.printCorrelations(env, rows)
}

func (f *Flags) printCorrelations(env console.Env, rows []CorrelationRow) error {
	if err := view.Rows(&f.Printer, rows, correlationColumns); err != nil || f.Format != "table" {
		return err
	}
	said := map[vertical.Caution]bool{}
	for _, r := range rows {
		for _, c := range r.Cautions {
			if !said[c] {
				said[c] = true
				env.Note("%s: %s", c, explain.Caution(c))
			}
		}
	}
	return nil
}

var correlationColumns = []listing.Column[CorrelationRow]{
	{Name: "x", Title: "x", Kind: listing.Name, Doc: "the one metric", Value: func(r CorrelationRow) listing.Value { return listing.NameOf(r.X) }},
	{Name: "y", Title: "y", Kind: listing.Name, Doc: "the other one", Value: func(r CorrelationRow) listing.Value { return listing.NameOf(r.Y) }},
	{Name: "samples", Title: "samples", Kind: listing.Int, Unit: listing.Count, Doc: "samples in which both have a value", Value: func(r CorrelationRow) listing.Value { return listing.IntOf(r.Samples) }},
	rColumn("r", "Pearson's coefficient", func(r CorrelationRow) *float64 { return r.R }),
	rColumn("spearman", "Spearman's coefficient, of the ranks", func(r CorrelationRow) *float64 { return r.Spearman }),
	rColumn("leave_one_out_low", "the smallest r without one of the samples", func(r CorrelationRow) *float64 { return r.LeaveOneOut[0] }),
	rColumn("leave_one_out_high", "the largest r without one of the samples", func(r CorrelationRow) *float64 { return r.LeaveOneOut[1] }),
	{Name: "best_lag_ns", Title: "lag", Kind: listing.Int, Unit: listing.Ns, Doc: "how long y follows x; below 0: x follows y; 0: no other lag is better", Value: func(r CorrelationRow) listing.Value { return listing.IntOf(r.BestLagNs) }},
	{Name: "cautions", Title: "cautions", Kind: listing.Word, Doc: "reasons to look at the scatter plot", Value: func(r CorrelationRow) listing.Value {
		var words []string
		for _, c := range r.Cautions {
			words = append(words, string(c))
		}
		return listing.WordOf(strings.Join(words, ", "))
	}},
}

func rColumn(name, doc string, of func(CorrelationRow) *float64) listing.Column[CorrelationRow] {
	return listing.Column[CorrelationRow]{Name: name, Title: strings.ReplaceAll(strings.TrimPrefix(name, "leave_one_out_"), "_", " "), Kind: listing.Float, Optional: true, Doc: doc,
		Value: func(r CorrelationRow) listing.Value { return listing.Opt(of(r), listing.FloatOf) },
		Show: func(r CorrelationRow) string {
			if v := of(r); v != nil {
				return strconv.FormatFloat(*v, 'f', 3, 64)
			}
			return ""
		}}
}

// listMetrics prints the library.
func (f *Flags) listMetrics(v *verticalView) error {
	return view.Rows(&f.Printer, v.Metrics.Library(), LibraryColumns)
}

// LibraryColumns are those of --metrics.
var LibraryColumns = []listing.Column[formula.Available]{
	{Name: "name", Title: "metric", Kind: listing.Word, Doc: "its name", Value: func(m formula.Available) listing.Value { return listing.WordOf(m.Name) }},
	{Name: "unit", Title: "unit", Kind: listing.Word, Doc: "of its values", Value: func(m formula.Available) listing.Value { return listing.WordOf(m.Unit) }},
	{Name: "expression", Title: "expression", Kind: listing.Name, Doc: "what it is computed from", Value: func(m formula.Available) listing.Value { return listing.NameOf(m.Expr) }},
	{Name: "doc", Title: "what it is", Kind: listing.Name, Wraps: true, Doc: "what it says", Value: func(m formula.Available) listing.Value { return listing.NameOf(m.Doc) }},
	{Name: "not_available", Title: "not available", Kind: listing.Name, Wraps: true, Doc: "why this session does not have it", Value: func(m formula.Available) listing.Value {
		if m.Missing == nil {
			return listing.NameOf("")
		}
		return listing.NameOf(m.Missing.Error())
	}},
}

// sampleRow is a metric's value in one sample.
type sampleRow struct {
	from, to units.Ns
	metric   *formula.Metric
	value    float64
}

// SampleColumns are those of --samples.
var SampleColumns = []listing.Column[sampleRow]{
	{Name: "from_ns", Title: "from", Kind: listing.Int, Unit: listing.Ns, Doc: "start of the sample, since the start of the session", Value: func(r sampleRow) listing.Value { return listing.IntOf(r.from) }},
	{Name: "to_ns", Title: "to", Kind: listing.Int, Unit: listing.Ns, Doc: "its end", Value: func(r sampleRow) listing.Value { return listing.IntOf(r.to) }},
	{Name: "layer", Title: "layer", Kind: listing.Word, Doc: "of the monitor; empty: of several", Value: func(r sampleRow) listing.Value { return listing.WordOf(r.metric.Layer) }},
	{Name: "metric", Title: "metric", Kind: listing.Name, Doc: "monitor, named metric or expression", Value: func(r sampleRow) listing.Value { return listing.NameOf(r.metric.Name) }},
	{Name: "unit", Title: "unit", Kind: listing.Word, Doc: "of the value", Value: func(r sampleRow) listing.Value { return listing.WordOf(r.metric.Unit) }},
	{Name: "value", Title: "value", Kind: listing.Float, Doc: "growth of a counter in the sample, mean of a level", Value: func(r sampleRow) listing.Value { return listing.FloatOf(r.value) }},
}

// sampledMetrics are the metrics that --samples lists: those of --metric, or else all monitors.
func (f *Flags) sampledMetrics(env console.Env, v *verticalView) (all []*formula.Metric, err error) {
	for _, name := range v.defined {
		m, err := v.metric("--metric", name)
		if err != nil {
			return nil, err
		}
		NoteGuarded(env, m)
		all = append(all, m)
	}
	if len(all) > 0 {
		return all, nil
	}
	for i := range v.Table.Series {
		s := &v.Table.Series[i]
		m := &formula.Metric{Name: s.Name, Unit: s.Unit, Layer: string(s.Layer), Values: slices.Clone(s.Values)}
		v.hide(m)
		all = append(all, m)
	}
	return all, nil
}

// listSamples prints the values of metrics; samples without a value have no row.
func (f *Flags) listSamples(env console.Env, v *verticalView) error {
	metrics, err := f.sampledMetrics(env, v)
	if err != nil {
		return err
	}
	write := func(w io.Writer, file bool) error {
		sink := view.Stream(&f.Printer, w, file, SampleColumns)
		left, cut := f.Limit(), false
		for _, m := range metrics {
			for i, value := range m.Values {
				if math.IsNaN(value) {
					continue
				}
				if cut = f.Limit() > 0 && left == 0; cut {
					break
				}
				left--
				from, to := v.Table.Edges[i], v.Table.Edges[i+1]
				if f.executions != nil {
					from, to = f.executions[i].Start, f.executions[i].End
				}
				r := sampleRow{units.Ns(from - v.Start), units.Ns(to - v.Start), m, value}
				if err := sink.Write(r); err != nil {
					return err
				}
			}
		}
		if err := sink.Close(); err != nil {
			return err
		}
		f.NoteCut(cut)
		return nil
	}
	if f.output == "" {
		return write(env.Out, false)
	}
	return files.Write(nil, f.output, func(w io.Writer) error { return write(w, true) })
}
