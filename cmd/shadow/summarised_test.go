package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"stackagent/internal/histogram"
	"stackagent/shadow/store"
)

// makeSummarised is makeSession and a batch in which com.acme.Job came too fast:
// 990 executions of 1 ms and 10 of 20 ms on the pool's thread, whose account
// reports what it lost.
func makeSummarised(t *testing.T, root string) string {
	t.Helper()
	return makeTimed(t, root, 0)
}

// makeTimed is makeSummarised with the number of summarised executions that were timed; 0: all.
func makeTimed(t *testing.T, root string, timed uint64) string {
	t.Helper()
	dir := makeSession(t, root)
	w, err := store.OpenWriter(root, "s1", "s1")
	if err != nil {
		t.Fatal(err)
	}
	const from, id = 1_040 * ms, 77
	produced, made, lost := int64(1_006), int64(1_000), int64(1)
	p := &store.Part{Range: store.Range{From: 2, To: 2}, Summaries: []store.Summary{
		{ID: id, Class: 1, Thread: 2, FromNs: from, ToNs: from + 20*ms, Executions: 1000, First: 1000, Creations: 1000, Timed: timed},
	}, Threads: []store.Thread{{ID: 2, JavaID: 31, OSID: 101, Name: "pool-1-thread-1", Group: "main", Class: "java.lang.Thread",
		Executions: &produced, Creations: &made, Lost: &lost}}}
	for _, metric := range []string{"wall", "self_wall", "cpu", "self_cpu"} {
		p.Measures = append(p.Measures, store.Measure{Summary: id, Metric: metric, Count: 1000, SumNs: 990*ms + 200*ms, MinNs: ms, MaxNs: 20 * ms})
		for value, n := range map[uint64]uint64{ms: 990, 20 * ms: 10} {
			low, high := histogram.Bounds(histogram.Index(value))
			p.Buckets = append(p.Buckets, store.Bucket{Summary: id, Metric: metric, LowestNs: int64(low), HighestNs: int64(high), Count: n})
		}
		if b := p.Buckets[len(p.Buckets)-2:]; b[0].LowestNs > b[1].LowestNs {
			b[0], b[1] = b[1], b[0]
		}
	}
	if err := w.Commit(p); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSummarisedIsMarked: tables mark what rests on buckets, and say so.
func TestSummarisedIsMarked(t *testing.T) {
	dir := makeSummarised(t, t.TempDir())
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"stats", dir}, []string{"summarised     99 % of the executions summarised", "~1.00 ms", "1,008 of 4 classes", "tasks created  1,007"}},
		{[]string{"hotspots", dir, "--app"}, []string{"1,005", "~1.00 ms", "shadow: ", " 0.8 % (~)\n"}},
		{[]string{"hotspots", dir, "--by", "thread"}, []string{"1,006", "~1.00 ms"}},
		{[]string{"tasks", dir, "--format", "csv"}, []string{"1,000 executions and 1,000 creations have no row", "of com.acme.Job;"}},
		{[]string{"threads", dir}, []string{"1,006     1\n"}},
		{[]string{"threads", dir, "--format", "csv"}, []string{",1006,1000,1006,1000,1,"}},
		{[]string{"stats", dir, "--format", "csv"}, []string{",1000,0.007812\n"}},
	} {
		code, out, errs := shadow(t, nil, c.args...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out+errs, want) {
				t.Errorf("%v: exit code %d, no %q in\n%s%s", c.args, code, want, out, errs)
			}
		}
	}
	if _, _, errs := shadow(t, nil, "hotspots", dir, "--app"); strings.Count(errs, "(~)") != 1 {
		t.Errorf("the mark of estimates is explained more or less than once: %s", errs)
	}
	if _, _, errs := shadow(t, nil, "tasks", dir, "--class", "*Worker"); strings.Contains(errs, "no row") {
		t.Errorf("a note about classes that were not asked for: %s", errs)
	}
}

// TestTimedAtRandomInProfile: a profile whose times rest on a random part of the executions says so.
func TestTimedAtRandomInProfile(t *testing.T) {
	for timed, want := range map[uint64]string{0: "not sampled", 100: "ESTIMATES"} {
		file := filepath.Join(t.TempDir(), "tasks.pb.gz")
		if code, _, errs := shadow(t, nil, "hotspots", makeTimed(t, t.TempDir(), timed), "--format", "pprof", "-o", file); code != 0 {
			t.Fatal(errs)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := profile.ParseData(b)
		if err != nil {
			t.Fatal(err)
		}
		if how := p.Comments[1]; !strings.Contains(how, want) {
			t.Errorf("%d timed: the profile says %q, want %q in it", timed, how, want)
		}
	}
}

// TestSummarisedJSON: the names that scripts rely on, and figures that are exact.
func TestSummarisedJSON(t *testing.T) {
	dir := makeSummarised(t, t.TempDir())
	_, out, errs := shadow(t, nil, "hotspots", dir, "--class", "com.acme.Job", "--format", "json")
	var rows []struct {
		Executions, Summarised int64
		NeverExecuted          int64 `json:"never_executed"`
		Metrics                map[string]struct {
			Count, Sum, Summarised, P50, Max int64
			RelativeError                    float64 `json:"relative_error"`
		}
	}
	if err := json.Unmarshal([]byte(out), &rows); err != nil || len(rows) != 1 {
		t.Fatalf("%v in %s%s", err, out, errs)
	}
	r, wall := rows[0], rows[0].Metrics["wall_ns"]
	if r.Executions != 1005 || r.Summarised != 1000 {
		t.Errorf("%d executions, %d summarised; want 1005 and 1000", r.Executions, r.Summarised)
	}
	if wall.Count != 1005 || wall.Sum != 1190*ms+31*ms || wall.Summarised != 1000 || wall.Max != 20*ms || wall.RelativeError != histogram.RelativeError {
		t.Errorf("wall time %+v", wall)
	}
	if off := float64(wall.P50-ms) / ms; off > histogram.RelativeError || off < -histogram.RelativeError {
		t.Errorf("median %d, want 1 ms to within 0.8 %%", wall.P50)
	}
}
