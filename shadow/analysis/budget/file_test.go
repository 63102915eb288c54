package budget

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

const budgets = `# of the shop
budgets:
  - name: orders wait
    expr: class("com.acme.Order*").queue_ns.p99 < 50ms
    why: an answer in 200 ms
  - expr: gc.pause_ns <= 1.2 * baseline.gc.pause_ns
    severity: warning
`

func TestRead(t *testing.T) {
	const path = "b.yaml"
	list, err := Read(strings.NewReader(budgets), path)
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	if b := list[0]; b.Name != "orders wait" || b.Why != "an answer in 200 ms" || b.Severity != SeverityError || b.Line != 4 || b.File != path {
		t.Errorf("%+v", b)
	}
	if b := list[1]; b.Name != "gc.pause_ns <= 1.2 * baseline.gc.pause_ns" || b.Severity != SeverityWarning || b.Line != 6 {
		t.Errorf("%+v", b)
	}
	if _, err := Read(iotest.ErrReader(io.ErrClosedPipe), path); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v", err)
	}
}

func TestMistakesInFiles(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":      {"", "it is empty"},
		"none":       {"budgets: []", "it has no budgets"},
		"no YAML":    {"budgets: [\n", "yaml: line"},
		"two":        {"budgets: []\n---\na: b", "more than one document"},
		"list":       {"- a", "line 1: a file of budgets has keys"},
		"key":        {"budgets:\n  - exp: a", `line 2: "exp" is not a key of a budget (did you mean expr?)`},
		"twice":      {"budgets:\n  - expr: a > 1\n    expr: a > 2", "line 3: expr: is there twice"},
		"expression": {"budgets:\n  - name: x\n    expr: cpu_ns.max < 1", "line 3: expr: column 12: cpu_ns.max is a time"},
		"nothing":    {"budgets:\n  - name: x", "line 2: a budget without expr:"},
		"severity":   {"budgets:\n  - expr: a > 1\n    severity: fatal", `line 3: severity: "fatal": use error or warning`},
		"same name":  {"budgets:\n  - {name: x, expr: a > 1}\n  - {name: x, expr: a > 2}", `line 3: the budget on line 2 is named "x", too`},
		"alias":      {"budgets:\n  - &a {name: x, expr: a > 1}\n  - *a", "line 3: a budget has keys"},
		"alias text": {"budgets:\n  - {name: &n x, expr: a > 1}\n  - {name: *n, expr: a > 2}", "aliases are not allowed"},
		"hidden":     {"budgets:\n  - {name: \"a\\x1b[2J\", expr: a > 1}", "hidden characters"},
		"long":       {"budgets:\n  - {name: " + strings.Repeat("x", 600) + ", expr: a > 1}", "line 2: name: use 1 to 500 characters"},
		"large":      {strings.Repeat("#\n", maxBytes), "larger than 1048576 bytes"},
		"many":       {"budgets: [" + strings.Repeat("{expr: a > 1},", maxBudgets+1) + "]", "budgets: more than 500"},
		"null":       {"budgets:\n  - {name: ~, expr: a > 1}", "needs a text"},
	} {
		if _, err := parseBudgets([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func FuzzBudgets(f *testing.F) {
	f.Add([]byte(budgets))
	f.Add([]byte("budgets:\n  - &a {name: b, expr: a > 1, severity: warning}\n  - *a\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parseBudgets(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("the message acts on a terminal: %q", err)
			}
			return
		}
		for _, b := range list {
			if b.Name == "" || b.Holds == nil || b.Line < 1 || b.Severity != SeverityError && b.Severity != SeverityWarning {
				t.Fatalf("read %+v", b)
			}
		}
	})
}

// baselineOf writes and reads a baseline.
func baselineOf(t *testing.T, f *Figures, names []Name) *Baseline {
	t.Helper()
	b, missing := NewBaseline(f, names)
	if len(missing) > 0 {
		t.Fatalf("missing: %v", missing)
	}
	b.Program, b.JVM, b.CPUs = "com.acme.Main", "17.0.15+6", 2
	data, err := b.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	again, err := parseBaseline(data)
	if err != nil {
		t.Fatalf("%v of\n%s", err, data)
	}
	return again
}

func names(t *testing.T, list ...string) (out []Name) {
	t.Helper()
	for _, s := range list {
		n, err := ParseName(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

func TestBaseline(t *testing.T) {
	list := names(t, "cpu_ns.sum", `class("com.acme.Main$$Lambda -> *\"x\"").queue_ns.p99`, "gc.share")
	f := &Figures{samples: map[Name]Sample{list[0]: {Values: []float64{100, 110, 120.5}}, list[1]: {Values: []float64{5e15}}, list[2]: {Values: []float64{0.001}}}}
	b := baselineOf(t, f, list)
	if b.Program != "com.acme.Main" || b.JVM != "17.0.15+6" || b.CPUs != 2 || b.Len() != 3 {
		t.Errorf("%+v", b)
	}
	for _, n := range list {
		if !slices.Equal(b.sample(n).Values, f.samples[n].Values) {
			t.Errorf("%s: %v", n, b.sample(n))
		}
	}
	if s := b.sample(Name{Path: "wall_ns.sum"}); !strings.Contains(s.Why, "the baseline has no wall_ns.sum") {
		t.Errorf("%+v", s)
	}
	for _, c := range []struct {
		program, jvm string
		cpus         int
		want         string
	}{{"com.acme.Main", "17.0.15+6", 2, ""}, {"B", "17.0.15+6", 2, "of program com.acme.Main, these sessions of B"}, {"com.acme.Main", "21", 2, "with Java 17.0.15+6, these sessions with 21"}, {"com.acme.Main", "17.0.15+6", 8, "on 2 CPUs, these sessions on 8"}} {
		if why := b.Unlike(c.program, c.jvm, c.cpus); !strings.HasSuffix(why, c.want) || (c.want == "") != (why == "") {
			t.Errorf("%q, want %q", why, c.want)
		}
	}
	f.samples[list[0]] = Sample{Why: "none"}
	if _, missing := NewBaseline(f, list); len(missing) != 1 || missing[0] != list[0] {
		t.Errorf("missing %v", missing)
	}
}

func TestMistakesInBaselines(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"version": {"version: 2", "this shadow reads version 1; write the baseline anew"},
		"none":    {"program: x", `version: ""`},
		"values":  {"version: 1\nfigures:\n  - {figure: cpu_ns.sum, values: [x]}", `line 3: "x": needs a number`},
		"NaN":     {"version: 1\nfigures:\n  - {figure: cpu_ns.sum, values: [NaN]}", "needs a number"},
		"empty":   {"version: 1\nfigures:\n  - {figure: cpu_ns.sum, values: []}", "figure cpu_ns.sum has no values"},
		"twice":   {"version: 1\nfigures:\n  - {figure: a.b, values: [1]}\n  - {figure: a.b, values: [1]}", "line 4: figure a.b is there twice"},
		"figure":  {"version: 1\nfigures:\n  - {figure: 1 + 2, values: [1]}", "line 3: figure: 1 + 2 is no name of a figure"},
		"cpus":    {"version: 1\ncpus: -3", `line 2: "-3": needs a whole number`},
	} {
		if _, err := parseBaseline([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// What is read can be written, and reads the same.
func FuzzBaseline(f *testing.F) {
	f.Add([]byte("version: 1\nprogram: \"a\"\njvm: \"17\"\ncpus: 2\nfigures:\n  - figure: \"cpu_ns.sum\"\n    values: [1, 2.5, 1e300]\n"))
	f.Add([]byte("version: 1\nfigures: [{figure: 'class(\"a*\").cpu_ns.p99', values: [0]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := parseBaseline(data)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n") {
				t.Fatalf("the message acts on a terminal: %q", err)
			}
			return
		}
		out, err := b.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		again, err := parseBaseline(out)
		if err != nil || !slices.Equal(again.names, b.names) || again.Program != b.Program || again.JVM != b.JVM || again.CPUs != b.CPUs {
			t.Fatalf("%v: %s", err, out)
		}
		for n, v := range b.figures {
			if !slices.Equal(again.figures[n], v) {
				t.Fatalf("%s: %v became %v", n, v, again.figures[n])
			}
		}
	})
}
