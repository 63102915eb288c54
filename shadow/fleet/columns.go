package fleet

import (
	"math"
	"strings"

	"stackagent/internal/listing"
	"stackagent/internal/units"
)

// OutlierColumns are the columns of shadow fleet outliers.
func OutlierColumns() []listing.Column[*Outlier] {
	type row = *Outlier
	name := func(name, title, doc string, of func(row) string) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(of(r)) }}
	}
	figure := func(name, title, doc string, of func(row) float64) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Float, Value: func(r row) listing.Value { return listing.FloatOf(of(r)) },
			Show: func(r row) string { return Format(of(r), r.Unit) }}
	}
	return []listing.Column[row]{
		name("service", "service", "name of the service", func(r row) string { return r.Service }),
		name("version", "version", "its version", func(r row) string { return r.Version }),
		name("instance", "instance", "the instance", func(r row) string { return r.Instance }),
		{Name: "figure", Doc: "by what it is unlike the others", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Figure) }},
		{Title: "figure", Kind: listing.Word, Show: func(r row) string { return r.Title }},
		{Name: "unit", Doc: "ns; empty: a count or a share", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Unit) }},
		figure("value", "value", "of the instance", func(r row) float64 { return r.Value }),
		figure("median", "median", "of all instances of the version", func(r row) float64 { return r.Median }),
		{Name: "ratio", Title: "ratio", Doc: "value / median; null: the median is 0", Kind: listing.Float, Unit: listing.Factor, Optional: true, Value: func(r row) listing.Value { return known(r.Ratio) }},
		{Name: "distance", Title: "distance", Doc: "from the median in robust standard deviations; null: all others are equal", Kind: listing.Float, Unit: listing.Factor, Optional: true, Value: func(r row) listing.Value { return known(r.Distance) }},
		{Name: "instances", Title: "of", Doc: "instances of the version that were compared", Kind: listing.Int, Unit: listing.Count, Value: func(r row) listing.Value { return listing.IntOf(r.Of) }},
	}
}

func known(v float64) listing.Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return listing.Null
	}
	return listing.FloatOf(v)
}

// TrendColumns are the columns of shadow fleet trends.
func TrendColumns() []listing.Column[*Trend] {
	type row = *Trend
	last := func(r row) float64 {
		if len(r.Values) == 0 {
			return math.NaN()
		}
		return r.Values[len(r.Values)-1]
	}
	return []listing.Column[row]{
		{Name: "service", Title: "service", Doc: "name of the service", Kind: listing.Name, Value: func(r row) listing.Value { return listing.NameOf(r.Service) }},
		{Name: "figure", Doc: "what is followed", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Figure) }},
		{Title: "figure", Kind: listing.Word, Show: func(r row) string { return r.Title }},
		{Name: "unit", Doc: "ns; empty: a count", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Unit) }},
		{Name: "days", Title: "days", Doc: "days with a value", Kind: listing.Int, Unit: listing.Count, Value: func(r row) listing.Value { return listing.IntOf(len(r.Days)) }},
		{Title: "from day to day", Kind: listing.Word, Show: func(r row) string { return sparkline(r.Values) }},
		{Name: "last", Title: "last day", Doc: "value of the last whole day", Kind: listing.Float, Optional: true, Value: func(r row) listing.Value { return known(last(r)) },
			Show: func(r row) string { return Format(last(r), r.Unit) }},
		{Name: "per_day", Title: "a day", Doc: "slope: the median of the slopes between any two days", Kind: listing.Float, Optional: true, Value: func(r row) listing.Value { return known(r.PerDay) },
			Show: func(r row) string { return signed(r.PerDay, r.Unit) }},
		{Name: "change", Title: "change", Doc: "by the slope from the first day to the last, of the level at the first", Kind: listing.Float, Optional: true, Value: func(r row) listing.Value { return known(r.Change) },
			Show: func(r row) string { return change(r.Change) }},
		{Name: "p", Title: "p", Doc: "of the hypothesis that there is no trend", Kind: listing.Float, Unit: listing.Factor, Optional: true, Value: func(r row) listing.Value { return known(r.P) }},
		{Name: "values", Doc: "value by day", Kind: listing.Object, CSV: listing.Absent, Value: func(r row) listing.Value { return listing.ObjectOf(points(r)) }, Holds: []Point{}},
	}
}

// Point is a value of a day.
type Point struct {
	Day   string   `json:"day"`   // UTC, 2026-03-01
	Value *float64 `json:"value"` // null: there was none
}

func points(r *Trend) []Point {
	list := make([]Point, len(r.Days))
	for i, d := range r.Days {
		list[i].Day = d
		if v := r.Values[i]; !math.IsNaN(v) {
			list[i].Value = &r.Values[i]
		}
	}
	return list
}

func signed(v float64, unit string) string {
	s := Format(v, unit)
	if s != "" && v > 0 {
		return "+" + s
	}
	return s
}

func change(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return units.FormatChange(v)
}

// mostTicks bounds the width of a sparkline: the last ones are shown.
const mostTicks = 30

// sparkline draws values from 0 to the largest.
func sparkline(values []float64) string {
	const ticks = "▁▂▃▄▅▆▇█"
	values = values[max(0, len(values)-mostTicks):]
	most := 0.0
	for _, v := range values {
		most = max(most, v)
	}
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteRune(' ')
		case most == 0:
			b.WriteRune('▁')
		default:
			b.WriteRune([]rune(ticks)[min(7, int(v/most*8))])
		}
	}
	return b.String()
}

// FindingColumns are the columns of shadow fleet findings.
func FindingColumns() []listing.Column[*Found] {
	type row = *Found
	name := func(name, title, doc string, of func(row) string) listing.Column[row] {
		return listing.Column[row]{Name: name, Title: title, Doc: doc, Kind: listing.Name, Wraps: name == "title" || name == "remedy", Value: func(r row) listing.Value { return listing.NameOf(of(r)) }}
	}
	return []listing.Column[row]{
		name("service", "service", "name of the service", func(r row) string { return r.Service }),
		{Name: "sessions", Title: "sessions", Doc: "that have it", Kind: listing.Int, Unit: listing.Count, Value: func(r row) listing.Value { return listing.IntOf(r.Sessions) }},
		{Name: "of", Title: "of", Doc: "sessions of the service whose findings are known", Kind: listing.Int, Unit: listing.Count, Value: func(r row) listing.Value { return listing.IntOf(r.Of) }},
		{Name: "rule", Title: "finding", Doc: "its rule, as in docs/advice.md", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Rule) }},
		{Name: "kind", Doc: "advice or caution", Kind: listing.Word, Value: func(r row) listing.Value { return listing.WordOf(r.Kind) }},
		name("class", "", "the task class that it is about; empty: none", func(r row) string { return r.Class }),
		name("executor", "", "the executor that it is about; empty: none", func(r row) string { return r.Executor }),
		name("title", "what is wrong", "what is wrong, as most of the sessions say it", func(r row) string { return r.Title }),
		name("remedy", "what to do", "what to do", func(r row) string { return r.Remedy }),
	}
}
