package main

import (
	"strconv"

	"stackagent/cmd/shadow/internal/listing"
	"stackagent/granularity/latency"
	"stackagent/shadow/view"
)

func (f *latencyFlags) print(rows []*latencyRow) error {
	if f.Format == "json" {
		return listing.JSON(f.Env.Out, rows)
	}
	if err := listing.Rows(&f.Flags, rows, latencyColumnsOf(rows)); err != nil || f.Format != "table" {
		return err
	}
	if err := f.compare(rows); err != nil {
		return err
	}
	said := map[string]bool{}
	for _, r := range rows {
		if r.RelativeError > 0 && !said["~"] {
			said["~"] = true
			f.Env.Note("some executions are summarised: percentiles with ~ are known to %s; counts are exact, and so is max unless it is marked with ~", errorText(r.RelativeError))
		}
		if why := r.Kind + " of " + r.Session + " not available: " + r.NotAvailable; r.NotAvailable != "" && !said[why] {
			said[why] = true
			f.Env.Note("%s", why)
		}
	}
	return nil
}

// latencyColumnsOf are the columns; on the terminal, what all rows share is left out.
func latencyColumnsOf(rows []*latencyRow) []view.Column[*latencyRow] {
	columns := []view.Column[*latencyRow]{
		{Name: "session", Title: "session", Kind: view.Name, Doc: "the session", Value: func(r *latencyRow) view.Value { return view.NameOf(r.Session) }},
		{Name: "class", Title: "class", Kind: view.Name, Doc: "the class, or the glob if several match", Value: func(r *latencyRow) view.Value { return view.NameOf(r.Class) }},
		{Name: "kind", Title: "latency", Kind: view.Word, Doc: "simple, response or metered", Value: func(r *latencyRow) view.Value { return view.WordOf(r.Kind) }},
		{Name: "window", Title: "window", Kind: view.Word, Doc: "of metered latency", Value: func(r *latencyRow) view.Value { return view.WordOf(r.Window) }},
		{Name: "count", Title: "count", Kind: view.Int, Unit: view.Count, Optional: true, Doc: "tasks", Value: func(r *latencyRow) view.Value {
			if r.NotAvailable != "" {
				return view.Null
			}
			return view.IntOf(r.Count)
		}},
	}
	for _, p := range latency.Percentiles {
		name := percentileName(p)
		columns = append(columns, view.Column[*latencyRow]{Name: "p" + name + "_ns", Title: "p" + name, Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "percentile",
			Value: func(r *latencyRow) view.Value {
				if n, ok := r.Percentiles[name]; ok {
					return view.IntOf(n)
				}
				return view.Null
			},
			Show: func(r *latencyRow) string {
				if n, ok := r.Percentiles[name]; ok {
					return marked(n, r.RelativeError)
				}
				return "n/a"
			}})
	}
	return append(columns,
		view.Column[*latencyRow]{Name: "max_ns", Title: "max", Kind: view.Int, Unit: view.Ns, Optional: true, Doc: "greatest, exact; of those that were timed",
			Value: func(r *latencyRow) view.Value {
				if r.MaxNs == nil {
					return view.Null
				}
				return view.IntOf(*r.MaxNs)
			},
			Show: func(r *latencyRow) string {
				if r.MaxNs == nil {
					return "n/a"
				}
				return marked(*r.MaxNs, float64(r.Timed))
			}},
		view.Column[*latencyRow]{Name: "summarised", Kind: view.Int, Unit: view.Count, Doc: "tasks known by histograms", Value: func(r *latencyRow) view.Value { return view.IntOf(r.Summarised) }},
		view.Column[*latencyRow]{Name: "relative_error", Kind: view.Float, Doc: "bounds that of the percentiles; 0: exact", Value: func(r *latencyRow) view.Value { return view.FloatOf(r.RelativeError) }},
		view.Column[*latencyRow]{Name: "not_available", Kind: view.Name, Doc: "why there are no figures", Value: func(r *latencyRow) view.Value { return view.NameOf(r.NotAvailable) }},
		view.Column[*latencyRow]{Name: "timed", Kind: view.Int, Unit: view.Count, Doc: "tasks that were timed, if the others are estimated from them; else 0", Value: func(r *latencyRow) view.Value { return view.IntOf(r.Timed) }},
		view.Column[*latencyRow]{Name: "mean_ns", Kind: view.Float, Unit: view.Ns, Doc: "mean, exact unless timed", Text: func(r *latencyRow) string {
			if r.MeanNs == nil {
				return ""
			}
			return strconv.FormatFloat(*r.MeanNs, 'f', 1, 64)
		}},
		view.Column[*latencyRow]{Name: "configuration", Kind: view.Name, Doc: "what tells the session apart: collector and heap, or its folder", Value: func(r *latencyRow) view.Value { return view.NameOf(r.Configuration) }},
	)
}
