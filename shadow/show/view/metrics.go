package view

import (
	"cmp"
	"slices"

	"stackagent/granularity"
	"stackagent/internal/listing"
)

// Metric is a row of shadow stats: a metric and its distribution.
type Metric struct {
	granularity.Metric
	granularity.Distribution
}

// Metrics returns the columns of the distributions of a session.
func Metrics() []listing.Column[Metric] {
	of := func(m Metric) granularity.Distribution { return m.Distribution }
	return slices.Concat([]listing.Column[Metric]{
		{Name: "metric", Title: "metric", Kind: listing.Word, Doc: "the metric; self_: nested executions taken out",
			Value: func(m Metric) listing.Value { return listing.WordOf(cmp.Or(m.Name, m.Metric.String())) }, Show: func(m Metric) string { return m.Title(m.Metric) }},
	}, Distribution("", true, of), []listing.Column[Metric]{
		{Name: "summarised", Kind: listing.Int, Doc: "values that are known by their bucket only", Value: func(m Metric) listing.Value { return listing.IntOf(m.Summarised) }},
		RelativeError("", of),
	})
}
