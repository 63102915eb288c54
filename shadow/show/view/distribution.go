package view

import (
	"strconv"

	"stackagent/granularity"
	"stackagent/internal/listing"
	"stackagent/internal/units"
)

// coarse is the relative error from which a quantile is marked: less does not show in the digits of a
// table.
const coarse = 0.001

// Quantile is a quantile of d on the terminal, with ~ if it rests on coarse buckets.
func Quantile(n units.Ns, d granularity.Distribution) string {
	if d.RelativeError >= coarse {
		return "~" + d.Format(n)
	}
	return d.Format(n)
}

// Estimated is the text of a figure of d, with ~ if only a random part of its values was measured.
func Estimated(text string, d granularity.Distribution) string {
	if d.Timed > 0 {
		return "~" + text
	}
	return text
}

// quantities are the figures of a distribution, in the order of the columns.
var quantities = []struct {
	name, title, doc string
	of               func(granularity.Distribution) units.Ns
	quantile         bool
}{
	{"min", "min", "smallest value", func(d granularity.Distribution) units.Ns { return d.Min }, false},
	{"p1", "", "1st percentile", func(d granularity.Distribution) units.Ns { return d.P1 }, true},
	{"p5", "", "5th percentile", func(d granularity.Distribution) units.Ns { return d.P5 }, true},
	{"p25", "", "25th percentile", func(d granularity.Distribution) units.Ns { return d.P25 }, true},
	{"p50", "p50", "median", func(d granularity.Distribution) units.Ns { return d.P50 }, true},
	{"p75", "", "75th percentile", func(d granularity.Distribution) units.Ns { return d.P75 }, true},
	{"p95", "p95", "95th percentile", func(d granularity.Distribution) units.Ns { return d.P95 }, true},
	{"p99", "p99", "99th percentile", func(d granularity.Distribution) units.Ns { return d.P99 }, true},
	{"p999", "p99.9", "99.9th percentile", func(d granularity.Distribution) units.Ns { return d.P999 }, true},
	{"max", "max", "largest value", func(d granularity.Distribution) units.Ns { return d.Max }, false},
}

// Distribution returns the columns of a distribution. Their names begin with prefix; titled says
// whether the terminal shows them.
func Distribution[R any](prefix string, titled bool, of func(R) granularity.Distribution) []listing.Column[R] {
	ifAny := func(value func(granularity.Distribution) listing.Value) func(R) listing.Value {
		return func(r R) listing.Value {
			if d := of(r); d.Count > 0 {
				return value(d)
			}
			return listing.Null
		}
	}
	shown := func(text func(granularity.Distribution) string) func(R) string {
		return func(r R) string {
			if d := of(r); d.Count > 0 {
				return text(d)
			}
			return ""
		}
	}
	float := func(name, title, doc string, f func(granularity.Distribution) float64) listing.Column[R] {
		return listing.Column[R]{Name: prefix + name, Title: title, Kind: listing.Float, Optional: true, Doc: doc,
			Value: ifAny(func(d granularity.Distribution) listing.Value { return listing.FloatOf(f(d)) }),
			Text:  shown(func(d granularity.Distribution) string { return strconv.FormatFloat(f(d), 'f', 3, 64) }),
			Show:  shown(func(d granularity.Distribution) string { return Estimated(d.Format(units.Ns(f(d))), d) })}
	}
	columns := []listing.Column[R]{
		{Name: prefix + "count", Title: "count", Kind: listing.Int, Unit: listing.Count, Doc: "number of values", Value: func(r R) listing.Value { return listing.IntOf(of(r).Count) }},
		{Name: prefix + "sum", Title: "sum", Kind: listing.Int, Optional: true, Doc: "sum",
			Value: ifAny(func(d granularity.Distribution) listing.Value { return listing.IntOf(d.Sum) }),
			Show:  shown(func(d granularity.Distribution) string { return Estimated(d.Format(d.Sum), d) })},
		float("mean", "mean", "mean", func(d granularity.Distribution) float64 { return d.Mean }),
		float("stddev", "", "standard deviation", func(d granularity.Distribution) float64 { return d.StdDev }),
	}
	for _, q := range quantities {
		text := func(d granularity.Distribution) string { return Estimated(d.Format(q.of(d)), d) }
		if q.quantile {
			text = func(d granularity.Distribution) string { return Quantile(q.of(d), d) }
		}
		columns = append(columns, listing.Column[R]{Name: prefix + q.name, Title: q.title, Kind: listing.Int, Optional: true, Doc: q.doc,
			Value: ifAny(func(d granularity.Distribution) listing.Value { return listing.IntOf(q.of(d)) }), Show: shown(text)})
	}
	if !titled {
		for i := range columns {
			columns[i].Title = ""
		}
	}
	return columns
}

// RelativeError returns the column of the relative error of a distribution's quantiles; 0: exact.
func RelativeError[R any](prefix string, of func(R) granularity.Distribution) listing.Column[R] {
	return listing.Column[R]{Name: prefix + "relative_error", Kind: listing.Float, Optional: true, Doc: "largest relative error of the quantiles, and of the sum (at 95 %) if a random part was timed; 0: exact",
		Text: func(r R) string {
			if of(r).Count == 0 {
				return ""
			}
			return strconv.FormatFloat(of(r).RelativeError, 'g', 4, 64)
		}}
}
