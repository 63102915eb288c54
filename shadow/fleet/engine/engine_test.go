package engine

import (
	"context"
	"errors"
	"io"
	"testing"

	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store/objectstore"
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
		if got := s.quoted("rollups/x"); got != c.want {
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
		if got := s.table("x", "Parquet", "a Int64"); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

// A store that is prepared has what engines look for, and nothing that counts.
func TestPrepare(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	s, err := objectstore.Open(ctx, dir)
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
