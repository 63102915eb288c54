package gccost

import (
	"fmt"
	"math"

	"stackagent/granularity/estimate"
	"stackagent/granularity/lbo"
	"stackagent/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/show/view"
)

func prefix(program string) string {
	if program == "" {
		return ""
	}
	return program + ": "
}

// row is a point of a program, or of the mean over programs.
type row struct {
	program, collector, heap string
	bytes                    int64
	runs                     int
	overheads                [lbo.NClocks][lbo.NBounds]estimate.Interval
	failed                   string
}

func rowsOf(results []lbo.Result, means []lbo.Mean) []*row {
	var out []*row
	for _, r := range results {
		for _, p := range r.Points {
			out = append(out, &row{r.Program, p.Collector, p.Heap, p.HeapBytes, p.Runs, p.Overheads, p.Failed})
		}
	}
	for _, m := range means {
		row := &row{program: "mean", collector: m.Collector, heap: m.Heap, bytes: m.HeapBytes, overheads: m.Overheads}
		if len(m.Missing) > 0 {
			row.failed = view.LBOMissing(m.Missing)
		}
		out = append(out, row)
	}
	return out
}

// Columns are those of the listing; several: of several programs.
func Columns(several bool) []listing.Column[*row] {
	type column = listing.Column[*row]
	name := func(name, title, doc string, of func(*row) string) column {
		return column{Name: name, Title: title, Kind: listing.Name, Doc: doc, Value: func(r *row) listing.Value { return listing.NameOf(of(r)) }}
	}
	columns := []column{
		name("program", "program", "the program, or mean: the geometric mean over the programs", func(r *row) string { return r.program }),
		name("collector", "collector", "the collector", func(r *row) string { return r.collector }),
		name("heap", "heap", "the heap as it was asked for", func(r *row) string { return r.heap }),
		{Name: "heap_bytes", Title: "is", Kind: listing.Int, Doc: "the heap in bytes; 0: not the same for all programs", Value: func(r *row) listing.Value { return listing.IntOf(r.bytes) },
			Show: func(r *row) string {
				if r.bytes == 0 {
					return ""
				}
				return units.FormatBytes(r.bytes)
			}},
		{Name: "runs", Title: "runs", Kind: listing.Int, Doc: "runs", Value: func(r *row) listing.Value { return listing.IntOf(int64(r.runs)) }},
	}
	if !several {
		columns[0].Title = ""
	}
	for c := range lbo.NClocks {
		for b := range lbo.NBounds {
			columns = append(columns, overheadColumns(c, b)...)
		}
	}
	return append(columns, column{Name: "failed", Title: "why there is none", Kind: listing.Name, Wraps: true, Last: 1, Doc: "why it cannot run there", Value: func(r *row) listing.Value { return listing.NameOf(r.failed) }})
}

// overheadColumns are an overhead and its interval; the terminal has them in one cell.
func overheadColumns(c lbo.Clock, b lbo.Bound) []listing.Column[*row] {
	name := c.String()
	title := name + " overhead"
	if b == lbo.Tighter {
		name, title = name+"_tighter", "tighter"
	}
	at := func(of func(estimate.Interval) float64) func(*row) listing.Value {
		return func(r *row) listing.Value {
			if v := of(r.overheads[c][b]); !math.IsNaN(v) {
				return listing.FloatOf(v)
			}
			return listing.Null
		}
	}
	return []listing.Column[*row]{
		{Name: name + "_overhead", Title: title, Kind: listing.Float, Optional: true, Doc: "lower bound of the overhead; 1 means no overhead", Value: at(func(i estimate.Interval) float64 { return i.Mean }),
			Show: func(r *row) string { return shownInterval(r.overheads[c][b]) }},
		{Name: name + "_low", Kind: listing.Float, Optional: true, Doc: "low end of its 95 % interval", Value: at(func(i estimate.Interval) float64 { return i.Low })},
		{Name: name + "_high", Kind: listing.Float, Optional: true, Doc: "high end of its 95 % interval", Value: at(func(i estimate.Interval) float64 { return i.High })},
	}
}

// shownInterval shows a factor with its interval.
func shownInterval(i estimate.Interval) string {
	switch {
	case math.IsNaN(i.Mean):
		return ""
	case !i.Known():
		return fmt.Sprintf("%.3f", i.Mean)
	}
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Mean, i.Low, i.High)
}
