package tgp

import (
	"fmt"
	"strconv"

	"stackagent/internal/listing"
	"stackagent/shadow/exchange/tgp"
	"stackagent/shadow/show/view"
)

// printDiagnosis prints a line per statistic.
func (f *tgpFlags) printDiagnosis(d *tgp.Diagnosis) error {
	if f.Format == "json" {
		return f.JSON(d)
	}
	rows := [][2]string{{"tasks", strconv.FormatInt(d.Tasks, 10)}, {"not_measured", strconv.FormatInt(d.NotMeasured, 10)}}
	if d.Tasks > 0 {
		rows = append(rows, [2]string{"mean_granularity", formatFloat(d.Mean)})
		for _, q := range []struct {
			name  string
			value int64
		}{{"p1", d.P1}, {"p5", d.P5}, {"p25", d.P25}, {"p50", d.P50}, {"p75", d.P75}, {"p95", d.P95}, {"p99", d.P99}, {"iqr", d.P75 - d.P25}} {
			rows = append(rows, [2]string{q.name, strconv.FormatInt(q.value, 10)})
		}
		rows = append(rows, [2]string{"whisker_low", formatFloat(d.WhiskerLow)}, [2]string{"whisker_high", formatFloat(d.WhiskerHigh)},
			[2]string{"within_whiskers", formatFloat(d.Within)}, [2]string{fmt.Sprintf("within_factor_10_of_%d", d.Centre), formatFloat(d.Around)})
	}
	rows = append(rows, [2]string{"context_switches_per_sample", meanText(d.Switches)}, [2]string{"cpu_percent", meanText(d.CPU)})
	if d.CPUError != nil {
		rows = append(rows, [2]string{"cpu_percent_error_95", formatFloat(*d.CPUError)})
	}
	if f.Format == "csv" {
		return listing.All(listing.CSV(f.Env.Out, statisticColumns), rows)
	}
	return view.Table(f.Out, f.TableOptions(false), rows, statisticColumns)
}

// statisticColumns are the columns of rows of name and value.
var statisticColumns = []listing.Column[[2]string]{
	{Name: "statistic", Title: "statistic", Kind: listing.Word, Doc: "the statistic", Value: func(r [2]string) listing.Value { return listing.WordOf(r[0]) }},
	{Name: "value", Title: "value", Kind: listing.Float, Doc: "its value; empty: not available", Show: func(r [2]string) string { return r[1] },
		Text: func(r [2]string) string {
			if r[1] == "n/a" {
				return ""
			}
			return r[1]
		}},
}

// Classes is the JSON form of a listing of classes.
type Classes struct {
	Classes []tgp.Class `json:"classes"`
	// Outside is the mean of context switches while none of them was executed.
	Outside *tgp.Mean `json:"context_switches_outside,omitempty"`
}

func (f *tgpFlags) printClasses(found []tgp.Class, outside *tgp.Mean, kind string) error {
	if f.Format == "json" {
		if n := f.Limit(); n > 0 && n < len(found) {
			found = found[:n]
		}
		return f.JSON(Classes{append([]tgp.Class{}, found...), outside})
	}
	if err := view.Rows(&f.Printer, listing.Refs(found), tgpColumns); err != nil || f.Format != "table" {
		return err
	}
	if outside != nil {
		f.Env.Note("%.2f context switches in a sample while no %s-grained task was executed", outside.Mean, kind)
	}
	return nil
}

// tgpColumns are the columns of a listing of classes.
var tgpColumns = []listing.Column[*tgp.Class]{
	{Name: "class", Title: "class", Last: 1, Kind: listing.Name, Doc: "the class", Value: func(c *tgp.Class) listing.Value { return listing.NameOf(c.Name) }},
	{Name: "tasks", Title: "tasks", Kind: listing.Int, Unit: listing.Count, Doc: "tasks of the class", Value: func(c *tgp.Class) listing.Value { return listing.IntOf(c.Tasks) }},
	{Name: "mean_granularity", Title: "mean", Kind: listing.Float, Doc: "mean granularity", Text: func(c *tgp.Class) string { return formatFloat(c.Mean) },
		Show: func(c *tgp.Class) string { return fmt.Sprintf("%.1f", c.Mean) }},
	{Name: "min_granularity", Title: "min", Kind: listing.Int, Unit: listing.Count, Doc: "smallest granularity", Value: func(c *tgp.Class) listing.Value { return listing.IntOf(c.Min) }},
	{Name: "max_granularity", Title: "max", Kind: listing.Int, Unit: listing.Count, Doc: "largest granularity", Value: func(c *tgp.Class) listing.Value { return listing.IntOf(c.Max) }},
	{Name: "context_switches", Title: "switches", Kind: listing.Float, Doc: "mean context switches of a sample while its tasks were executed",
		Text: func(c *tgp.Class) string { return meanCell(c.Switches) }, Show: func(c *tgp.Class) string { return meanText(c.Switches) }},
	{Name: "cpu_percent", Title: "CPU %", Kind: listing.Float, Doc: "mean CPU utilisation while its tasks were executed",
		Text: func(c *tgp.Class) string { return meanCell(c.CPU) }, Show: func(c *tgp.Class) string { return meanText(c.CPU) }},
}

func meanCell(m *tgp.Mean) string {
	if m == nil {
		return ""
	}
	return formatFloat(m.Mean)
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'f', 3, 64) }
