// Package engine writes views of a fleet's store for SQL engines: DuckDB, ClickHouse and Spark read the files where they
// are. The views follow the rule by which roll-ups count (docs/internals/format-rollup.md), so each engine gets the sums
// that shadow fleet gets.
package engine

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"reflect"
	"strings"

	"stackagent/internal/text"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store/objectstore"
)

// Dialect is an engine's.
type Dialect string

// The dialects.
const (
	DuckDB     Dialect = "duckdb"
	ClickHouse Dialect = "clickhouse"
	Spark      Dialect = "spark"
)

// Dialects are all of them.
var Dialects = []Dialect{DuckDB, ClickHouse, Spark}

var (
	//go:embed duckdb.sql
	duckdbViews string
	//go:embed duckdb_sessions.sql
	duckdbSessions string
	//go:embed clickhouse.sql
	clickhouseViews string
	//go:embed spark.sql
	sparkViews string

	scripts = map[Dialect]string{DuckDB: duckdbViews, ClickHouse: clickhouseViews, Spark: sparkViews}
)

// ErrNoDialect is an engine that there are no views for.
var ErrNoDialect = errors.New("no such engine")

// Views writes the statements that create the views of the store at an address: a folder, or s3://BUCKET/PREFIX. Options
// of the address (endpoint, region) are for the engine to know. sessions: the store has sessions, not only roll-ups.
func Views(w io.Writer, d Dialect, address string, sessions bool) error {
	views, known := scripts[d]
	if !known {
		return fmt.Errorf("%w: %s; there are views for %s", ErrNoDialect, d, text.OneOf(Dialects))
	}
	s, err := newScript(d, address)
	if err != nil {
		return err
	}
	if sessions && d == DuckDB {
		views += duckdbSessions
	}
	_, err = io.WriteString(w, s.fill(views))
	return err
}

// script fills in the places of a file of views. They look like ${quoted rollups/day}. A line that begins with "--remote: " is
// a comment on stores in buckets. text/template would keep every exported method of the program in the binary.
type script struct {
	name    string // for comments
	remote  bool
	dialect Dialect
	root    string
	http    string // of a bucket: the address that ClickHouse takes
}

func newScript(d Dialect, address string) (*script, error) {
	s := &script{dialect: d, remote: objectstore.Remote(address), root: strings.TrimSuffix(address, "/")}
	if s.remote {
		u, err := url.Parse(address)
		if err != nil {
			return nil, fmt.Errorf("the address of the store: %w", err)
		}
		prefix := strings.Trim(u.Path, "/")
		s.root = strings.TrimSuffix("s3://"+u.Host+"/"+prefix, "/")
		q := u.Query()
		switch endpoint := strings.TrimSuffix(q.Get("endpoint"), "/"); {
		case endpoint != "":
			s.http = strings.TrimSuffix(endpoint+"/"+u.Host+"/"+prefix, "/")
		case q.Get("region") != "":
			s.http = strings.TrimSuffix("https://"+u.Host+".s3."+q.Get("region")+".amazonaws.com/"+prefix, "/")
		default:
			s.http = strings.TrimSuffix("https://"+u.Host+".s3.amazonaws.com/"+prefix, "/")
		}
		if d == Spark {
			s.root = "s3a" + strings.TrimPrefix(s.root, "s3")
		}
	}
	if strings.ContainsAny(s.root, "*?[{\n\r") {
		return nil, fmt.Errorf("the address %q of the store has characters that engines take for patterns", text.OneLine(s.root))
	}
	s.name = text.OneLine(s.root)
	return s, nil
}

func (s *script) fill(views string) string {
	const remote = "--remote: "
	var b strings.Builder
	for line := range strings.Lines(views) {
		comment, only := strings.CutPrefix(line, remote)
		switch {
		case only && !s.remote:
		case only:
			b.WriteString("-- " + comment)
		default:
			b.WriteString(os.Expand(line, s.place))
		}
	}
	return b.String()
}

// place is what a place is filled with: a word and its arguments, with spaces in between.
func (s *script) place(what string) string {
	word, arguments, _ := strings.Cut(what, " ")
	switch word {
	case "name":
		return s.name
	case "quoted":
		return s.quoted(arguments)
	case "table":
		pattern, rest, _ := strings.Cut(arguments, " ")
		format, columns, _ := strings.Cut(rest, " ")
		return s.table(pattern, format, cmp.Or(columns, schema()))
	case "columns":
		return columns(arguments)
	case "key_columns":
		return keyColumns()
	case "day_columns":
		return dayColumns()
	}
	panic("no such place in a file of views: " + what)
}

// quote is a string of SQL.
func (s *script) quote(v string) string {
	if s.dialect != DuckDB { // there a backslash is nothing special
		v = strings.ReplaceAll(v, `\`, `\\`)
	}
	if s.dialect == Spark {
		return "'" + strings.ReplaceAll(v, "'", `\'`) + "'"
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

// quoted is the place of files in the store.
func (s *script) quoted(pattern string) string { return s.quote(s.root + "/" + pattern) }

// table is ClickHouse's function that reads files.
func (s *script) table(pattern, format, columns string) string {
	if s.remote {
		return fmt.Sprintf("s3(%s, %s, %s)", s.quote(s.http+"/"+pattern), s.quote(format), s.quote(columns))
	}
	return fmt.Sprintf("file(%s, %s, %s)", s.quote(s.root+"/"+pattern), s.quote(format), s.quote(columns))
}

// columns are the columns of files of roll-ups.
func columns(prefix string) string {
	return list(func(c rollup.FileColumn) string {
		if prefix == "" {
			return c.Name
		}
		return prefix + c.Name + " AS " + c.Name
	})
}

// keyColumns leaves out the histograms.
func keyColumns() string {
	return list(func(c rollup.FileColumn) string {
		if c.List {
			return ""
		}
		return c.Name
	})
}

// dayColumns are those of rows that become rows of days.
func dayColumns() string {
	return list(func(c rollup.FileColumn) string {
		switch c.Name {
		case "window_start":
			return "timestamp_seconds(floor(unix_seconds(window_start) / 86400) * 86400) AS window_start"
		case "instance", "session", "labels":
			return "'' AS " + c.Name
		}
		return c.Name
	})
}

// schema is that of the files, for ClickHouse.
func schema() string {
	return list(func(c rollup.FileColumn) string {
		t := map[reflect.Kind]string{reflect.String: "String", reflect.Bool: "Bool", reflect.Int32: "Int32", reflect.Int64: "Int64"}[c.Kind]
		if c.Time {
			t = "DateTime64(6, 'UTC')"
		}
		if c.List {
			t = "Array(" + t + ")"
		}
		return c.Name + " " + t
	})
}

func list(of func(rollup.FileColumn) string) string {
	var all []string
	for _, c := range rollup.FileColumns() {
		if s := of(c); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, ", ")
}

// Prepare puts a file without rows into each place of roll-ups that has none yet: engines refuse patterns that match
// nothing.
func Prepare(ctx context.Context, s objectstore.Store) error {
	var empty bytes.Buffer
	if err := rollup.Write(&empty, nil); err != nil {
		return err
	}
	const partition = "date=1970-01-01/service=none/"
	places := map[string][]byte{"manifests/" + partition + "00000001.json": []byte(`{"version":1,"id":"none","written":"1970-01-01T00:00:00Z","files":[],"covered":{}}`)}
	for _, place := range []string{"fresh", string(rollup.Detail), string(rollup.Day), string(rollup.Instance)} {
		places[place+"/"+partition+"empty.parquet"] = empty.Bytes()
	}
	for key, data := range places {
		err := s.PutIfAbsent(ctx, objectstore.RollupsPrefix+key, bytes.NewReader(data), int64(len(data)))
		if err != nil && !errors.Is(err, objectstore.ErrExists) {
			return fmt.Errorf("preparing the store for engines: %w", err)
		}
	}
	return nil
}

// HasSessions reports whether a store has a visible session.
func HasSessions(ctx context.Context, s objectstore.Store) (bool, error) {
	for o, err := range s.List(ctx, objectstore.SessionsPrefix) {
		if err != nil {
			return false, fmt.Errorf("looking for sessions: %w", err)
		}
		if path.Base(o.Key) == "manifest.json" {
			return true, nil
		}
	}
	return false, nil
}
