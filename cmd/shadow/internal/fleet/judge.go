package fleet

import (
	"math"
	"strings"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/internal/units"
	"stackagent/shadow/fleet"
	"stackagent/shadow/rollup"
	"stackagent/shadow/view"
)

func newOutliers(env console.Env) *cobra.Command {
	var l listing.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "outliers STORE",
		Short: "Instances that are unlike the others of their service",
		Long: `Compares the instances of each version of a service by the work, wall time, queue time and
response time of their executions, their waits, collections, exceptions and load. Listed
is what deviates from the median of its version by 3.5 robust standard deviations (from
the median absolute deviation) and by a quarter of the median. Versions with fewer than
five instances are not judged.`,
		Example: `  shadow fleet outliers s3://traces/stackagent --last 24h
  shadow fleet outliers /srv/fleet --service orders --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			g := fleet.NewGroups(fleet.Instance, fleet.Select{})
			if err := ask(cmd, env, &l, &q, args[0], []*fleet.Groups{g}); err != nil {
				return err
			}
			list := fleet.Outliers(g.Rows(fleet.ByName))
			if len(list) == 0 {
				env.Note("no instance is unlike the others")
			}
			return listing.Rows(&l, listing.Refs(list), OutlierColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	return cmd
}

// ask reads what several groupings need, each on the coarsest level that has it.
func ask(cmd *cobra.Command, env console.Env, l *listing.Flags, q *queryFlags, address string, groups []*fleet.Groups) error {
	if err := l.Check(); err != nil {
		return err
	}
	s, err := q.check(env.Now())
	if err != nil {
		return err
	}
	st, err := openStore(cmd.Context(), env, address)
	if err != nil {
		return err
	}
	byLevel := map[rollup.Level][]func([]rollup.Row) error{}
	for _, g := range groups {
		g.Select = fleet.NewGroups(g.By, q.choose).Select
		level := q.level(s, env.Now(), g.By)
		byLevel[level] = append(byLevel[level], g.Add)
	}
	for _, level := range rollup.Levels {
		if to := byLevel[level]; len(to) > 0 {
			if err := st.read(cmd.Context(), q, s, level, 0, to...); err != nil {
				return err
			}
		}
	}
	st.note(s)
	return nil
}

// OutlierColumns are the columns of shadow fleet outliers.
func OutlierColumns() []view.Column[*fleet.Outlier] {
	type row = *fleet.Outlier
	name := func(name, title, doc string, of func(row) string) view.Column[row] {
		return view.Column[row]{Name: name, Title: title, Doc: doc, Kind: view.Name, Value: func(r row) view.Value { return view.NameOf(of(r)) }}
	}
	figure := func(name, title, doc string, of func(row) float64) view.Column[row] {
		return view.Column[row]{Name: name, Title: title, Doc: doc, Kind: view.Float, Value: func(r row) view.Value { return view.FloatOf(of(r)) },
			Show: func(r row) string { return fleet.Format(of(r), r.Unit) }}
	}
	return []view.Column[row]{
		name("service", "service", "name of the service", func(r row) string { return r.Service }),
		name("version", "version", "its version", func(r row) string { return r.Version }),
		name("instance", "instance", "the instance", func(r row) string { return r.Instance }),
		{Name: "figure", Doc: "by what it is unlike the others", Kind: view.Word, Value: func(r row) view.Value { return view.WordOf(r.Figure) }},
		{Title: "figure", Kind: view.Word, Show: func(r row) string { return r.Title }},
		{Name: "unit", Doc: "ns; empty: a count or a share", Kind: view.Word, Value: func(r row) view.Value { return view.WordOf(r.Unit) }},
		figure("value", "value", "of the instance", func(r row) float64 { return r.Value }),
		figure("median", "median", "of all instances of the version", func(r row) float64 { return r.Median }),
		{Name: "ratio", Title: "ratio", Doc: "value / median; null: the median is 0", Kind: view.Float, Unit: view.Factor, Optional: true, Value: func(r row) view.Value { return known(r.Ratio) }},
		{Name: "distance", Title: "distance", Doc: "from the median in robust standard deviations; null: all others are equal", Kind: view.Float, Unit: view.Factor, Optional: true, Value: func(r row) view.Value { return known(r.Distance) }},
		{Name: "instances", Title: "of", Doc: "instances of the version that were compared", Kind: view.Int, Unit: view.Count, Value: func(r row) view.Value { return view.IntOf(r.Of) }},
	}
}

func known(v float64) view.Value {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return view.Null
	}
	return view.FloatOf(v)
}

func newTrends(env console.Env) *cobra.Command {
	var l listing.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "trends STORE",
		Short: "How the services develop from day to day",
		Long: `Follows the executions, work, queue times, response times, collections and losses of each
service, a value a day, with the slope (Theil-Sen) and the p of the hypothesis that there
is no trend (Mann-Kendall). It takes five whole days to judge one; today is left out.`,
		Example: `  shadow fleet trends s3://traces/stackagent --last 90d
  shadow fleet trends /srv/fleet --service orders --last 52w --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			g := fleet.NewGroups(fleet.Day, fleet.Select{})
			if err := ask(cmd, env, &l, &q, args[0], []*fleet.Groups{g}); err != nil {
				return err
			}
			list := fleet.Trends(g.Rows(fleet.ByName), env.Now())
			return listing.Rows(&l, listing.Refs(list), TrendColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	cmd.Flags().Lookup("last").DefValue, q.last = "30d", "30d"
	return cmd
}

// TrendColumns are the columns of shadow fleet trends.
func TrendColumns() []view.Column[*fleet.Trend] {
	type row = *fleet.Trend
	last := func(r row) float64 {
		if len(r.Values) == 0 {
			return math.NaN()
		}
		return r.Values[len(r.Values)-1]
	}
	return []view.Column[row]{
		{Name: "service", Title: "service", Doc: "name of the service", Kind: view.Name, Value: func(r row) view.Value { return view.NameOf(r.Service) }},
		{Name: "figure", Doc: "what is followed", Kind: view.Word, Value: func(r row) view.Value { return view.WordOf(r.Figure) }},
		{Title: "figure", Kind: view.Word, Show: func(r row) string { return r.Title }},
		{Name: "unit", Doc: "ns; empty: a count", Kind: view.Word, Value: func(r row) view.Value { return view.WordOf(r.Unit) }},
		{Name: "days", Title: "days", Doc: "days with a value", Kind: view.Int, Unit: view.Count, Value: func(r row) view.Value { return view.IntOf(len(r.Days)) }},
		{Title: "from day to day", Kind: view.Word, Show: func(r row) string { return sparkline(r.Values) }},
		{Name: "last", Title: "last day", Doc: "value of the last whole day", Kind: view.Float, Optional: true, Value: func(r row) view.Value { return known(last(r)) },
			Show: func(r row) string { return fleet.Format(last(r), r.Unit) }},
		{Name: "per_day", Title: "a day", Doc: "slope: the median of the slopes between any two days", Kind: view.Float, Optional: true, Value: func(r row) view.Value { return known(r.PerDay) },
			Show: func(r row) string { return signed(r.PerDay, r.Unit) }},
		{Name: "change", Title: "change", Doc: "by the slope from the first day to the last, of the level at the first", Kind: view.Float, Optional: true, Value: func(r row) view.Value { return known(r.Change) },
			Show: func(r row) string { return change(r.Change) }},
		{Name: "p", Title: "p", Doc: "of the hypothesis that there is no trend", Kind: view.Float, Unit: view.Factor, Optional: true, Value: func(r row) view.Value { return known(r.P) }},
		{Name: "values", Doc: "value by day", Kind: view.Object, CSV: view.Absent, Value: func(r row) view.Value { return view.ObjectOf(points(r)) }, Holds: []Point{}},
	}
}

// Point is a value of a day.
type Point struct {
	Day   string   `json:"day"`   // UTC, 2026-03-01
	Value *float64 `json:"value"` // null: there was none
}

func points(r *fleet.Trend) []Point {
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
	s := fleet.Format(v, unit)
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

func newFindings(env console.Env) *cobra.Command {
	var l listing.Flags
	var q queryFlags
	cmd := &cobra.Command{
		Use:   "findings STORE",
		Short: "What in the services deserves a look",
		Long: `Looks for lost events, exceptions, collections, queues, tasks that are cut too fine,
instances unlike the others, and trends, and says what was seen. What to do about it is
for the advice of a session: shadow fleet top --by session names some, shadow report
shows one.`,
		Example: `  shadow fleet findings s3://traces/stackagent
  shadow fleet findings /srv/fleet --service orders --last 30d --format json`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			by := map[fleet.By]*fleet.Groups{}
			var all []*fleet.Groups
			for _, b := range []fleet.By{fleet.Class, fleet.Executor, fleet.Service, fleet.Day, fleet.Instance} {
				by[b] = fleet.NewGroups(b, fleet.Select{})
				all = append(all, by[b])
			}
			if err := ask(cmd, env, &l, &q, args[0], all); err != nil {
				return err
			}
			rows := func(b fleet.By) []*fleet.Row { return by[b].Rows(fleet.ByName) }
			f := fleet.Facts{Classes: rows(fleet.Class), Executors: rows(fleet.Executor), Services: rows(fleet.Service), Days: rows(fleet.Day), Instances: rows(fleet.Instance), Now: env.Now()}
			list := f.Find()
			if len(list) == 0 {
				env.Note("nothing was found")
			}
			return listing.Rows(&l, listing.Refs(list), FindingColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addTo(cmd)
	return cmd
}

// FindingColumns are the columns of shadow fleet findings.
func FindingColumns() []view.Column[*fleet.Finding] {
	type row = *fleet.Finding
	return []view.Column[row]{
		{Name: "service", Title: "service", Doc: "name of the service", Kind: view.Name, Value: func(r row) view.Value { return view.NameOf(r.Service) }},
		{Name: "rule", Title: "finding", Doc: "what was looked for", Kind: view.Word, Value: func(r row) view.Value { return view.WordOf(r.Rule) }},
		{Name: "name", Title: "of", Doc: "the class, executor, instance or figure that it is about; empty: the service", Kind: view.Name, Value: func(r row) view.Value { return view.NameOf(r.Name) }},
		{Name: "text", Title: "what was seen", Doc: "what was seen", Kind: view.Name, Wraps: true, Value: func(r row) view.Value { return view.NameOf(r.Text) }},
		{Name: "weight", Doc: "of findings by one rule, larger ones matter more", Kind: view.Float, Value: func(r row) view.Value { return view.FloatOf(r.Weight) }},
	}
}
