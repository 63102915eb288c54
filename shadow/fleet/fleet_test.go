package fleet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/histogram"
	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/analysis/diff"
	"stackagent/shadow/fleet/rollup"
)

// rowOf is a row of roll-ups of values.
func rowOf(r rollup.Row, values ...int64) rollup.Row {
	slices.Sort(values)
	for _, v := range values {
		r.Count++
		r.Sum += v
		if i := int32(histogram.Index(uint64(v))); len(r.Index) > 0 && r.Index[len(r.Index)-1] == i {
			r.Buckets[len(r.Buckets)-1]++
		} else {
			r.Index, r.Buckets = append(r.Index, i), append(r.Buckets, 1)
		}
	}
	r.Min, r.Max = values[0], values[len(values)-1]
	return r
}

func count(r rollup.Row, n int64) rollup.Row { r.Metric, r.Count = rollup.Executions, n; return r }

// Sums of parts are those of the whole, and quantiles are within the width of a bucket, however the values are cut.
func TestSum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var all []int64
	var s rollup.Cell
	total := int64(0)
	for range 200 {
		part := make([]int64, 1+random.IntN(50))
		for i := range part {
			part[i] = int64(math.Exp(random.Float64() * 20))
			total += part[i]
		}
		all = append(all, part...)
		r := rowOf(rollup.Row{}, part...)
		s.Add(&r.Cell)
		clear(r.Index) // a reader uses its rows again
		clear(r.Buckets)
	}
	slices.Sort(all)
	if s.Count != int64(len(all)) || s.Sum != total || s.Min != all[0] || s.Max != all[len(all)-1] {
		t.Fatalf("%d values of %d in %d..%d", s.Count, s.Sum, s.Min, s.Max)
	}
	for _, p := range []float64{0.01, 0.25, 0.5, 0.95, 0.99, 0.999, 1} {
		want := float64(all[int(math.Ceil(p*float64(len(all))))-1])
		if got := s.Quantile(p); math.Abs(got-want) > histogram.RelativeError*want {
			t.Errorf("quantile %v is %v, want %v", p, got, want)
		}
	}
}

// A histogram that does not hold all values gives no quantile.
func TestQuantileUnknown(t *testing.T) {
	var s rollup.Cell
	whole, none := rowOf(rollup.Row{}, 1, 2, 3), rollup.Row{Cell: rollup.Cell{Count: 2, Sum: 10, Min: 4, Max: 6}}
	s.Add(&whole.Cell)
	s.Add(&none.Cell)
	if s.Count != 5 || !math.IsNaN(s.Quantile(0.5)) {
		t.Errorf("the median of 5 values, of which 3 are in buckets, is %v", s.Quantile(0.5))
	}
}

func TestGroups(t *testing.T) {
	a := rollup.Row{Service: "orders", Instance: "i1", Class: "com.acme.A", Executor: "pool", Metric: Wall}
	b := a
	b.Instance, b.WindowUnixNs = "i2", int64(24*time.Hour)
	jdk := rollup.Row{Service: "orders", Class: "java.util.concurrent.FutureTask", Platform: true, Metric: Wall}
	wait := rollup.Row{Service: "orders", Class: "com.acme.Lock", Metric: "wait_ns:monitor"}
	rows := []rollup.Row{rowOf(a, 10, 20), rowOf(b, 30), rowOf(jdk, 5), rowOf(wait, 7), count(a, 2), count(b, 1), count(jdk, 1)}
	for _, c := range []struct {
		by     By
		app    bool
		want   string
		sumsTo int64
	}{
		{Class, false, "com.acme.A=3 java.util.concurrent.FutureTask=1", 65},
		{Class, true, "com.acme.A=3", 60},
		{Executor, true, "pool=3", 60},
		{Instance, true, "i1=2 i2=1 =0", 60},
		{Service, false, "=4", 65},
		{Day, false, "1970-01-01=3 1970-01-02=1", 65},
		{Wait, false, "monitor com.acme.Lock=0", 0},
	} {
		g := NewGroups(c.by, Select{App: c.app})
		if err := g.Add(rows); err != nil {
			t.Fatal(err)
		}
		got, sum := "", int64(0)
		for i, r := range g.Rows("count") {
			if i > 0 {
				got += " "
			}
			got += fmt.Sprintf("%s=%d", r.Name, r.Executions())
			sum += r.Metric(Wall).Sum
		}
		if got != c.want || sum != c.sumsTo {
			t.Errorf("by %s: %s, sum %d; want %s, %d", c.by, got, sum, c.want, c.sumsTo)
		}
	}
}

// A bound on rows keeps the sums.
func TestManyRows(t *testing.T) {
	g := NewGroups(Class, Select{})
	for i := range mostRows + 10 {
		if err := g.Add([]rollup.Row{count(rollup.Row{Class: fmt.Sprint(i)}, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	total := int64(0)
	for _, r := range g.Rows("count") {
		total += r.Executions()
	}
	if n := len(g.Rows("count")); n != mostRows+1 || total != mostRows+10 {
		t.Errorf("%d rows of %d executions", n, total)
	}
}

// instances makes rows of instances whose executions take a time with some spread.
func instances(random *rand.Rand, version string, n int, mean float64) (rows []rollup.Row) {
	for i := range n {
		own := mean * (1 + 0.05*random.NormFloat64())
		for k := range 5 {
			r := rollup.Row{WindowUnixNs: int64(k) * int64(rollup.Window), Service: "orders", Version: version, Instance: fmt.Sprintf("%s-%d", version, i), Class: "com.acme.Job"}
			values := make([]int64, 100)
			for j := range values {
				values[j] = int64(own * (0.5 + random.Float64()))
			}
			rows = append(rows, count(r, 100))
			for _, m := range []string{Wall, SelfWall, SelfCPU} {
				r.Metric = m
				rows = append(rows, rowOf(r, slices.Clone(values)...))
			}
		}
	}
	return rows
}

// A version that takes twice as long is found; of equal ones nothing is called different more often than it may be.
func TestVersions(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	compare := func(factor float64) *diff.Diff {
		v := NewVersions(Select{})
		for _, rows := range [][]rollup.Row{instances(random, "1", 8, 1e6), instances(random, "2", 8, factor*1e6)} {
			if err := v.Add(rows); err != nil {
				t.Fatal(err)
			}
		}
		d, err := v.Compare("1", "2")
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	d := compare(2)
	found := map[string]float64{}
	for _, r := range d.Rows {
		for _, f := range r.Figures {
			if f.Verdict == diff.Different {
				found[f.Name] = f.Change.Mean
			}
		}
	}
	if len(found) != 2 || math.Abs(found["work_ns"]-1) > 0.2 || math.Abs(found["wall_ns"]-1) > 0.2 {
		t.Errorf("a doubling was planted, found: %v", found)
	}
	alarms := 0
	for range 200 {
		if compare(1).Different > 0 {
			alarms++
		}
	}
	if alarms > 20 { // 10 on average by the bound of 5 %; 20 or more with p 0.003
		t.Errorf("%d of 200 pairs of equal versions are called different", alarms)
	}
}

func TestOutliers(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	g := NewGroups(Instance, Select{})
	for _, rows := range [][]rollup.Row{instances(random, "1", 20, 1e6), instances(random, "slow", 1, 1e6)} {
		if err := g.Add(rows); err != nil {
			t.Fatal(err)
		}
	}
	if list := Outliers(g.Rows(ByName)); len(list) != 0 {
		t.Errorf("of equal instances: %v", list)
	}
	slow := instances(random, "1", 1, 3e6)
	for i := range slow {
		slow[i].Instance = "slow"
	}
	if err := g.Add(slow); err != nil {
		t.Fatal(err)
	}
	list := Outliers(g.Rows(ByName))
	if len(list) != 2 {
		t.Fatalf("one slow instance: %v", list)
	}
	for _, o := range list {
		if o.Instance != "slow" || o.Of != 21 || math.Abs(o.Ratio-3) > 0.5 {
			t.Errorf("%+v", o)
		}
	}
}

func TestTrends(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	of := func(daily float64) map[string]Trend {
		g := NewGroups(Day, Select{})
		for day := range 30 {
			rows := instances(random, "1", 1, 1e6*(1+daily*float64(day)))
			for i := range rows {
				rows[i].WindowUnixNs += int64(day) * int64(24*time.Hour)
			}
			if err := g.Add(rows); err != nil {
				t.Fatal(err)
			}
		}
		out := map[string]Trend{}
		for _, x := range Trends(g.Rows(ByName), time.Unix(0, 0).AddDate(1, 0, 0)) {
			out[x.Figure] = x
		}
		return out
	}
	if x := of(0.02)["work_ns"]; x.P > 1e-6 || math.Abs(x.Change-0.58) > 0.1 || len(x.Days) != 30 {
		t.Errorf("2 %% a day: %+v", x)
	}
	flat := 0
	for range 100 {
		if of(0)["work_ns"].P < 0.05 {
			flat++
		}
	}
	if flat > 13 { // 5 on average; 14 or more with p 0.0005
		t.Errorf("%d of 100 series without a trend have one", flat)
	}
}

// TestFindings groups what sessions have in common, whatever the figures in their sentences, and says of how many sessions that is.
func TestFindings(t *testing.T) {
	held := rollup.Row{Service: "orders", Version: "1", Class: "com.acme.Job", Metric: "advice:held", Site: "Job waits for a lock\nHold it for less.", Cell: rollup.Cell{Count: 1}}
	other, newer, elsewhere := held, held, held
	other.Site, newer.Version, elsewhere.Service = "Job waits for the lock of 7\nHold it for less.", "2", "billing"
	lost := rollup.Row{Service: "orders", Version: "1", Metric: "caution:lost", Site: "Events were lost\n", Cell: rollup.Cell{Count: 1}}
	judged := rollup.Row{Service: "orders", Version: "1", Metric: rollup.Judged, Cell: rollup.Cell{Count: 3}}
	judgedNewer := rollup.Row{Service: "orders", Version: "2", Metric: rollup.Judged, Cell: rollup.Cell{Count: 2}}
	rows := []rollup.Row{held, held, other, newer, elsewhere, lost, judged, judgedNewer, rowOf(rollup.Row{Service: "orders", Class: "com.acme.Job", Metric: Wall}, 7)}
	for _, c := range []struct {
		choose Select
		want   string
	}{
		{Select{}, "[orders lost Events were lost 1 of 5] [billing held Job waits for a lock 1 of 1] [orders held Job waits for a lock 4 of 5]"},
		{Select{Version: "1"}, "[orders lost Events were lost 1 of 3] [orders held Job waits for a lock 3 of 3] [billing held Job waits for a lock 1 of 1]"},
		{Select{Class: "com.acme.Job"}, "[billing held Job waits for a lock 1 of 1] [orders held Job waits for a lock 4 of 5]"},
	} {
		f := NewFindings(c.choose)
		if err := f.Add(rows); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range f.List() {
			got = append(got, fmt.Sprintf("[%s %s %s %d of %d]", x.Service, x.Rule, x.Title, x.Sessions, x.Of))
			if x.Rule == "held" && (x.Class != "com.acme.Job" || x.Remedy != "Hold it for less." || x.Kind != advice.Advice) {
				t.Errorf("%+v", x)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%+v: %s, want %s", c.choose, got, c.want)
		}
	}
	g := NewGroups(Class, Select{})
	if err := g.Add(rows); err != nil || len(g.Rows(ByName)) != 1 || len(g.Rows(ByName)[0].Metrics) != 1 {
		t.Errorf("findings are no figures of classes: %+v %v", g.Rows(ByName), err)
	}
}
