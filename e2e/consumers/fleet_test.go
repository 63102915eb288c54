//go:build consumers

package consumers

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/session"
	"stackagent/shadow/store/objectstore"
)

var fleetSessions = flag.Int("fleet-sessions", 1000, "sessions of the fleet that engines are asked about")

// truth is what the sessions of a service have, by shadow stats and by each of their executions.
type truth struct {
	executions, wallNs, queue int64
	walls                     []int64
}

func (x *truth) quantile(p float64) float64 {
	return float64(x.walls[max(0, int(math.Ceil(p*float64(len(x.walls))))-1)])
}

// TestFleetEngines: of a thousand sessions of ten services over thirty days, shadow fleet, DuckDB, ClickHouse and Spark have
// the sums of shadow stats, and quantiles within 0.8 % of those of all executions, whatever is compacted.
func TestFleetEngines(t *testing.T) {
	testjvm.Alone(t, "the address of the object store is in the environment")
	server := testobjects.Start(t)
	remote, folder := server.Address("traces", ""), filepath.Join(t.TempDir(), "fleet")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	from := time.Now().UTC().AddDate(0, 0, -31).Truncate(24 * time.Hour)
	of := fleettest.Fleet{Sessions: *fleetSessions, Services: 10, Days: 30, Instances: 8, Executions: 2000, From: from, Seed: 22}
	began := time.Now()
	list, err := of.Generate(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d sessions made in %v", len(list), time.Since(began))
	want := map[string]*truth{}
	for _, x := range list {
		w := want[x.Labels.Service]
		if w == nil {
			w = &truth{}
			want[x.Labels.Service] = w
		}
		var stats struct {
			Tasks   struct{ Executions int64 }
			Metrics map[string]struct{ Sum int64 }
		}
		if err := json.Unmarshal([]byte(shadow(t, "stats", x.Dir, "--format", "json")), &stats); err != nil {
			t.Fatal(err)
		}
		w.executions += stats.Tasks.Executions
		w.wallNs += stats.Metrics["wall_ns"].Sum
		s, err := session.Open(x.Dir)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Executions(func(c *session.Chunk) error {
			for _, n := range c.WallNs {
				w.walls = append(w.walls, int64(n))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, w := range want {
		slices.Sort(w.walls)
		if int64(len(w.walls)) != w.executions {
			t.Fatalf("%d executions, %d wall times", w.executions, len(w.walls))
		}
	}
	ctx := context.Background()
	stores := map[string]objectstore.Store{}
	for _, address := range []string{remote, folder} {
		if stores[address], err = objectstore.Open(ctx, address); err != nil {
			t.Fatal(err)
		}
	}
	add := func(list []fleettest.Session) {
		for _, x := range list {
			for _, to := range stores {
				if err := rollup.RollUp(ctx, to, x.Dir, x.Name, true); err != nil {
					t.Fatal(err)
				}
				if err := os.Remove(filepath.Join(x.Dir, rollup.ProgressName)); err != nil { // the next store begins anew
					t.Fatal(err)
				}
			}
		}
	}
	compact := func(enough int) {
		for address, to := range stores {
			began := time.Now()
			done, err := rollup.Compact(ctx, to, rollup.CompactOptions{Enough: enough, Logger: slog.New(slog.DiscardHandler)}, time.Now())
			if err != nil || len(done.Missing) > 0 {
				t.Fatalf("compacting %s: %v, %+v", address, err, done)
			}
			t.Logf("compacted in %v: %+v", time.Since(began), *done)
		}
	}
	half := len(list) / 2
	add(list[:half])
	compact(1)
	add(list[half:]) // these are fresh still
	check := func(t *testing.T, engine string, got map[string][4]float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("%s: %d services, want %d", engine, len(got), len(want))
		}
		for service, w := range want {
			g := got[service]
			if int64(g[0]) != w.executions || int64(g[1]) != w.wallNs {
				t.Errorf("%s, %s: %v executions of %v ns, want %d of %d", engine, service, g[0], g[1], w.executions, w.wallNs)
			}
			for k, p := range []float64{0.5, 0.99} {
				if exact := w.quantile(p); math.Abs(g[2+k]-exact) > histogram.RelativeError*exact {
					t.Errorf("%s, %s: quantile %v is %v, want %v within %.2g %%", engine, service, p, g[2+k], exact, 100*histogram.RelativeError)
				}
			}
		}
	}
	ask := func(t *testing.T, spark bool) {
		t.Run("shadow", func(t *testing.T) {
			for _, address := range []string{remote, folder} {
				began := time.Now()
				var rows []struct {
					Service    string
					Executions int64
					WallNs     int64 `json:"wall_ns"`
					P50        int64 `json:"wall_p50_ns"`
					P99        int64 `json:"wall_p99_ns"`
				}
				if err := json.Unmarshal([]byte(shadow(t, "fleet", "top", address, "--by", "service", "--last", "40d", "--format", "json")), &rows); err != nil {
					t.Fatal(err)
				}
				got := map[string][4]float64{}
				for _, r := range rows {
					got[r.Service] = [4]float64{float64(r.Executions), float64(r.WallNs), float64(r.P50), float64(r.P99)}
				}
				check(t, "shadow", got)
				t.Logf("answered in %v", time.Since(began))
			}
		})
		for _, e := range []struct{ name, dialect, address string }{{"duckdb", "duckdb", remote}, {"chdb", "clickhouse", remote}, {"spark", "spark", folder}} {
			if e.name == "spark" && !spark { // it takes minutes over many small files
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				views := filepath.Join(t.TempDir(), "views.sql")
				shadow(t, "fleet", "views", e.address, "--engine", e.dialect, "-o", views)
				env := []string{"PYTHONPATH=" + engineLibrary(t, e.name)}
				if e.address == remote {
					env = append(env, "ENDPOINT="+server.URL)
				}
				began := time.Now()
				out := lines(t, output(t, "env", append(env, "python3", filepath.Join("testdata", "fleet.py"), e.name, views,
					"SELECT service_name, sum(CASE WHEN metric = 'executions' THEN count ELSE 0 END), sum(CASE WHEN metric = 'wall_ns' THEN sum ELSE 0 END) FROM rollups GROUP BY service_name",
					"SELECT service_name, sum(CASE WHEN metric = 'executions' THEN count ELSE 0 END), sum(CASE WHEN metric = 'wall_ns' THEN sum ELSE 0 END) FROM rollups_by_day GROUP BY service_name",
					"SELECT service_name, bucket_value, sum(bucket_count) FROM rollup_buckets WHERE metric = 'wall_ns' GROUP BY service_name, bucket_value ORDER BY service_name, bucket_value")...))
				t.Logf("three queries in %v", time.Since(began))
				got := map[string][4]float64{}
				buckets := map[string][][2]float64{}
				for _, r := range out[2] {
					s := r[0].(string)
					buckets[s] = append(buckets[s], [2]float64{r[1].(float64), r[2].(float64)})
				}
				for k, name := range []string{"rollups", "rollups_by_day"} {
					for _, r := range out[k] {
						s := r[0].(string)
						got[s] = [4]float64{r[1].(float64), r[2].(float64), quantileOf(buckets[s], 0.5), quantileOf(buckets[s], 0.99)}
					}
					check(t, e.name+", "+name, got)
				}
			})
		}
	}
	t.Run("half compacted", func(t *testing.T) { ask(t, false) })
	compact(1)
	t.Run("compacted", func(t *testing.T) { ask(t, true) })
}

// TestFleetQueries runs the queries of the documentation in DuckDB, over a store with sessions and over one that has been
// compacted, and expects rows.
func TestFleetQueries(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "fleet.md"))
	if err != nil {
		t.Fatal(err)
	}
	folder, from := filepath.Join(t.TempDir(), "fleet"), time.Now().UTC().AddDate(0, 0, -2)
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	of := fleettest.Fleet{Sessions: 4, Services: 1, Days: 1, Instances: 2, Executions: 300, From: from, Seed: 22}
	list, err := of.Generate(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		shadow(t, "fleet", "add", "--raw", folder, x.Dir)
	}
	var queries []string
	known := strings.NewReplacer("'orders'", "'"+fleettest.Service(0)+"'", "2026-03-01", from.Format(time.DateOnly), "1e9", "0")
	for _, block := range regexp.MustCompile("(?s)```sql\n(.*?);\n```").FindAllStringSubmatch(string(page), -1) {
		queries = append(queries, known.Replace(block[1]))
	}
	if len(queries) < 2 {
		t.Fatalf("%d queries in docs/fleet.md", len(queries))
	}
	for _, compacted := range []bool{false, true} {
		if compacted {
			shadow(t, "fleet", "compact", folder)
		}
		views := filepath.Join(t.TempDir(), "views.sql")
		shadow(t, "fleet", "views", folder, "--engine", "duckdb", "-o", views)
		out := output(t, "env", append([]string{"PYTHONPATH=" + engineLibrary(t, "duckdb"), "python3", filepath.Join("testdata", "fleet.py"), "duckdb", views}, queries...)...)
		for k, rows := range lines(t, out) {
			if len(rows) == 0 {
				t.Errorf("compacted %v: no rows from\n%s", compacted, queries[k])
			}
		}
	}
}

// quantileOf is that of a histogram.
func quantileOf(buckets [][2]float64, p float64) float64 {
	total := 0.0
	for _, b := range buckets {
		total += b[1]
	}
	rank := math.Max(1, math.Ceil(p*total))
	for _, b := range buckets {
		if rank -= b[1]; rank <= 0 {
			return b[0]
		}
	}
	return math.NaN()
}

// engineLibrary fetches an engine from PyPI.
func engineLibrary(t *testing.T, engine string) string {
	t.Helper()
	packages := map[string][]string{
		"duckdb": {"duckdb==1.5.5", "duckdb-extension-httpfs==1.5.5"},
		"chdb":   {"chdb==4.4.0"},
		"spark":  {"pyspark==4.3.0"},
	}[engine]
	lib := cache(t, "engine-"+strings.ReplaceAll(packages[0], "==", "-"))
	done := filepath.Join(lib, ".done")
	if _, err := os.Stat(done); err != nil {
		t.Logf("fetching %v from PyPI into %s", packages, lib)
		output(t, "python3", append([]string{"-m", "pip", "install", "--quiet", "--upgrade", "--target", lib}, packages...)...)
		if err := os.WriteFile(done, fmt.Appendln(nil, packages), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return lib
}
