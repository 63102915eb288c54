package perturb

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/internal/listing"
	"stackagent/internal/text"
	"stackagent/shadow/experiment"
	"stackagent/shadow/experiment/runner"
)

// Groups compares the runs at each point with those at the first, which have no monitors, and keeps the comparison in dir.
func Groups(r *runner.Runner, points []experiment.Point, times int, dir string) (rows []*GroupRow, err error) {
	var without []Measured
	for i, p := range points {
		var runs []Measured
		for _, result := range r.Good(p, times) {
			m := MeasuredOf(&result.Usage, nil)
			if err := m.addSums(r.Path(result)); err != nil {
				return nil, err
			}
			runs = append(runs, m)
		}
		switch {
		case len(runs) == 0:
			r.Note("not available: %s: every run failed", p)
		case i == 0:
			without = runs
		default:
			rows = append(rows, compareGroup(p.Of(runner.Monitors), without, runs)...)
		}
	}
	return rows, hpc.WriteJSON(filepath.Join(dir, FileName), rows)
}

// endToEnd are the quantities of a whole run that a monitor counts as well.
var endToEnd = []struct{ monitor, quantity string }{
	{"os.minor_faults", "minor_faults"},
	{"os.major_faults", "major_faults"},
}

// sumOf names the sum of the samples of a monitor.
func sumOf(name string) string { return name + ", sum of samples" }

// addSums adds the sums of the samples of a run.
func (m Measured) addSums(session string) error {
	samples, err := monitor.Open(session)
	if err != nil || samples == nil {
		return err
	}
	sums := map[string]float64{}
	if err := samples.Each(func(row *monitor.Row) error {
		if i := slices.IndexFunc(endToEnd, func(e struct{ monitor, quantity string }) bool { return e.monitor == row.Monitor }); i >= 0 {
			sums[endToEnd[i].monitor] += row.Value
		}
		return nil
	}); err != nil {
		return err
	}
	for name, sum := range sums {
		m[sumOf(name)] = sum
	}
	return nil
}

// GroupRow is one quantity of runs with a group of monitors, and of those without any.
type GroupRow struct {
	Group string `json:"monitors"`
	Row
}

// compareGroup compares runs with a group of monitors with those without any.
func compareGroup(group string, without, with []Measured) (rows []*GroupRow) {
	add := func(name string, a, b []float64) {
		if len(a) == 0 || len(b) == 0 {
			return
		}
		rows = append(rows, &GroupRow{group, rowOf(name, a, b)})
	}
	for _, q := range quantities {
		add(q.name, column(with, q.name), column(without, q.name))
	}
	for _, e := range endToEnd {
		add(sumOf(e.monitor), column(with, sumOf(e.monitor)), column(without, e.quantity))
	}
	return rows
}

// GroupColumns are those of a GroupRow.
var GroupColumns = append([]listing.Column[*GroupRow]{
	{Name: "monitors", Title: "monitors", Kind: listing.Word, Doc: "group of monitors that the runs sampled", Value: func(r *GroupRow) listing.Value { return listing.WordOf(r.Group) }},
}, groupQuantities()...)

func groupQuantities() (out []listing.Column[*GroupRow]) {
	number := func(name, title, doc string, of func(*GroupRow) float64, show func(*GroupRow, float64) string) listing.Column[*GroupRow] {
		return listing.Column[*GroupRow]{Name: name, Title: title, Doc: doc, Kind: listing.Float, Optional: true,
			Value: func(r *GroupRow) listing.Value {
				if v := of(r); !math.IsNaN(v) {
					return listing.FloatOf(v)
				}
				return listing.Null
			},
			Show: func(r *GroupRow) string { return UnlessNaN(of(r), func(v float64) string { return show(r, v) }) }}
	}
	quantity := func(r *GroupRow, v float64) string { return r.text()(v) }
	ratio := func(_ *GroupRow, v float64) string { return fmt.Sprintf("%.3f", v) }
	return []listing.Column[*GroupRow]{
		{Name: "quantity", Title: "quantity", Kind: listing.Word, Doc: "what the kernel counts of the whole run, or the sum of the samples in its place", Value: func(r *GroupRow) listing.Value { return listing.WordOf(r.Quantity) }},
		number("without", "without", "mean of the runs without monitors", func(r *GroupRow) float64 { return r.Without.Mean }, quantity),
		number("with", "with", "mean of the runs with the group", func(r *GroupRow) float64 { return r.With.Mean }, quantity),
		number("ratio", "ratio", "with / without", func(r *GroupRow) float64 { return r.Ratio.Value }, ratio),
		number("low", "95 % from", "low end of the ratio's 95 % confidence interval", func(r *GroupRow) float64 { return r.Ratio.Low }, ratio),
		number("high", "to", "high end of it", func(r *GroupRow) float64 { return r.Ratio.High }, ratio),
		{Name: "effect", Title: "effect", Kind: listing.Word, Doc: "Hedges' g in a word", Value: func(r *GroupRow) listing.Value { return listing.WordOf(r.Effect.HedgesWord()) }},
	}
}

// Changed says how many quantities the monitors seem to have changed, and how many would by chance.
func Changed(rows []*GroupRow) string {
	changed, known := 0, 0
	for _, r := range rows {
		if math.IsNaN(r.Ratio.Low) || math.IsNaN(r.Ratio.High) {
			continue
		}
		known++
		if r.Ratio.Low > 1 || r.Ratio.High < 1 {
			changed++
		}
	}
	if known == 0 {
		return "one run of each kind has no interval: use --repeat 5 or more"
	}
	return fmt.Sprintf("%d of %s from 1: their 95 %% interval leaves it out; by chance about %.0f would", changed, text.PluralExact(known, "ratio differs", "ratios differ"), 0.05*float64(known))
}
