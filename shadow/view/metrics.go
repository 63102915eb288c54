package view

import (
	"cmp"
	"slices"

	"stackagent/granularity"
)

// Metric is a row of shadow stats: a metric and its distribution.
type Metric struct {
	granularity.Metric
	granularity.Distribution
}

// Metrics returns the columns of the distributions of a session.
func Metrics() []Column[Metric] {
	of := func(m Metric) granularity.Distribution { return m.Distribution }
	return slices.Concat([]Column[Metric]{
		{Name: "metric", Title: "metric", Kind: Word, Doc: "the metric; self_: nested executions taken out",
			Value: func(m Metric) Value { return WordOf(cmp.Or(m.Name, m.Metric.String())) }, Show: func(m Metric) string { return m.Title(m.Metric) }},
	}, Distribution("", true, of), []Column[Metric]{
		{Name: "summarised", Kind: Int, Doc: "values that are known by their bucket only", Value: func(m Metric) Value { return IntOf(m.Summarised) }},
		RelativeError("", of),
	})
}
