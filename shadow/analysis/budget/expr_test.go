package budget

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"stackagent/internal/expression"
)

// figuresOf are figures of one run, for tests.
func figuresOf(values map[string]float64) *Figures {
	f := &Figures{samples: map[Name]Sample{}}
	for name, v := range values {
		n, err := ParseName(name)
		if err != nil {
			panic(err)
		}
		f.samples[n] = Sample{Values: []float64{v}}
	}
	return f
}

var values = map[string]float64{
	"cpu_ns.max": 1.5e6, "queue_ns.p99": 40e6, "tasks.executions": 100, "gc.share": 0.02, "alloc_bytes.sum": 3 << 20, "duration_ns": 2e9,
	"tasks.type": 1, `class("com.acme.*").cpu_ns.max`: 0.5e6, `units.cpu_ns.sum`: 4e6,
}

func TestConditions(t *testing.T) {
	for source, want := range map[string]bool{
		"cpu_ns.max > 1ms":         true,
		"cpu_ns.max > 1.5ms":       false,
		"cpu_ns.max >= 1_500us":    true,
		"cpu_ns.max == 1500000ns":  true,
		"cpu_ns.max > 1.4e-3s":     true,
		"metrics.cpu_ns.max > 1ms": true,
		`class("com.acme.*").cpu_ns.max<1ms and queue_ns.p99 < 50ms`:       true,
		"units.cpu_ns.sum / 4 == 1ms":                                      true,
		"alloc_bytes.sum > 3MB":                                            true,
		"alloc_bytes.sum != 3MiB":                                          false,
		"gc.share > 1%":                                                    true,
		"gc.share > 3% or cpu_ns.max > 0":                                  true,
		"not (tasks.executions > 10)":                                      false,
		"!(tasks.executions < 10)":                                         true,
		"cpu_ns.max / duration_ns < 0.1%":                                  true,
		"cpu_ns.max / queue_ns.p99 < 0.1":                                  true,
		"-cpu_ns.max < 0":                                                  true,
		"0 < tasks.type <= 2 and not (tasks.type > 1)":                     true,
		"class('com.acme.*').cpu_ns.max <= 0.5ms":                          true,
		"2 * cpu_ns.max - 1ms == 2ms":                                      true,
		"duration_ns / tasks.executions > 19ms && tasks.executions >= 100": true,
	} {
		x, err := Parse(source)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if v := x.root.eval(figuresOf(values)); v.why != "" || (v.v == 1) != want {
			t.Errorf("%s: %+v, want %v", source, v, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for source, want := range map[string]string{
		"":                                    "the expression is empty",
		"cpu_ns.max":                          "not a condition",
		"1 < 2":                               "names no figure",
		"cpu_ns.max > 1":                      "column 12: cpu_ns.max is a time, and 1 has no unit: write one, as in 50ms",
		"alloc_bytes.sum > 1":                 "as in 1MiB",
		"cpu_ns.max > 1MiB":                   "no common unit",
		"cpu_ns.max > tasks.executions":       "no common unit",
		"cpu_ns.max > 1 hour":                 "column 16",
		"cpu_ns.max > 1h":                     "column 15: unknown unit h",
		"cpu_ns.max * cpu_ns.max > 1ms":       "neither a time nor a size",
		"2 / cpu_ns.max > 3":                  "neither a time nor a size",
		"cpu_ns.max > 1ms and 3":              "and wants conditions, but 3 is a number",
		"(cpu_ns.max > 1ms) + 1 > 2":          "is a condition, not a number",
		"not cpu_ns.max > 1ms":                "not wants a condition",
		"cpu_ns.max >":                        "ends too early",
		"cpu_ns.max % 2 == 0":                 "% ",
		"cpu_ns.max > 10%3":                   "is percent, not an operator",
		`class(3).cpu_ns.max > 1ms`:           "wants one glob in quotes",
		`class("a[").cpu_ns.max > 1ms`:        "is no glob",
		`class("a") > 1ms`:                    "is no figure: name one of it",
		`clas("a").cpu_ns.max > 1ms`:          "unknown function clas",
		`env("HOME").x > 1`:                   "unknown function env",
		`cpu_ns["max"] + cpu_ns[tasks.x] > 1`: "names have parts with dots",
		`cpu_ns?.max > 1ms`:                   "column 7: unexpected ?",
		`(cpu_ns.max).x > 1ms + tasks["x y"]`: "names have parts with dots",
		`map([1], {#}) == 1`:                  "unexpected '#'",
		`cpu_ns.max > "1ms`:                   "the quote that begins here has no end",
		`within(3, 10%)`:                      "is no figure of a session",
		`within(cpu_ns.max, 10ms)`:            "is no share above 0",
		`within(cpu_ns.max, 0)`:               "is no share above 0",
		`within(cpu_ns.max)`:                  "within wants a figure and a share",
		`within(baseline.cpu_ns.max, 1%)`:     "is no figure of a session",
		"cpu_ns.max > 1ms\x1b":                "control characters",
		"cpu_ns.max > $0":                     "unexpected '$'",
		strings.Repeat("(", 100):              "brackets or signs in each other",
		strings.Repeat("a+", 600) + "a > 1":   "longer than 1000 characters",
		strings.Repeat("a+", 150) + "a > 1":   "more than 200 parts",
	} {
		_, err := Parse(source)
		var e *expression.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", source, err, want)
		}
	}
}

func TestUnits(t *testing.T) {
	for name, want := range map[string]string{
		"cpu_ns.max": "ns", "cpu_ns.count": "", "self_cpu_ns.stddev": "ns", "alloc_bytes.p99": "bytes", "alloc_bytes.not_measured": "", "gc.pause_ns": "ns",
		"gc.pauses": "", "gc.share": "", "duration_ns": "ns", "queue_ns.relative_error": "", "instructions.sum": "", "tasks.executions": "", "gc.standstill.total_ns": "ns",
	} {
		if n, err := ParseName(name); err != nil || n.Unit() != want || n.String() != name {
			t.Errorf("%s: %v %q, want %q, %v", name, n, n.Unit(), want, err)
		}
	}
}

// What is not known decides nothing, unless the rest does.
func TestNotAvailable(t *testing.T) {
	f := figuresOf(map[string]float64{"cpu_ns.max": 1e6})
	n, _ := ParseName("queue_ns.p99")
	f.samples[n] = Sample{Why: "no submissions"}
	for source, want := range map[string]string{
		"queue_ns.p99 > 1ms":                         "?",
		"not (queue_ns.p99 > 1ms)":                   "?",
		"queue_ns.p99 > 1ms or cpu_ns.max > 0":       "true",
		"queue_ns.p99 > 1ms and cpu_ns.max > 0":      "?",
		"queue_ns.p99 > 1ms and cpu_ns.max > 1s":     "false",
		"cpu_ns.max > 1s or queue_ns.p99 > 1ms":      "?",
		"cpu_ns.max / (cpu_ns.max - 1ms) > 3":        "?",
		"baseline.cpu_ns.max > 1ms":                  "?",
		"within(cpu_ns.max, 10%)":                    "?",
		"cpu_ns.max > 1us or within(cpu_ns.max, 5%)": "true",
	} {
		x, err := Parse(source)
		if err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		v := x.root.eval(f)
		got := "?"
		if v.why == "" {
			got = map[float64]string{0: "false", 1: "true"}[v.v]
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%+v)", source, got, want, v)
		}
	}
}

// An expression gives an error or an answer, whatever it is, and no message that acts on a terminal.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"cpu_ns.max > 1ms", `class("com.acme.*").cpu_ns.max <= 1.1 * baseline.class("com.acme.*").cpu_ns.max`, "within(a.b, 10%) and not (c == 3)", "1e9s < a", "a > 5 % and b", "-(-a) > 0", `a > "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		x, err := Parse(s)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\x1b\n\r") || !utf8.ValidString(err.Error()) {
				t.Fatalf("the message acts on a terminal: %q", err)
			}
			return
		}
		figures := &Figures{samples: map[Name]Sample{}}
		for _, n := range x.Names {
			again, err := ParseName(n.String())
			if err != nil || again != n {
				t.Fatalf("%q of %q reads as %q: %v", n.String(), s, again, err)
			}
			figures.samples[n] = Sample{Values: []float64{3, 5}}
		}
		if v := x.root.eval(figures); v.why == "" && v.v != 0 && v.v != 1 || math.IsNaN(v.v) {
			t.Fatalf("%q is %+v", s, v)
		}
		if slices.Contains(x.Names, Name{}) {
			t.Fatalf("%q names nothing", s)
		}
	})
}
