package engine

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"time"

	"stackagent/internal/text"
)

// Engine runs queries of the user's where the rows are.
type Engine struct {
	Dialect Dialect
	run     func(ctx context.Context, prepare []string, query string) (*Result, error)
}

// Result is what a query gives.
type Result struct {
	Columns []string
	Rows    [][]any // nil, bool, json.Number, string, or what JSON has for nested values
}

// mostOutput bounds the answer of an engine.
const mostOutput = 256 << 20

// ErrNoEngine is an engine that cannot be reached.
var ErrNoEngine = errors.New("the engine cannot be used")

// Open finds an engine: duckdb (the program on the PATH), duckdb:/PATH/duckdb, or clickhouse://[USER:PASSWORD@]HOST[:PORT][/DATABASE]
// by HTTP (clickhouses:// by HTTPS). Nothing is run yet.
func Open(name string) (*Engine, error) {
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "duckdb":
		path, err := exec.LookPath(cmp.Or(rest, "duckdb"))
		if err != nil {
			return nil, fmt.Errorf("%w: %w; install the DuckDB command line (https://duckdb.org/docs/installation), or give duckdb:/PATH/duckdb", ErrNoEngine, err)
		}
		return &Engine{DuckDB, func(ctx context.Context, prepare []string, query string) (*Result, error) {
			return runDuckDB(ctx, path, prepare, query)
		}}, nil
	case "clickhouse", "clickhouses":
		u, err := url.Parse(name)
		if err != nil || u.Host == "" {
			return nil, fmt.Errorf("%w: %s is no address; want clickhouse://HOST:8123/DATABASE", ErrNoEngine, kind) // not the name: it may hold a password
		}
		return &Engine{ClickHouse, newClickHouse(u).run}, nil
	}
	return nil, fmt.Errorf("%w: %q; use duckdb or clickhouse://HOST:8123/DATABASE", ErrNoEngine, text.OneLine(kind))
}

// Query creates the views of a store in the engine and runs a query over them.
func (e *Engine) Query(ctx context.Context, address string, sessions bool, getenv func(string) string, query string) (*Result, error) {
	var views bytes.Buffer
	if err := Views(&views, e.Dialect, address, sessions); err != nil {
		return nil, err
	}
	prepare := statements(views.String())
	if e.Dialect == DuckDB {
		access, err := duckdbAccess(address, getenv)
		if err != nil {
			return nil, err
		}
		prepare = append(access, prepare...)
	}
	return e.run(ctx, prepare, strings.TrimRight(strings.TrimSpace(query), ";"))
}

// statements splits our own scripts, in which a statement ends with a line.
func statements(script string) (list []string) {
	var b strings.Builder
	for line := range strings.Lines(script) {
		if strings.HasPrefix(line, "--") {
			continue
		}
		b.WriteString(line)
		if strings.HasSuffix(strings.TrimSpace(line), ";") {
			list = append(list, strings.TrimRight(strings.TrimSpace(b.String()), ";"))
			b.Reset()
		}
	}
	return list
}

// runDuckDB gives the program a script on its standard input: others could see its arguments.
func runDuckDB(ctx context.Context, path string, prepare []string, query string) (*Result, error) {
	cmd := exec.CommandContext(ctx, path, "-batch", "-bail", "-json", ":memory:")
	cmd.WaitDelay = 5 * time.Second
	cmd.Stdin = strings.NewReader(strings.Join(append(prepare, query), ";\n") + ";\n")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	data, readErr := io.ReadAll(io.LimitReader(out, mostOutput+1))
	if len(data) > mostOutput {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("the answer of DuckDB has more than %d MiB; ask for less, or use it directly", mostOutput>>20)
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("DuckDB: %w: %s", err, firstLines(errs.String()))
	}
	if readErr != nil {
		return nil, readErr
	}
	return objectsOf(data)
}

// firstLines are what of a message says what is wrong.
func firstLines(s string) string { return text.OneLine(text.Cut(strings.TrimSpace(s), 1000)) }

// objectsOf reads an array of objects, keeping the order of their keys. Statements without rows may print an empty array
// before it; the last one counts.
func objectsOf(data []byte) (*Result, error) {
	r := &Result{}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	for dec.More() {
		if t, err := dec.Token(); err != nil || t != json.Delim('[') {
			return nil, fmt.Errorf("the engine's answer is no list (%w)", err)
		}
		r = &Result{}
		for dec.More() {
			columns, row, err := object(dec)
			if err != nil {
				return nil, fmt.Errorf("the engine's answer: %w", err)
			}
			if r.Columns == nil {
				r.Columns = columns
			}
			if !slices.Equal(r.Columns, columns) {
				return nil, errors.New("the engine's answer: rows have different columns")
			}
			r.Rows = append(r.Rows, row)
		}
		if _, err := dec.Token(); err != nil {
			return nil, fmt.Errorf("the engine's answer: %w", err)
		}
	}
	return r, nil
}

func object(dec *json.Decoder) (keys []string, row []any, err error) {
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, fmt.Errorf("a row is no object (%w)", err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, nil, err
		}
		var v any
		if err := dec.Decode(&v); err != nil {
			return nil, nil, err
		}
		keys, row = append(keys, fmt.Sprint(key)), append(row, v)
	}
	_, err = dec.Token()
	return keys, row, err
}

// clickHouse is a server.
type clickHouse struct {
	address        string
	user, password string
	database       string
}

func newClickHouse(u *url.URL) *clickHouse {
	c := &clickHouse{address: "http://" + u.Host, database: strings.Trim(u.Path, "/")}
	if u.Scheme == "clickhouses" {
		c.address = "https://" + u.Host
	}
	if u.Port() == "" {
		c.address += ":8123"
	}
	c.user = u.User.Username()
	c.password, _ = u.User.Password()
	return c
}

func (c *clickHouse) run(ctx context.Context, prepare []string, query string) (*Result, error) {
	for _, s := range prepare {
		if _, err := c.post(ctx, s); err != nil {
			return nil, err
		}
	}
	data, err := c.post(ctx, query+"\nFORMAT JSONCompactEachRowWithNames")
	if err != nil {
		return nil, err
	}
	r := &Result{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, mostOutput)
	for lines.Scan() {
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		if r.Columns == nil {
			if err := dec.Decode(&r.Columns); err != nil {
				return nil, fmt.Errorf("ClickHouse's answer: %w", err)
			}
			continue
		}
		var row []any
		if err := dec.Decode(&row); err != nil || len(row) != len(r.Columns) {
			return nil, fmt.Errorf("ClickHouse's answer: a row of %d values (%w)", len(row), err)
		}
		r.Rows = append(r.Rows, row)
	}
	return r, lines.Err()
}

func (c *clickHouse) post(ctx context.Context, statement string) ([]byte, error) {
	q := url.Values{"output_format_json_quote_64bit_integers": {"0"}, "wait_end_of_query": {"1"}}
	if c.database != "" {
		q.Set("database", c.database)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.address+"/?"+q.Encode(), strings.NewReader(statement))
	if err != nil {
		return nil, err
	}
	if c.user != "" {
		req.Header.Set("X-ClickHouse-User", c.user)
		req.Header.Set("X-ClickHouse-Key", c.password)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoEngine, err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostOutput+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading ClickHouse's answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("ClickHouse: %s: %s", resp.Status, firstLines(string(data)))
	case len(data) > mostOutput:
		return nil, fmt.Errorf("the answer of ClickHouse has more than %d MiB; ask for less, or use it directly", mostOutput>>20)
	}
	return data, nil
}

// duckdbAccess are the statements that give DuckDB access to a bucket, with the credentials that the environment has.
func duckdbAccess(address string, getenv func(string) string) ([]string, error) {
	s, err := newScript(DuckDB, address)
	if err != nil || !s.Remote {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("the address of the store: %w", err)
	}
	q := u.Query()
	fields := []string{"TYPE s3"}
	add := func(name, value string) {
		if value != "" {
			fields = append(fields, name+" "+s.quote(value))
		}
	}
	if key := getenv("AWS_ACCESS_KEY_ID"); key != "" {
		add("KEY_ID", key)
		add("SECRET", getenv("AWS_SECRET_ACCESS_KEY"))
		add("SESSION_TOKEN", getenv("AWS_SESSION_TOKEN"))
	} else {
		fields = append(fields, "PROVIDER credential_chain")
	}
	add("REGION", cmp.Or(q.Get("region"), cmp.Or(getenv("AWS_REGION"), getenv("AWS_DEFAULT_REGION"))))
	endpoint := cmp.Or(q.Get("endpoint"), cmp.Or(getenv("AWS_ENDPOINT_URL_S3"), getenv("AWS_ENDPOINT_URL")))
	if host, plain := strings.CutPrefix(endpoint, "http://"); plain {
		add("ENDPOINT", strings.TrimSuffix(host, "/"))
		fields = append(fields, "USE_SSL false")
	} else {
		add("ENDPOINT", strings.TrimSuffix(strings.TrimPrefix(endpoint, "https://"), "/"))
	}
	if q.Get("path-style") == "true" {
		add("URL_STYLE", "path")
	}
	return []string{"INSTALL httpfs", "LOAD httpfs", "CREATE OR REPLACE TEMPORARY SECRET stackagent (" + strings.Join(fields, ", ") + ")"}, nil
}
