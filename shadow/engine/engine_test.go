package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/shadow/objects"
	"stackagent/shadow/rollup"
)

// Addresses become strings of SQL, whatever is in them.
func TestQuoted(t *testing.T) {
	for _, c := range []struct {
		d             Dialect
		address, want string
	}{
		{DuckDB, "/srv/it's", `'/srv/it''s/rollups/x'`},
		{DuckDB, `/srv/a\b`, `'/srv/a\b/rollups/x'`},
		{ClickHouse, `/srv/a\'b`, `'/srv/a\\''b/rollups/x'`},
		{Spark, `/srv/a\'b`, `'/srv/a\\\'b/rollups/x'`},
		{Spark, "s3://b/p?region=x", `'s3a://b/p/rollups/x'`},
		{DuckDB, "s3://b", `'s3://b/rollups/x'`},
	} {
		s, err := newScript(c.d, c.address)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Quoted("rollups/x"); got != c.want {
			t.Errorf("%s, %s: %s, want %s", c.d, c.address, got, c.want)
		}
	}
	for _, bad := range []string{"/srv/*", "/srv/a\nDROP TABLE x", "/srv/[a]"} {
		if err := Views(io.Discard, DuckDB, bad, true); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestClickHouseAddress(t *testing.T) {
	for address, want := range map[string]string{
		"s3://b/p?endpoint=http://minio:9000/": "s3('http://minio:9000/b/p/x', 'Parquet', 'a Int64')",
		"s3://b/p?region=eu-west-1":            "s3('https://b.s3.eu-west-1.amazonaws.com/p/x', 'Parquet', 'a Int64')",
		"s3://b":                               "s3('https://b.s3.amazonaws.com/x', 'Parquet', 'a Int64')",
		"/srv/fleet":                           "file('/srv/fleet/x', 'Parquet', 'a Int64')",
	} {
		s, err := newScript(ClickHouse, address)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Table("x", "Parquet", "a Int64"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// A store that is prepared has what engines look for, and nothing that counts.
func TestPrepare(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := objects.Open(ctx, dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Prepare(ctx, s); err != nil {
			t.Fatal(err)
		}
	}
	a, err := rollup.Open(s).Read(ctx, rollup.Query{}, func([]rollup.Row) error { return errors.New("a row") })
	if err != nil || len(a.Missing) > 0 || a.Rows != 0 {
		t.Errorf("%v, %+v", err, a)
	}
	if has, err := HasSessions(ctx, s); has || err != nil {
		t.Errorf("%v, %v", has, err)
	}
}

// The credentials of the environment go to DuckDB by its standard input, quoted; its answer comes back in order.
func TestDuckDB(t *testing.T) {
	dir := t.TempDir()
	program, got := filepath.Join(dir, "duckdb"), filepath.Join(dir, "input")
	script := "#!/bin/sh\ncat > '" + got + "'\necho '[{\"b\":1,\"a\":\"x\"},{\"b\":12345678901234567,\"a\":null}]'\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	e, err := Open("duckdb:" + program)
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "it's"}
	r, err := e.Query(t.Context(), "s3://b/p?endpoint=http://h:1&region=r&path-style=true", false, func(k string) string { return env[k] }, "SELECT 1;")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(r.Columns, " ") != "b a" || len(r.Rows) != 2 || r.Rows[1][0] != json.Number("12345678901234567") || r.Rows[1][1] != nil {
		t.Errorf("%+v", r)
	}
	input, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(TYPE s3, KEY_ID 'k', SECRET 'it''s', REGION 'r', ENDPOINT 'h:1', USE_SSL false, URL_STYLE 'path')", "CREATE OR REPLACE VIEW rollups ", "\nSELECT 1;\n"} {
		if !strings.Contains(string(input), want) {
			t.Errorf("the input lacks %q", want)
		}
	}
	if strings.Contains(string(input), "fleet_sessions") {
		t.Error("there are views of sessions, though there are none")
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\ncat > /dev/null\necho 'Binder Error: no such column' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Query(t.Context(), "/srv/x", false, os.Getenv, "SELECT x"); err == nil || !strings.Contains(err.Error(), "no such column") {
		t.Errorf("%v", err)
	}
}

// A ClickHouse server gets the views one by one, then the query, with the user's name in headers and not in the address.
func TestClickHouse(t *testing.T) {
	var said []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		said = append(said, string(body))
		if r.Header.Get("X-ClickHouse-User") != "me" || r.Header.Get("X-ClickHouse-Key") != "secret" || strings.Contains(r.URL.String(), "secret") || r.URL.Query().Get("database") != "fleet" {
			t.Errorf("%s %v", r.URL, r.Header)
		}
		switch {
		case bytes.Contains(body, []byte("broken")):
			http.Error(w, "Code: 62. DB::Exception: Syntax error", http.StatusBadRequest)
		case bytes.HasSuffix(body, []byte("FORMAT JSONCompactEachRowWithNames")):
			_, _ = io.WriteString(w, "[\"a\",\"n\"]\n[\"x\",18446744073709551615]\n")
		}
	}))
	defer server.Close()
	e, err := Open("clickhouse://me:secret@" + strings.TrimPrefix(server.URL, "http://") + "/fleet")
	if err != nil {
		t.Fatal(err)
	}
	r, err := e.Query(t.Context(), "s3://b/p", false, os.Getenv, "SELECT a, n FROM rollups")
	if err != nil || len(r.Rows) != 1 || r.Rows[0][1] != json.Number("18446744073709551615") {
		t.Fatalf("%v, %+v", err, r)
	}
	if n := strings.Count(strings.Join(said, "\n"), "CREATE OR REPLACE VIEW"); n != len(said)-1 || n < 6 {
		t.Errorf("%d views in %d statements", n, len(said))
	}
	if _, err := e.Query(t.Context(), "s3://b/p", false, os.Getenv, "broken"); err == nil || !strings.Contains(err.Error(), "Syntax error") || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v", err)
	}
	for _, bad := range []string{"clickhouse:", "postgres://x", "", "duckdb:/none/duckdb"} {
		if _, err := Open(bad); !errors.Is(err, ErrNoEngine) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// Answers of engines are not trusted.
func FuzzObjectsOf(f *testing.F) {
	for _, s := range []string{`[{"a":1}]`, `[]`, `[{"a":[1,{"b":2}]},{}]`, `[][{"a":1}]`, `{`, `[1]`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = objectsOf(data) })
}
