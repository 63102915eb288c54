package diff

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/listing"
)

func TestMatch(t *testing.T) {
	const lambda = "com.acme.Main$$Lambda -> com.acme.Main.lambda$run$"
	for name, c := range map[string]struct {
		a, b []string
		want []pair // of guesses only whether there is one
	}{
		"equal":           {[]string{"A", "B"}, []string{"B", "A"}, []pair{{"A", "A", ""}, {"B", "B", ""}}},
		"new and gone":    {[]string{"a.Old"}, []string{"a.New"}, []pair{{"a.Old", "", ""}, {"", "a.New", ""}}},
		"lines moved":     {[]string{"a.Main.run:18"}, []string{"a.Main.run:21"}, []pair{{"a.Main.run:18", "a.Main.run:21", ""}}},
		"place moved":     {[]string{"tax (ThreadPoolExecutor, Orders.java:12)"}, []string{"tax (ThreadPoolExecutor, Orders.java:9)"}, []pair{{"tax (ThreadPoolExecutor, Orders.java:12)", "tax (ThreadPoolExecutor, Orders.java:9)", ""}}},
		"in their order":  {[]string{"a.M.run:9", "a.M.run:10"}, []string{"a.M.run:19", "a.M.run:20"}, []pair{{"a.M.run:9", "a.M.run:19", ""}, {"a.M.run:10", "a.M.run:20", ""}}},
		"lambda renamed":  {[]string{lambda + "3"}, []string{lambda + "4"}, []pair{{lambda + "3", lambda + "4", "guess"}}},
		"lambda of Scala": {[]string{"k.R.$anonfun$add$1 (R.scala:8)"}, []string{"k.R.$anonfun$add$2 (R.scala:9)"}, []pair{{"k.R.$anonfun$add$1 (R.scala:8)", "k.R.$anonfun$add$2 (R.scala:9)", "guess"}}},
		// One lambda more: which of B is which of A, nobody knows.
		"lambda added":      {[]string{lambda + "0"}, []string{lambda + "0", lambda + "1"}, []pair{{lambda + "0", lambda + "0", "guess"}, {"", lambda + "1", ""}}},
		"anonymous renamed": {[]string{"a.Main$1"}, []string{"a.Main$2"}, []pair{{"a.Main$1", "a.Main$2", "guess"}}},
		"moved":             {[]string{"com.acme.Job"}, []string{"com.acme.jobs.Job"}, []pair{{"com.acme.Job", "com.acme.jobs.Job", "guess"}}},
		"other lambdas":     {[]string{"a.M.lambda$run$0"}, []string{"a.M.lambda$stop$0"}, []pair{{"a.M.lambda$run$0", "", ""}, {"", "a.M.lambda$stop$0", ""}}},
		"two against one":   {[]string{"a.Job", "b.Job"}, []string{"c.Job"}, []pair{{"a.Job", "", ""}, {"b.Job", "", ""}, {"", "c.Job", ""}}},
		"ports are no line": {[]string{"conn 10.0.0.1:80"}, []string{"conn 10.0.0.1:81"}, []pair{{"conn 10.0.0.1:80", "", ""}, {"", "conn 10.0.0.1:81", ""}}},
	} {
		got := match(c.a, c.b)
		for i := range got {
			if got[i].guess != "" {
				got[i].guess = "guess"
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Each name of each side is in one pair, whatever the names are.
func FuzzMatch(f *testing.F) {
	f.Add("a.Main$1\na.Main.run:3", "a.Main$2\na.Main.run:4\nb.X")
	f.Add("lambda$a$0\nlambda$a$1", "lambda$a$1\nlambda$a$99999999999999999999")
	f.Fuzz(func(t *testing.T, a, b string) {
		left, right := distinct(a), distinct(b)
		var x, y []string
		for _, p := range match(left, right) {
			if p.a != "" {
				x = append(x, p.a)
			}
			if p.b != "" {
				y = append(y, p.b)
			}
		}
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, left) || !slices.Equal(y, right) {
			t.Fatalf("%q and %q became %q and %q", left, right, x, y)
		}
	})
}

func distinct(lines string) []string {
	list := slices.DeleteFunc(strings.Split(lines, "\n"), func(s string) bool { return s == "" })
	slices.Sort(list)
	return slices.Compact(list)
}

// one is a run with classes of which each has so much work in 10 executions.
func one(work map[string]float64) *Run {
	r := &Run{Session: "s", Rows: map[Key]map[string]float64{{Whole, ""}: {"duration_ns": 1e9}}}
	for name, w := range work {
		r.Rows[Key{Class, name}] = map[string]float64{"work_ns": w, "executions": 10}
	}
	return r
}

func row(t *testing.T, d *Diff, name string) *Row {
	t.Helper()
	for _, r := range d.Rows {
		if r.By == Class && r.Name == name {
			return r
		}
	}
	t.Fatalf("no row %q", name)
	return nil
}

// One run each: figures and changes, but neither an interval nor a verdict, however large the change is.
func TestOneRunEach(t *testing.T) {
	d := compared(t, []*Run{one(map[string]float64{"a.A": 1e6, "a.Old": 1e6})}, []*Run{one(map[string]float64{"a.A": 9e6, "b.New": 1e6})})
	r := row(t, d, "a.A")
	if f := r.Figures[0]; f.Verdict != NoInterval || f.Change.Mean != 8 || f.Change.Known() || f.P != nil || f.Holm != nil || f.Effect != nil {
		t.Errorf("%+v", f)
	}
	if d.Note != "one run each: no interval" || d.Judged+d.Different != 0 || d.New != 1 || d.Gone != 1 {
		t.Errorf("%+v", d)
	}
	if row(t, d, "b.New").Figures[0].Verdict != New || row(t, d, "a.Old").Figures[0].Verdict != Gone {
		t.Errorf("new and gone: %+v", d.Rows)
	}
	table := new(bytes.Buffer)
	if err := listing.All(listing.CSV(table, Columns(false)), Lines(d.Rows, false)); err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"different", "slower", "faster"} {
		if strings.Contains(table.String()+d.Text(), word) {
			t.Errorf("%q is a verdict on one run: %s %s", word, d.Text(), table)
		}
	}
}

func several(t *testing.T, works ...map[string]float64) (out []*Run) {
	t.Helper()
	for _, w := range works {
		out = append(out, one(w))
	}
	return out
}

// A class that some runs lack has no work in them. Below 0.5 % of the work nothing is judged.
func TestRepeats(t *testing.T) {
	a := several(t, map[string]float64{"a.A": 100e6, "a.Rare": 1e6, "a.Tiny": 1e3}, map[string]float64{"a.A": 101e6, "a.Tiny": 1e3}, map[string]float64{"a.A": 99e6, "a.Tiny": 1e3})
	b := several(t, map[string]float64{"a.A": 200e6, "a.Tiny": 9e3}, map[string]float64{"a.A": 201e6, "a.Tiny": 9e3}, map[string]float64{"a.A": 199e6, "a.Tiny": 9e3})
	for _, runs := range [][]*Run{a, b} {
		for _, r := range runs {
			r.Rows[Key{Class, "a.Tiny"}]["executions"] = 0.01 // no share of these either
		}
	}
	d := compared(t, a, b)
	f := row(t, d, "a.A").Figures[0]
	if f.Verdict != Different || f.Change.Mean != 1 || !f.Change.Known() || f.Effect.HedgesG < 10 || *f.Holm < *f.P {
		t.Errorf("twice the work: %+v", f)
	}
	if f := row(t, d, "a.A").Figures[1]; f.Verdict != NoDifference || *f.Holm != 1 {
		t.Errorf("as many executions: %+v", f)
	}
	if f := row(t, d, "a.Tiny").Figures[0]; f.Verdict != Small || f.Holm != nil {
		t.Errorf("0.001 %% of the work: %+v", f)
	}
	if r := row(t, d, "a.Rare"); r.RunsA != 1 || r.Figures[0].Verdict != Sometimes || r.Figures[0].A.N != 3 || r.Figures[0].A.Mean != 1e6/3 {
		t.Errorf("in one run of three: %+v", r)
	}
	if d.Gone != 0 || d.Judged != 3 || !strings.HasPrefix(d.Text(), "1 of 3 figures differ at 95 %, corrected for all 3 (Holm). 3 runs against 3: only large differences show.") {
		t.Errorf("%s: %+v", d.Text(), d)
	}
	if mixed := compared(t, a[:1], b); mixed.Note != "one run on one side: no interval" || mixed.Judged != 0 {
		t.Errorf("%+v", mixed)
	}
}

func TestNotComparable(t *testing.T) {
	if _, err := Compare(nil, []*Run{one(nil)}, nil); !errors.Is(err, ErrNoRuns) {
		t.Errorf("no runs: %v", err)
	}
	a, b := one(nil), one(nil)
	b.Program, b.JVM, b.CPUs = "Other", "21", 8
	b.NotAvailable = map[By]string{Wait: "recorded with wait=off"}
	d := compared(t, []*Run{a}, []*Run{b})
	if len(d.Cautions) != 4 || d.Missing["wait"] != "recorded with wait=off" {
		t.Errorf("%q %q", d.Cautions, d.Missing)
	}
}

// The JSON has null for what is not known, and every list is one.
func TestJSON(t *testing.T) {
	d := compared(t, []*Run{one(map[string]float64{"a.A": 0})}, []*Run{one(map[string]float64{"a.A": 5})})
	data, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"note":"one run each: no interval"`, `"correction":"holm"`, `"not_available":{}`,
		`{"figure":"work_ns","unit":"ns","a":{"mean":0,"low":null,"high":null,"n":1},"b":{"mean":5,"low":null,"high":null,"n":1},"change":{"mean":null,"low":null,"high":null,"n":1},"effect":null,"p":null,"p_corrected":null,"verdict":"no_interval"}`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("%s lacks %s", data, want)
		}
	}
}

func TestMarkdownOfHostileNames(t *testing.T) {
	const evil = "x|<script>`a`\x1b[2J\n[l](http://e) $$m$$ *b*"
	d := compared(t, []*Run{one(map[string]float64{evil: 1e6})}, []*Run{one(map[string]float64{evil: 2e6})})
	var out bytes.Buffer
	if err := d.Markdown(&out, d.Rows); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "`", "\x1b", "](", "://", "$$", "*b", "x|"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%q is in %s", bad, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "|") && strings.Count(line, "|") != 9 {
			t.Errorf("not 8 cells: %s", line)
		}
	}
}

// A cut listing keeps what is different.
func TestTop(t *testing.T) {
	d := &Diff{}
	for i := range 30 {
		r := &Row{By: Class, Name: fmt.Sprint(i), In: "both", Figures: []Figure{{Verdict: NoDifference}}}
		if i == 29 {
			r.Figures[0].Verdict = Different
		}
		d.Rows = append(d.Rows, r)
	}
	if rows := d.Top(5); len(rows) != 5 || rows[0].Name != "29" || rows[1].Name != "0" {
		t.Errorf("%+v", rows)
	}
	if len(d.Top(0)) != 30 {
		t.Error("0 is all")
	}
}
