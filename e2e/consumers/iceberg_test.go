//go:build consumers

package consumers

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
	"stackagent/shadow/fleet/fleettest"
	"stackagent/shadow/objects"
	"stackagent/shadow/rollup"
)

// TestFleetIceberg: PyIceberg and DuckDB read the roll-ups of a bucket and of a folder as Iceberg tables, half compacted and
// compacted, Spark those of the folder, and have the sums of shadow fleet top.
func TestFleetIceberg(t *testing.T) {
	testjvm.Alone(t, "the address of the object store is in the environment")
	server := testobjects.Start(t)
	remote, folder := server.Address("traces", ""), filepath.Join(t.TempDir(), "fleet of all")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	of := fleettest.Fleet{Sessions: 60, Services: 5, Days: 6, Instances: 3, Executions: 500, From: time.Now().UTC().AddDate(0, 0, -8).Truncate(24 * time.Hour), Seed: 22}
	list, err := of.Generate(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{remote, folder} {
		to, err := objects.Open(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		add := func(list []fleettest.Session) {
			for _, x := range list {
				if err := rollup.RollUp(context.Background(), to, x.Dir, x.Name, true); err != nil {
					t.Fatal(err)
				}
			}
		}
		compact := func() {
			if _, err := rollup.Compact(context.Background(), to, rollup.CompactOptions{Enough: 1, Logger: slog.New(slog.DiscardHandler)}, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		add(list[:40])
		compact()
		add(list[40:])
		icebergSums(t, address, server.URL, "pyiceberg", "duckdb-iceberg")
		compact()
		icebergSums(t, address, server.URL, "pyiceberg", "duckdb-iceberg")
		if address == folder {
			icebergSums(t, address, "", "spark-iceberg")
		}
	}
}

func icebergSums(t *testing.T, address, endpoint string, engines ...string) {
	t.Helper()
	type sums struct {
		Executions int64 `json:"executions"`
		WallNs     int64 `json:"wall_ns"`
		Buckets    int64 `json:"buckets"` // values in histograms
	}
	var rows []struct {
		Service string
		sums
	}
	if err := json.Unmarshal([]byte(shadow(t, "fleet", "top", address, "--by", "service", "--last", "40d", "--format", "json")), &rows); err != nil {
		t.Fatal(err)
	}
	want := map[string]sums{}
	for _, r := range rows {
		r.Buckets = r.Executions // each has a wall time
		want[r.Service] = r.sums
	}
	if len(want) != 5 {
		t.Fatalf("%d services", len(want))
	}
	for _, table := range strings.Split(strings.TrimSpace(shadow(t, "fleet", "iceberg", address)), "\n") {
		for _, engine := range engines {
			env := []string{"PYTHONPATH=" + engineLibrary(t, engine)}
			if engine == "spark-iceberg" {
				env = append(env, "JAR="+fetched(t, cache(t, "java"), "org.apache.iceberg", "iceberg-spark-runtime-4.1_2.13", "1.12.0"))
			}
			if objects.Remote(address) {
				env = append(env, "ENDPOINT="+endpoint)
			}
			var got map[string]sums
			out := output(t, "env", append(env, "python3", filepath.Join("testdata", "iceberg.py"), strings.TrimSuffix(engine, "-iceberg"), table)...)
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", engine, table, got, want)
			}
		}
	}
}
