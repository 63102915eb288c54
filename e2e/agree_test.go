package e2e_test

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// cellOf is a cell of a row of `shadow tasks --format csv`; false: it is empty.
func cellOf(t *testing.T, row map[string]string, column string) (int64, bool) {
	if row[column] == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(row[column], 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", column, err)
	}
	return n, true
}

// figures are those of a distribution that follow from the rows.
type figures struct {
	Count, Sum, Min, Max                  int64
	Mean, StdDev                          float64
	P1, P5, P25, P50, P75, P95, P99, P999 int64
	RelativeError                         float64 `json:"relative_error"`
}

// figuresOf computes them from the definitions: quantiles by nearest rank, the sample standard deviation.
func figuresOf(values []int64) (f figures) {
	n := len(values)
	if n == 0 {
		return f
	}
	slices.Sort(values)
	at := func(permille int) int64 { return values[max((permille*n+999)/1000-1, 0)] }
	f = figures{Count: int64(n), Min: values[0], Max: values[n-1], P1: at(10), P5: at(50), P25: at(250), P50: at(500), P75: at(750), P95: at(950), P99: at(990), P999: at(999)}
	for _, v := range values {
		f.Sum += v
	}
	f.Mean = float64(f.Sum) / float64(n)
	for _, v := range values {
		f.StdDev += (float64(v) - f.Mean) * (float64(v) - f.Mean)
	}
	f.StdDev = math.Sqrt(f.StdDev / float64(max(n-1, 1)))
	return f
}

// near reports whether only rounding separates the two.
func (f figures) near(o figures) bool {
	close := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(1, math.Abs(b)) }
	if !close(f.Mean, o.Mean) || !close(f.StdDev, o.StdDev) {
		return false
	}
	f.Mean, f.StdDev = o.Mean, o.StdDev
	return f == o
}

// listed is the part of stats and of hotspots that follows from the rows.
type listed struct {
	Class         string
	Executions    int64
	NeverExecuted int64 `json:"never_executed"`
	Threw         int64
	Metrics       map[string]figures
}

// checkAgreement recomputes from the rows of tasks, all of which were recorded one by one, what stats and hotspots
// show: counts, sums and quantiles. Each listing has all executions and all self work.
func checkAgreement(t *testing.T, p testjvm.Profile, tasks []map[string]string) {
	t.Helper()
	for _, of := range [][]string{nil, {"--units"}} {
		rows := tasks
		if of != nil {
			rows = p.CSV(t, append([]string{"tasks", p.Dir}, of...)...)
		}
		var stats struct {
			Tasks   listed
			Metrics map[string]figures
		}
		ask(t, p, &stats, append([]string{"stats", p.Dir, "--format", "json"}, of...)...)
		stats.Tasks.Metrics = stats.Metrics
		compareListed(t, "stats", rows, stats.Tasks)
		for _, by := range []string{"class", "site", "executor", "thread"} {
			var parts []listed
			ask(t, p, &parts, append([]string{"hotspots", p.Dir, "--by", by, "--format", "json"}, of...)...)
			sameSums(t, strings.Join(append(of, "by "+by), " "), parts, stats.Tasks)
			if by == "class" {
				compareClasses(t, rows, parts, of == nil)
			}
		}
		if of == nil {
			checkAdditive(t, p, rows)
		}
	}
}

func ask(t *testing.T, p testjvm.Profile, into any, args ...string) {
	t.Helper()
	if err := json.Unmarshal(p.Shadow(t, args...), into); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
}

// compareListed holds one line of a listing against its rows.
func compareListed(t *testing.T, what string, rows []map[string]string, got listed) {
	t.Helper()
	want := listed{Class: got.Class, Metrics: map[string]figures{}}
	values := map[string][]int64{}
	for _, r := range rows {
		if r["start_ns"] == "" {
			want.NeverExecuted++
			continue
		}
		want.Executions++
		if r["threw"] == "true" {
			want.Threw++
		}
		for metric := range got.Metrics {
			if v, ok := cellOf(t, r, metric); ok {
				values[metric] = append(values[metric], v)
			}
		}
	}
	never := got.NeverExecuted == want.NeverExecuted || len(rows) > 0 && rows[0]["root_task_id"] != "" // units have no rows of these
	if got.Executions != want.Executions || !never || got.Threw != want.Threw {
		t.Errorf("%s %s: %d executions, %d never, %d threw; the rows have %d, %d, %d", what, got.Class,
			got.Executions, got.NeverExecuted, got.Threw, want.Executions, want.NeverExecuted, want.Threw)
	}
	for metric, f := range got.Metrics {
		if _, ok := rows[0][metric]; !ok {
			continue // an extra metric of units
		}
		if w := figuresOf(values[metric]); !f.near(w) {
			t.Errorf("%s %s, %s: %+v\nthe rows have %+v", what, got.Class, metric, f, w)
		}
	}
}

// sameSums checks that the lines of a listing add up to the whole.
func sameSums(t *testing.T, what string, parts []listed, whole listed) {
	t.Helper()
	var executions, self, never int64
	for _, x := range parts {
		executions += x.Executions
		never += x.NeverExecuted
		self += x.Metrics["self_cpu_ns"].Sum
	}
	if executions != whole.Executions || self != whole.Metrics["self_cpu_ns"].Sum || what == "by class" && never != whole.NeverExecuted {
		t.Errorf("%s: %d executions, %d never, self work %d; in all %d, %d, %d", what, executions, never, self,
			whole.Executions, whole.NeverExecuted, whole.Metrics["self_cpu_ns"].Sum)
	}
}

// compareClasses holds each line of hotspots by class against the rows of the class: both listings call a unit the same.
func compareClasses(t *testing.T, rows []map[string]string, classes []listed, never bool) {
	t.Helper()
	byClass := map[string][]map[string]string{}
	for _, r := range rows {
		byClass[r["class"]] = append(byClass[r["class"]], r)
	}
	for _, c := range classes {
		if of := byClass[c.Class]; len(of) > 0 {
			compareListed(t, "hotspots", of, c)
		} else if c.Executions > 0 || c.NeverExecuted > 0 && never {
			t.Errorf("hotspots has %d executions of %s, tasks has none", c.Executions, c.Class)
		}
	}
}

// checkAdditive: on each thread the self work of all executions is the work of the outermost ones. Carriers are left out:
// what virtual threads do inside their executions is listed under those threads.
func checkAdditive(t *testing.T, p testjvm.Profile, rows []map[string]string) {
	t.Helper()
	carriers := carriersOf(t, p)
	type sums struct{ self, outermost int64 }
	byThread, partly := map[string]*sums{}, map[string]bool{}
	for _, r := range rows {
		s := cmp.Or(byThread[r["thread"]], new(sums))
		byThread[r["thread"]] = s
		running := r["start_ns"] != "" && r["end_ns"] == ""
		partly[r["thread"]] = partly[r["thread"]] || running || carriers[r["thread"]]
		self, _ := cellOf(t, r, "self_cpu_ns")
		s.self += self
		if cpu, _ := cellOf(t, r, "cpu_ns"); r["outer_task_id"] == "" {
			s.outermost += cpu
		}
	}
	for thread, s := range byThread {
		if !partly[thread] && s.self != s.outermost {
			t.Errorf("thread %s: the executions' self CPU times are %d, those of the outermost executions %d", thread, s.self, s.outermost)
		}
	}
}

// carriersOf are the threads that virtual threads ran on, as far as they are recorded one by one.
func carriersOf(t *testing.T, p testjvm.Profile) map[string]bool {
	t.Helper()
	var threads []struct {
		Scheduling struct {
			First string `json:"first_carrier"`
			Last  string `json:"last_carrier"`
		} `json:"scheduling"`
	}
	ask(t, p, &threads, "threads", p.Dir, "--format", "json")
	carriers := map[string]bool{}
	for _, v := range threads {
		carriers[v.Scheduling.First], carriers[v.Scheduling.Last] = true, true
	}
	return carriers
}
