package experiments

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"stackagent/granularity/estimate"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/scaling"
)

// count takes in what was counted in a run and in its base.
func (b *stackBar) count(base, run *scaling.Run) {
	b.bases, b.runs = append(b.bases, base), append(b.runs, run)
}

// compared is the hardware table of the bar's runs: they over those with one thread.
func (b *stackBar) compared() ([]scaling.Compared, map[string]string) {
	return scaling.Compare(b.bases, b.runs)
}

// counterJSON is an event of the runs with so many threads, over that of the
// runs with one thread.
type counterJSON struct {
	Ratio     *float64 `json:"ratio"` // null: the runs with one thread have none of it
	Low       *float64 `json:"low"`   // of the interval at 95 %; null: a single run
	High      *float64 `json:"high"`
	Value     float64  `json:"value"`     // mean
	Base      float64  `json:"base"`      // mean of the runs with one thread
	Estimated bool     `json:"estimated"` // the kernel multiplexed the counter
}

// counters are the events by group of threads. The work of the groups is among them.
func (b *stackBar) counters() (all map[string]counterJSON, of map[string]map[string]counterJSON) {
	of = map[string]map[string]counterJSON{}
	for g := range scaling.NGroups {
		of[g.String()] = map[string]counterJSON{}
	}
	list, _ := b.compared()
	for _, c := range list {
		of[c.Group.String()][c.Name] = counterJSON{estimate.Number(c.Ratio.Mean), estimate.Number(c.Ratio.Low), estimate.Number(c.Ratio.High), c.Value, c.Base, c.Estimated}
	}
	all = of[scaling.AllThreads.String()]
	delete(of, scaling.AllThreads.String())
	return all, of
}

// counterTable prints the events and the work of the runs, normalised to one thread.
func (f *stackFlags) counterTable(bars []stackBar) error {
	columns, absent := []table.Column{{Title: "of one thread's"}, {Title: "threads"}}, map[string]string{}
	type key struct{ group, name string }
	var keys []key
	cells := make([]map[key]string, len(bars))
	for i := range bars {
		b := &bars[i]
		title := text.PluralExact(b.Threads, "thread", "threads")
		if len(b.others) > 0 {
			title += ", " + b.others.Label()
		}
		columns = append(columns, table.Right(title))
		cells[i] = map[key]string{}
		list, missing := b.compared()
		maps.Copy(absent, missing)
		for _, c := range list {
			k := key{c.Group.String(), c.Name}
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
			cells[i][k] = ratioText(c)
		}
	}
	t := table.New(columns...)
	for _, k := range keys {
		row := []string{k.name, k.group}
		for i := range bars {
			row = append(row, cells[i][k])
		}
		t.Row(row...)
	}
	if t.Len() > 0 {
		fmt.Fprintln(f.Out)
		if err := f.Render(t, t.Len()); err != nil {
			return err
		}
	}
	f.noteAbsent(absent)
	return nil
}

// ratioText is a cell of the table; "-": the runs with one thread have none of it.
func ratioText(c scaling.Compared) string {
	switch {
	case math.IsNaN(c.Ratio.Mean):
		return "-"
	case c.Estimated:
		return fmt.Sprintf("~%.2f", c.Ratio.Mean)
	case c.Ratio.Known():
		return fmt.Sprintf("%.2f (%.3g to %.3g)", c.Ratio.Mean, c.Ratio.Low, c.Ratio.High)
	}
	return fmt.Sprintf("%.2f", c.Ratio.Mean)
}

// noteAbsent says what is not available, by reason.
func (f *stackFlags) noteAbsent(absent map[string]string) {
	byReason := map[string][]string{}
	for _, what := range slices.Sorted(maps.Keys(absent)) {
		byReason[absent[what]] = append(byReason[absent[what]], what)
	}
	for _, why := range slices.Sorted(maps.Keys(byReason)) {
		f.Note("not available: %s: %s", strings.Join(byReason[why], ", "), table.Clean(why))
	}
}
