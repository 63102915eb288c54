package fleet

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/cmd/shadow/internal/listing"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/shadow/engine"
	"stackagent/shadow/inquiry"
	"stackagent/shadow/objects"
	"stackagent/shadow/view"
	"stackagent/shadow/view/table"
)

// FreeColumns annotates a verb whose columns are those of the user's query: its JSON has no schema.
const FreeColumns = "stackagent: free columns"

func newSQL(env console.Env) *cobra.Command {
	var l listing.Flags
	var name string
	cmd := &cobra.Command{
		Annotations: map[string]string{FreeColumns: "true"},
		Use:         "sql STORE QUERY",
		Short:       "Ask your SQL engine about a fleet's store",
		Long: `Creates the views of shadow fleet views in an engine and runs a query over them there:
duckdb (the program on the PATH, in memory), or a ClickHouse server
(clickhouse://USER:PASSWORD@HOST:8123/DATABASE), in whose database the views then are.
The engine reads the store itself; DuckDB gets the credentials of the environment,
ClickHouse uses its own.`,
		Example: `  shadow fleet sql s3://traces/stackagent --engine duckdb \
    "SELECT class, sum(count) FROM rollups_by_day WHERE metric = 'threw' GROUP BY class ORDER BY 2 DESC"
  shadow fleet sql s3://traces/stackagent --engine clickhouse://ch:8123/fleet \
    "SELECT executor, sum(sum) FROM rollups WHERE metric = 'queue_ns' GROUP BY executor"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return console.Usagef("give the fleet's store and a query")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			r, err := query(cmd, env, name, args[0], args[1])
			if err != nil {
				return err
			}
			return printResult(&l, r)
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	cmd.Flags().StringVar(&name, "engine", string(engine.DuckDB), "duckdb, duckdb:/PATH/duckdb or clickhouse://HOST:8123/DATABASE")
	return cmd
}

func newExecutions(env console.Env) *cobra.Command {
	var l listing.Flags
	var q queryFlags
	var name string
	var longer time.Duration
	cmd := &cobra.Command{
		Use:   "executions STORE",
		Short: "The longest executions in all sessions, by your SQL engine",
		Long: `Lists single executions, the longest first, of all sessions of a store: the rows
themselves, which roll-ups no longer have, of executions that ended in the time that is
asked for. An engine of yours reads them, since there may
be billions: duckdb (the program on the PATH). --service, --class, --from, --to and --last
keep it from reading everything.`,
		Example: `  shadow fleet executions s3://traces/stackagent --service orders --last 24h --longer 1s
  shadow fleet executions /srv/fleet --class 'com.acme.*' --engine duckdb:/opt/duckdb --format csv`,
		Args: oneStore,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := l.Check(); err != nil {
				return err
			}
			if !strings.HasPrefix(name, string(engine.DuckDB)) {
				return console.Usagef("--engine %s: executions are read by duckdb; for another engine write a query, see shadow fleet sql", kindOf(name))
			}
			s, err := q.check(env.Now())
			if err != nil {
				return err
			}
			most := l.Limit()
			if most == 0 {
				most = mostExecutions
			}
			r, err := query(cmd, env, name, args[0], longest(&q, s, longer, most))
			if err != nil {
				return err
			}
			rows, err := executionsOf(r)
			if err != nil {
				return err
			}
			return listing.Rows(&l, rows, ExecutionColumns())
		},
	}
	l.AddTo(cmd, env, true, "table", "json", "csv")
	q.addFew(cmd)
	cmd.Flags().DurationVar(&longer, "longer", 0, "only executions that took so long or longer")
	cmd.Flags().StringVar(&name, "engine", string(engine.DuckDB), "duckdb or duckdb:/PATH/duckdb")
	return cmd
}

// mostExecutions bounds a list without --top.
const mostExecutions = 100_000

// sessionDays is how long before a range of time a session may have begun.
const sessionDays = 31

// longest is the query for the longest executions. A session's day is that on which it began.
func longest(q *queryFlags, s inquiry.Span, longer time.Duration, most int) string {
	where := []string{
		fmt.Sprintf("e.date >= '%s' AND e.date < '%s'", s.From.AddDate(0, 0, -sessionDays).Format(time.DateOnly), s.To.Add(24*time.Hour).Format(time.DateOnly)),
		"e.wall_ns IS NOT NULL", // else it still ran when the session ended
		fmt.Sprintf("start_unix_ns + e.wall_ns >= %d AND start_unix_ns + e.wall_ns < %d", s.From.UnixNano(), s.To.UnixNano()),
	}
	var services []string
	for _, g := range q.Services {
		services = append(services, "e.service GLOB "+quote(g))
	}
	if services != nil {
		where = append(where, "("+strings.Join(services, " OR ")+")")
	}
	if q.Select.Class != "" {
		where = append(where, "c.name GLOB "+quote(q.Select.Class))
	}
	if longer > 0 {
		where = append(where, fmt.Sprintf("e.wall_ns >= %d", longer.Nanoseconds()))
	}
	return fmt.Sprintf(`SELECT e.service AS service, e.date AS date, e.session AS session, c.name AS class, start_unix_ns, e.wall_ns AS wall_ns, e.cpu_ns AS cpu_ns, e.queue_ns AS queue_ns
FROM executions e JOIN classes c ON c.date = e.date AND c.service = e.service AND c.session = e.session AND c.class = e.class
WHERE %s
ORDER BY e.wall_ns DESC, start_unix_ns LIMIT %d`, strings.Join(where, " AND "), most)
}

// quote is a string of DuckDB's SQL.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// kindOf is the name of an engine without the address, which may hold a password.
func kindOf(name string) string {
	kind, _, _ := strings.Cut(name, ":")
	return kind
}

func query(cmd *cobra.Command, env console.Env, name, address, sql string) (*engine.Result, error) {
	e, err := engine.Open(name)
	if err != nil {
		return nil, err
	}
	if !objects.Remote(address) {
		if address, err = filepath.Abs(address); err != nil {
			return nil, err
		}
	}
	st, err := openStore(cmd.Context(), env, address)
	if err != nil {
		return nil, err
	}
	if err := engine.Prepare(cmd.Context(), st.objects); err != nil {
		return nil, err
	}
	sessions, err := engine.HasSessions(cmd.Context(), st.objects)
	if err != nil {
		return nil, err
	}
	if !sessions && cmd.Name() == "executions" {
		return nil, errors.New("the store has no sessions, only roll-ups; shadow fleet add --raw puts some")
	}
	return e.Query(cmd.Context(), address, sessions, env.Getenv, sql)
}

// Execution is one of an engine's answer.
type Execution struct {
	Service, Date, Session, Class string
	Start, Wall                   int64
	CPU, Queue                    *int64
}

// executionsOf reads the answer to longest.
func executionsOf(r *engine.Result) ([]Execution, error) {
	list := make([]Execution, len(r.Rows))
	for i, row := range r.Rows {
		x := &list[i]
		for k, v := range row {
			n := (*int64)(nil)
			if digits, ok := v.(json.Number); ok {
				if w, err := digits.Int64(); err == nil {
					n = &w
				}
			}
			name, _ := v.(string)
			switch column := r.Columns[k]; {
			case column == "service":
				x.Service = name
			case column == "date":
				x.Date = name
			case column == "session":
				x.Session = name
			case column == "class":
				x.Class = name
			case column == "cpu_ns":
				x.CPU = n
			case column == "queue_ns":
				x.Queue = n
			case n == nil:
				return nil, fmt.Errorf("the engine's answer: %s of row %d is no number", column, i+1)
			case column == "start_unix_ns":
				x.Start = *n
			case column == "wall_ns":
				x.Wall = *n
			}
		}
	}
	return list, nil
}

// ExecutionColumns are the columns of shadow fleet executions.
func ExecutionColumns() []view.Column[Execution] {
	name := func(name, doc string, of func(Execution) string) view.Column[Execution] {
		return view.Column[Execution]{Name: name, Title: name, Doc: doc, Kind: view.Name, Value: func(x Execution) view.Value { return view.NameOf(of(x)) }}
	}
	ns := func(name, title, doc string, of func(Execution) *int64) view.Column[Execution] {
		return view.Column[Execution]{Name: name, Title: title, Doc: doc, Kind: view.Int, Unit: view.Ns, Optional: true, Value: func(x Execution) view.Value {
			if of(x) == nil {
				return view.Null
			}
			return view.IntOf(*of(x))
		}}
	}
	return []view.Column[Execution]{
		name("service", "service, as keys of the store have it", func(x Execution) string { return x.Service }),
		name("date", "day on which the session began, UTC", func(x Execution) string { return x.Date }),
		name("session", "session, as keys of the store have it", func(x Execution) string { return x.Session }),
		name("class", "class of the task", func(x Execution) string { return x.Class }),
		{Name: "start_unix_ns", Title: "start", Doc: "when it began, ns since 1970", Kind: view.Int, Value: func(x Execution) view.Value { return view.IntOf(x.Start) },
			Show: func(x Execution) string { return time.Unix(0, x.Start).UTC().Format("2006-01-02 15:04:05.000") }},
		ns("wall_ns", "wall", "its wall time", func(x Execution) *int64 { return &x.Wall }),
		ns("cpu_ns", "CPU", "its CPU time; null: not measured", func(x Execution) *int64 { return x.CPU }),
		ns("queue_ns", "queue", "its queue time; null: not known", func(x Execution) *int64 { return x.Queue }),
	}
}

func printResult(l *listing.Flags, r *engine.Result) error {
	rows := r.Rows
	if n := l.Limit(); n > 0 && n < len(rows) {
		rows = rows[:n]
	}
	cells := make([][]string, len(rows))
	for i, row := range rows {
		for k, v := range row {
			cells[i] = append(cells[i], cell(v, r.Columns[k], l.Format == "table"))
		}
	}
	switch l.Format {
	case "json":
		list := make([]map[string]any, len(rows))
		for i, row := range rows {
			list[i] = map[string]any{}
			for k, v := range row {
				list[i][r.Columns[k]] = v
			}
		}
		return listing.JSON(l.Env.Out, list)
	case "csv":
		return listing.CSV(l.Env.Out, r.Columns, cells)
	}
	columns := make([]table.Column, len(r.Columns))
	for k, c := range r.Columns {
		columns[k] = table.Column{Title: c, Flexible: true}
		if len(rows) > 0 {
			_, number := rows[0][k].(json.Number)
			columns[k] = table.Column{Title: c, Right: number, Flexible: !number}
		}
	}
	t := table.New(columns...)
	for _, row := range cells {
		t.Row(row...)
	}
	return l.Render(t, len(r.Rows))
}

// cell shows a value; times in nanoseconds are easier to read with a unit.
func cell(v any, column string, terminal bool) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number:
		if n, err := v.Int64(); err == nil && terminal && strings.HasSuffix(column, "unix_ns") {
			return time.Unix(0, n).UTC().Format("2006-01-02 15:04:05.000")
		} else if err == nil && terminal && strings.HasSuffix(column, "_ns") {
			return units.FormatNs(units.Ns(n))
		}
		return v.String()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return text.OneLine(fmt.Sprint(v))
	}
	return string(b)
}
