package layers

import (
	"fmt"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/files"
	"stackagent/granularity/activity"
	"stackagent/granularity/vertical"
	"stackagent/internal/units"
	"stackagent/shadow/analysis/explain"
	"stackagent/shadow/analysis/formula"
	"stackagent/shadow/show/figure"
)

func drawn(m *formula.Metric) figure.MonitorSeries {
	return figure.MonitorSeries{Name: m.Name, Unit: m.Unit, Layer: m.Layer, Values: m.Values}
}

// drawing is a figure of the samples without series.
func (v *verticalView) drawing() figure.Profile {
	from, to := v.Table.Edges[0], v.Table.Edges[v.Table.Len()]
	p := figure.Profile{Times: figure.Times{From: from, To: to, Start: v.Start}, Edges: v.Table.Edges}
	for _, pause := range v.session.Spans() {
		if cut := pause.Cut(activity.Span{From: from, To: to}); cut.Len() > 0 {
			p.Pauses = append(p.Pauses, cut)
		}
	}
	return p
}

// mostDrawn is how many causes a figure shows.
const mostDrawn = 8

// explained draws a metric above what changed with it.
func (v *verticalView) explained(m *formula.Metric, e *explain.Explanation) *figure.Figure {
	p := v.drawing()
	for _, s := range append([]explain.Span{e.Span}, e.Similar...) {
		if s.ToNs > s.FromNs {
			p.Marked = append(p.Marked, activity.Span{From: v.Start + units.MonoNs(s.FromNs), To: v.Start + units.MonoNs(s.ToNs)})
		}
	}
	monitors := map[string]vertical.Series{}
	for _, s := range v.Monitors() {
		monitors[s.Name] = s
	}
	var causes []figure.MonitorSeries
	for _, c := range e.Causes[:min(len(e.Causes), mostDrawn)] {
		s := monitors[c.Monitor]
		causes = append(causes, figure.MonitorSeries{Name: s.Name, Unit: s.Unit, Layer: s.Layer, Values: s.Values})
	}
	figure.ByLayer(causes, vertical.Layers)
	p.Series = append([]figure.MonitorSeries{drawn(m)}, causes...)
	return figure.Vertical(p)
}

// overviewMetrics are drawn without a choice: those of them that the session has.
var overviewMetrics = []string{DefaultTarget, "task_backlog", "gc_share", "safepoint_share", "jit_share", "lock_wait_share",
	"allocation_rate", "cpu_share", "run_queue_share", "steal_share", "fault_rate", "syscall_rate", "ipc"}

// overview draws the metrics of --metric, or a choice of the library and what explains the phases of the throughput.
func (f *Flags) overview(env console.Env, v *verticalView) error {
	p := v.drawing()
	names, shown := v.defined, map[string]bool{} // monitors that are drawn
	if len(names) == 0 {
		names = overviewMetrics
	}
	for _, name := range names {
		m, err := v.rate("--metric", name)
		if err != nil && len(v.defined) > 0 {
			return err
		}
		if err == nil {
			p.Series = append(p.Series, drawn(m))
			if len(m.From) == 1 {
				shown[m.From[0]] = true
			}
		}
	}
	if len(v.defined) == 0 {
		if err := v.addCauses(&p, shown); err != nil {
			return err
		}
		figure.ByLayer(p.Series, append([]string{"application", ""}, vertical.Layers[1:]...))
	}
	return files.WriteFigure(env, f.output, figure.Vertical(p))
}

// addCauses marks the phases of the throughput and adds the first cause of each that is not shown.
func (v *verticalView) addCauses(p *figure.Profile, shown map[string]bool) error {
	m, err := v.rate("throughput", DefaultTarget)
	if err != nil {
		return err
	}
	for _, phase := range v.Phases(m) {
		if len(phase.Causes) == 0 {
			continue
		}
		for _, s := range append([]explain.Span{phase.Span}, phase.Similar...) {
			p.Marked = append(p.Marked, activity.Span{From: v.Start + units.MonoNs(s.FromNs), To: v.Start + units.MonoNs(s.ToNs)})
		}
		name := phase.Causes[0].Monitor
		for _, s := range v.Monitors() {
			if s.Name == name && !shown[name] {
				shown[name] = true
				p.Series = append(p.Series, figure.MonitorSeries{Name: s.Name, Unit: s.Unit, Layer: s.Layer, Values: s.Values})
			}
		}
	}
	return nil
}

func scatterOf(x, y *formula.Metric, c vertical.Correlation) *figure.Figure {
	notes := []string{fmt.Sprintf("%d samples; r between %.3f and %.3f without any one of them; Spearman %.3f.", c.Samples, c.LeaveOneOut[0], c.LeaveOneOut[1], c.Spearman)}
	for _, caution := range c.Cautions {
		notes = append(notes, explain.Caution(caution))
	}
	return figure.Scatter(drawn(x), drawn(y), c.R, notes)
}

func matrixOf(m []*formula.Metric, cells [][]vertical.Correlation) *figure.Figure {
	var series []figure.MonitorSeries
	r := make([][]float64, len(m))
	for i := range m {
		series = append(series, drawn(m[i]))
		for j := range m {
			r[i] = append(r[i], cells[i][j].R)
		}
	}
	return figure.ScatterMatrix(series, r)
}
