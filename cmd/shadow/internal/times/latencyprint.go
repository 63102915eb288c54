package times

import (
	"strconv"

	"stackagent/granularity/latency"
	"stackagent/internal/listing"
	"stackagent/shadow/show/view"
)

func (f *latencyFlags) print(rows []*LatencyRow) error {
	if f.Format == "json" {
		return f.JSON(rows)
	}
	if err := view.Rows(&f.Printer, rows, latencyColumnsOf(rows)); err != nil || f.Format != "table" {
		return err
	}
	if err := f.compare(rows); err != nil {
		return err
	}
	said := map[string]bool{}
	for _, r := range rows {
		if r.RelativeError > 0 && !said["~"] {
			said["~"] = true
			f.Note("some executions are summarised: percentiles with ~ are known to %s; counts are exact, and so is max unless it is marked with ~", view.ErrorText(r.RelativeError))
		}
		if why := r.Kind + " of " + r.Session + " not available: " + r.NotAvailable; r.NotAvailable != "" && !said[why] {
			said[why] = true
			f.Note("%s", why)
		}
	}
	return nil
}

// latencyColumnsOf are the columns; on the terminal, what all rows share is left out.
func latencyColumnsOf(rows []*LatencyRow) []listing.Column[*LatencyRow] {
	columns := []listing.Column[*LatencyRow]{
		{Name: "session", Title: "session", Kind: listing.Name, Doc: "the session", Value: func(r *LatencyRow) listing.Value { return listing.NameOf(r.Session) }},
		{Name: "class", Title: "class", Kind: listing.Name, Doc: "the class, or the glob if several match", Value: func(r *LatencyRow) listing.Value { return listing.NameOf(r.Class) }},
		{Name: "kind", Title: "latency", Kind: listing.Word, Doc: "simple, response or metered", Value: func(r *LatencyRow) listing.Value { return listing.WordOf(r.Kind) }},
		{Name: "window", Title: "window", Kind: listing.Word, Doc: "of metered latency", Value: func(r *LatencyRow) listing.Value { return listing.WordOf(r.Window) }},
		{Name: "count", Title: "count", Kind: listing.Int, Unit: listing.Count, Optional: true, Doc: "tasks", Value: func(r *LatencyRow) listing.Value {
			if r.NotAvailable != "" {
				return listing.Null
			}
			return listing.IntOf(r.Count)
		}},
	}
	for _, p := range latency.Percentiles {
		name := view.PercentileName(p)
		columns = append(columns, listing.Column[*LatencyRow]{Name: "p" + name + "_ns", Title: "p" + name, Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "percentile",
			Value: func(r *LatencyRow) listing.Value {
				if n, ok := r.Percentiles[name]; ok {
					return listing.IntOf(n)
				}
				return listing.Null
			},
			Show: func(r *LatencyRow) string {
				if n, ok := r.Percentiles[name]; ok {
					return view.Marked(n, r.RelativeError)
				}
				return "n/a"
			}})
	}
	return append(columns,
		listing.Column[*LatencyRow]{Name: "max_ns", Title: "max", Kind: listing.Int, Unit: listing.Ns, Optional: true, Doc: "greatest, exact; of those that were timed",
			Value: func(r *LatencyRow) listing.Value {
				if r.MaxNs == nil {
					return listing.Null
				}
				return listing.IntOf(*r.MaxNs)
			},
			Show: func(r *LatencyRow) string {
				if r.MaxNs == nil {
					return "n/a"
				}
				return view.Marked(*r.MaxNs, float64(r.Timed))
			}},
		listing.Column[*LatencyRow]{Name: "summarised", Kind: listing.Int, Unit: listing.Count, Doc: "tasks known by histograms", Value: func(r *LatencyRow) listing.Value { return listing.IntOf(r.Summarised) }},
		listing.Column[*LatencyRow]{Name: "relative_error", Kind: listing.Float, Doc: "bounds that of the percentiles; 0: exact", Value: func(r *LatencyRow) listing.Value { return listing.FloatOf(r.RelativeError) }},
		listing.Column[*LatencyRow]{Name: "not_available", Kind: listing.Name, Doc: "why there are no figures", Value: func(r *LatencyRow) listing.Value { return listing.NameOf(r.NotAvailable) }},
		listing.Column[*LatencyRow]{Name: "timed", Kind: listing.Int, Unit: listing.Count, Doc: "tasks that were timed, if the others are estimated from them; else 0", Value: func(r *LatencyRow) listing.Value { return listing.IntOf(r.Timed) }},
		listing.Column[*LatencyRow]{Name: "mean_ns", Kind: listing.Float, Unit: listing.Ns, Doc: "mean, exact unless timed", Text: func(r *LatencyRow) string {
			if r.MeanNs == nil {
				return ""
			}
			return strconv.FormatFloat(*r.MeanNs, 'f', 1, 64)
		}},
		listing.Column[*LatencyRow]{Name: "configuration", Kind: listing.Name, Doc: "which session this is: its collector and heap, or its folder", Value: func(r *LatencyRow) listing.Value { return listing.NameOf(r.Configuration) }},
	)
}
