package budget

import (
	"bytes"
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

const stats = `{"duration_ns": 2000000000, "filter": {"class": "x"}, "tasks": {"executions": 12, "threw": 0},
  "metrics": {"cpu_ns": {"count": 12, "sum": 600, "p99": 90, "max": 100}, "queue_ns": {"count": 0, "sum": 0, "p99": 0, "not_measured": 12}},
  "gc": {"pauses": 3, "share": 0.25, "standstill": null, "standstill_not_available": "no scheduling record"}, "virtual_threads": null,
  "not_available": {"instructions": "no hardware\ncounters"}}`

func tree(t *testing.T) Tree {
	t.Helper()
	out, err := TreeOf(rawJSON(stats))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func TestLook(t *testing.T) {
	for name, c := range map[string]struct {
		want float64
		why  string
		err  string
	}{
		"cpu_ns.max":                    {want: 100},
		"metrics.cpu_ns.sum":            {want: 600},
		"duration_ns":                   {want: 2e9},
		"tasks.executions":              {want: 12},
		"executions":                    {want: 12},
		"gc.share":                      {want: 0.25},
		"cpu_ns.summarised":             {want: 0},
		"queue_ns.count":                {want: 0},
		"queue_ns.sum":                  {want: 0},
		"queue_ns.p99":                  {why: "the session has no value of queue_ns"},
		"self_alloc_bytes.max":          {why: "the session has no value of self_alloc_bytes"},
		"instructions.sum":              {why: "no hardware; counters"},
		"gc.standstill.total_ns":        {why: "no scheduling record"},
		"virtual_threads.mounts":        {why: "the session does not have it"},
		`class("a.*").alloc_bytes.max`:  {why: `class("a.*") matches nothing that has a value of alloc_bytes`},
		`executor("pool").queue_ns.p99`: {why: `executor("pool") matches nothing that has a value of queue_ns`},
		"cpu_ns.mx":                     {err: `no figure is called cpu_ns.mx (did you mean cpu_ns.max?)`},
		"cpu_ns":                        {err: "no figure is called cpu_ns"},
		"filter.class":                  {err: "no figure is called filter.class"},
		"tasks.executions.sum":          {err: "no figure is called"},
		"nothing.like.it":               {err: "names are those of shadow stats --format json"},
	} {
		n, err := ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		v, _, why, err := tree(t).look(n)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil || v != c.want || why != c.why {
			t.Errorf("%s: %v %q %v, want %+v", name, v, why, err, c)
		}
	}
}

func TestTreeOf(t *testing.T) {
	type session struct {
		Waits *struct {
			N int `json:"n"`
		} `json:"waits,omitempty"`
		Of string `json:"-"`
	}
	out, err := TreeOf(&session{})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, why, err := out.look(names(t, "waits.n")[0]); why != "the session does not have it" || err != nil {
		t.Errorf("%q %v", why, err)
	}
	if _, _, _, err := out.look(names(t, "Of")[0]); err == nil {
		t.Error("a field that is not in the JSON is a figure")
	}
	none := tree(t)
	none.Missing("no submissions")
	if _, _, why, err := none.look(names(t, "cpu_ns.max")[0]); why != "no submissions" || err != nil {
		t.Errorf("%q %v", why, err)
	}
}

// run is the tree of a run with this CPU time.
func run(t *testing.T, cpu string) map[Selector]Tree {
	t.Helper()
	out, err := TreeOf(rawJSON(strings.Replace(stats, `"sum": 600`, `"sum": `+cpu, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return map[Selector]Tree{{}: out}
}

func runs(t *testing.T, cpu ...string) (out []map[Selector]Tree) {
	t.Helper()
	for _, c := range cpu {
		out = append(out, run(t, c))
	}
	return out
}

func budgetOf(t *testing.T, expression string) *Budget {
	t.Helper()
	x, err := Parse(expression)
	if err != nil {
		t.Fatal(err)
	}
	return &Budget{Name: expression, Severity: SeverityError, Holds: x}
}

// A name that no session has is a mistake also where the session lacks what it would be of.
func TestKnownNames(t *testing.T) {
	type waits struct {
		Longest int64 `json:"longest_ns"`
	}
	type distribution struct {
		P99 int64 `json:"p99"`
	}
	type session struct {
		Tasks        struct{ Threw int }     `json:"tasks"`
		Waits        *waits                  `json:"waits,omitempty"`
		Metrics      map[string]distribution `json:"metrics"`
		NotAvailable map[string]string       `json:"not_available"`
	}
	whole, err := TreeOf(&session{NotAvailable: map[string]string{"cache_misses": "no counters"}})
	if err != nil {
		t.Fatal(err)
	}
	none, err := TreeOf(&session{})
	if err != nil {
		t.Fatal(err)
	}
	none.Empty("no class matches")
	for name, c := range map[string]struct{ why, err string }{
		"queue_ns.p99":        {why: "the session has no value of queue_ns"},
		"self_cycles.p99":     {why: "the session has no value of self_cycles"},
		"cache_misses.p99":    {why: "no counters"},
		"waits.longest_ns":    {why: "the session does not have it"},
		"quue_ns.p99":         {err: "no figure is called quue_ns.p99 (did you mean queue_ns.p99?)"},
		"self_any_bytes.p99":  {err: "no figure is called self_any_bytes.p99"},
		"queue_ns.p98":        {err: "no figure is called queue_ns.p98 (did you mean queue_ns.p99?)"},
		"cache_misses.p98":    {err: "no figure is called cache_misses.p98"},
		"waits.longst_ns":     {err: "no figure is called waits.longst_ns"},
		"waits":               {err: "no figure is called waits"},
		"cache_misses":        {err: "no figure is called cache_misses"},
		"cache_misses.p99.x":  {err: "no figure is called cache_misses.p99.x"},
		"not_available.tasks": {err: "no figure is called not_available.tasks"},
	} {
		n := names(t, name)[0]
		_, _, why, err := whole.look(n)
		if why != c.why || (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q %v, want %+v", name, why, err, c)
		}
		if name == "cache_misses.p99" { // a name that only the session knows
			continue
		}
		if _, _, why, err := none.look(n); (err != nil) != (c.err != "") || err == nil && why != "no class matches" {
			t.Errorf("of nothing, %s: %q %v", name, why, err)
		}
	}
}

// A selector that matches nothing fails, unless that is allowed or another session that is checked on its own has a match.
func TestEmptySelector(t *testing.T) {
	b := budgetOf(t, `class("a.*").cpu_ns.max < 1ms`)
	sel := Selector{Class, "a.*"}
	var results [3]*Result
	for i, matches := range []bool{false, true, false} {
		of := tree(t)
		if !matches {
			of.Empty("no class matches")
		}
		f, err := Gather(Names([]*Budget{b}), []map[Selector]Tree{{sel: of}})
		if err != nil {
			t.Fatal(err)
		}
		results[i] = Check([]*Budget{b}, f, "s")[0]
	}
	for _, c := range []struct {
		of    []*Result
		fails bool
	}{{results[:1], true}, {[]*Result{results[0], results[2]}, true}, {results[:2], false}} {
		Excuse(c.of)
		if r := c.of[0]; r.State != NotAvailable || r.Fails(false) != c.fails || r.Fails(true) {
			t.Errorf("%+v, want fails %v", r, c.fails)
		}
	}
}

// A figure of repeated runs is their mean.
func TestRepeatedRuns(t *testing.T) {
	b, err := FailIf("cpu_ns.sum > 600ns")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Gather(Names([]*Budget{b}), runs(t, "500", "600", "730"))
	if err != nil {
		t.Fatal(err)
	}
	r := Check([]*Budget{b}, f, "")[0]
	if r.State != Broken || !r.Fails(false) || r.Figures[0].Value.Mean != 610 || r.Figures[0].Value.N != 3 {
		t.Errorf("%+v", r)
	}
	if want := "cpu_ns.sum is 610 ns (324 ns to 896 ns at 95 %, 3 runs)"; r.Text() != want { // t(2) = 4.3027, s = 115.33
		t.Errorf("%s, want %s", r.Text(), want)
	}
	broken := runs(t, "500", "600")
	delete(broken[1][Selector{}]["metrics"].(map[string]any), "cpu_ns")
	f, err = Gather(Names([]*Budget{b}), broken)
	if r := Check([]*Budget{b}, f, "")[0]; err != nil || r.State != NotAvailable || !r.Fails(false) || r.Fails(true) || r.Why != "run 2: the session has no value of cpu_ns" {
		t.Errorf("%+v %v", r, err)
	}
}

func TestWithin(t *testing.T) {
	list := names(t, "cpu_ns.sum")
	before, err := Gather(list, runs(t, "1000", "1010", "990"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cpu        []string
		expression string
		want       State
		text       string
	}{
		{[]string{"1050"}, "within(cpu_ns.sum, 10%)", Kept, "+5.0 % against 1.00 µs"},
		{[]string{"1150"}, "within(cpu_ns.sum, 10%)", Broken, "+15 % against 1.00 µs"},
		{[]string{"800"}, "within(cpu_ns.sum, 10%)", Broken, "-20 % against"},
		{[]string{"1190", "1200", "1210"}, "within(cpu_ns.sum, 10%)", Broken, "+20 % (+"},
		{[]string{"600", "1200", "1800"}, "within(cpu_ns.sum, 10%)", NotAvailable, "repeat them more often; cpu_ns.sum is 1.20 µs"}, // the spread explains it, as much as a real change
		{[]string{"600", "1000", "1400"}, "within(cpu_ns.sum, 10%)", Kept, "0 % (-"},
		{[]string{"1100"}, "cpu_ns.sum <= 1.2 * baseline.cpu_ns.sum", Kept, "+10 % against"},
		{[]string{"1300"}, "cpu_ns.sum <= 1.2 * baseline.cpu_ns.sum", Broken, "+30 % against"},
		{[]string{"1300"}, "cpu_ns.sum <= 1.2 * baseline.duration_ns", NotAvailable, "the baseline has no duration_ns"},
	} {
		f, err := Gather(list, runs(t, c.cpu...))
		if err != nil {
			t.Fatal(err)
		}
		f.Baseline = baselineOf(t, before, list)
		if r := Check([]*Budget{budgetOf(t, c.expression)}, f, "")[0]; r.State != c.want || !strings.Contains(r.Text(), c.text) {
			t.Errorf("%s of %v: %s, %s; want %s, %s", c.expression, c.cpu, r.State, r.Text(), c.want, c.text)
		}
	}
}

// report has a result of each kind, with names that act on every format.
func report(t *testing.T) *Report {
	t.Helper()
	const evil = "a|b<c>&\"'`x`\x1b[2J\r\n::error::x,y:z%0A]]> $$m$$ @me #1 \xff"
	broken, warning := budgetOf(t, "cpu_ns.max < 1ns"), budgetOf(t, "cpu_ns.sum < 1ns")
	broken.Name, broken.Why, broken.File, broken.Line = evil, evil, "dir,a:b%/"+evil, 7
	warning.Severity = SeverityWarning
	all := []*Budget{budgetOf(t, "cpu_ns.max > 1ns"), broken, warning, budgetOf(t, "queue_ns.p99 < 1ms")}
	f, err := Gather(Names(all), runs(t, "600"))
	if err != nil {
		t.Fatal(err)
	}
	return &Report{Sessions: []string{evil}, Results: Check(all, f, evil), Notes: []string{evil}}
}

// A second reader counts what the suite says.
func TestJUnit(t *testing.T) {
	for _, allowEmpty := range []bool{false, true} {
		r := report(t)
		r.AllowEmpty = allowEmpty
		var out bytes.Buffer
		if err := r.JUnit(&out); err != nil {
			t.Fatal(err)
		}
		count := map[string]int{}
		for d := xml.NewDecoder(&out); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, out.String())
			}
			if e, ok := token.(xml.StartElement); ok {
				count[e.Name.Local]++
				for _, a := range e.Attr {
					if e.Name.Local == "testsuite" {
						count["@"+a.Name.Local+"="+a.Value]++
					}
				}
			}
		}
		failures, skipped := 2, 0
		if allowEmpty {
			failures, skipped = 1, 1
		}
		if count["testcase"] != 4 || count["failure"] != failures || count["skipped"] != skipped || count["@tests=4"] != 1 || count["@failures="+string(rune('0'+failures))] != 1 || count["@skipped="+string(rune('0'+skipped))] != 1 {
			t.Errorf("allowEmpty %v: %v", allowEmpty, count)
		}
	}
}

// A workflow command is a line that begins with ::; names must not begin another one, nor end its properties.
func TestGitHub(t *testing.T) {
	var out bytes.Buffer
	if err := report(t).GitHub(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "::notice title=shadow check::a|b") {
		t.Fatalf("%q", lines)
	}
	lines = lines[1:] // after what is said of the sessions
	if !strings.HasPrefix(lines[0], "::error file=dir%2Ca%3Ab%25/") || !strings.HasPrefix(lines[1], "::warning title=") || !strings.HasPrefix(lines[2], "::error title=") {
		t.Fatalf("%q", lines)
	}
	properties, _, _ := strings.Cut(strings.TrimPrefix(lines[0], "::error "), "::")
	if parts := strings.Split(properties, ","); len(parts) != 3 || parts[1] != "line=7" || strings.ContainsAny(properties, ":\r\x1b") {
		t.Errorf("%q", properties)
	}
	if lines[3] != "4 budgets: 1 kept, 2 broken, 1 not available, which fails (--allow-empty lets it pass)" {
		t.Errorf("%q", lines[3])
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := report(t).Markdown(&out); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(out.String()) {
		if strings.HasPrefix(line, "|") {
			if rows++; strings.Count(line, "|") != 4 {
				t.Errorf("not 3 cells: %s", line)
			}
		}
	}
	for _, bad := range []string{"<c>", "`", "\x1b", "$$", "@me", " #1", "\r"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("%q is in %s", bad, out.String())
		}
	}
	if rows != 6 || !strings.HasPrefix(out.String(), "### Budgets: broken\n") || !strings.Contains(out.String(), "| broken (warning) | cpu_ns.sum &#60; 1ns (") {
		t.Errorf("%s", out.String())
	}
}
