package formula

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/expression"
	"stackagent/internal/units"
)

var none = math.NaN()

// samples of four intervals of 10 ms.
func samples() *Samples {
	return &Samples{
		Edges: []units.MonoNs{1e9, 1.01e9, 1.02e9, 1.03e9, 1.04e9},
		Series: []Series{
			{Name: "os.minor_faults", Layer: "os", Counter: true, Values: []float64{10, 20, 30, 40}},
			{Name: "vm.alloc.bytes", Unit: "bytes", Layer: "vm", Counter: true, Values: []float64{1e6, 2e6, 0, 4e6}},
			{Name: "os.steal_ns", Unit: "ns", Layer: "os", Counter: true, Values: []float64{0, 5e6, 2e6, none}},
			{Name: "vm.gc.running", Unit: "", Layer: "vm", Values: []float64{0, 0, 1, 0}},
			{Name: `app.tasks.finished{class="Order"}`, Unit: "tasks", Layer: "application", Counter: true, Values: []float64{1, 2, 3, 4}},
			{Name: `app.tasks.finished{class="OrderLine"}`, Unit: "tasks", Layer: "application", Counter: true, Values: []float64{10, none, 30, 40}},
			{Name: `app.tasks.finished{class="Tax"}`, Unit: "tasks", Layer: "application", Counter: true, Values: []float64{100, 200, 300, 400}},
			{Name: "vm.heap.used", Unit: "MB", Layer: "vm", Values: []float64{1, 3, 2, 2}},
			{Name: "vm.heap.eden.used_bytes", Unit: "bytes", Layer: "vm", Values: []float64{1e6, 3e6, 1e6, 3e6}},
			{Name: "vm.code.used", Unit: "MB", Layer: "vm", Values: []float64{1, 1, 1, 1}},
			{Name: "app.level", Unit: "bytes", Layer: "application", Values: []float64{none, 15, 25, 35}, Ends: []float64{10, 20, 30, 44}},
			{Name: "os.code.used", Unit: "MB", Layer: "os", Values: []float64{2, 2, 2, 2}},
			{Name: "app.com.acme.Cache#hits", Layer: "application", Counter: true, Values: []float64{1, 1, 1, 1}},
		},
		Absent: map[string]string{"hw.*": "this machine has no hardware counters", "os.disk.reads": "no disk"},
	}
}

func TestMetric(t *testing.T) {
	for _, c := range []struct {
		expr, unit string
		want       []float64
	}{
		{"os.minor_faults", "", []float64{10, 20, 30, 40}},
		{"minor_faults", "", []float64{10, 20, 30, 40}},
		{"os_minor_faults", "", []float64{10, 20, 30, 40}},
		{"minor_faults/alloc_bytes", "1/bytes", []float64{1e-5, 1e-5, none, 1e-5}},
		{"os.minor_faults / (vm.alloc.bytes/1MB)", "", []float64{10, 10, none, 10}},
		{"faults_per_mb", "1/MB", []float64{none, 10, none, 20}},
		{"allocation_rate", "bytes/s", []float64{none, 2e8, 0, 2e8}},
		{"rate(minor_faults)", "1/s", []float64{1000, 2000, 3000, 4000}},
		{"rate(alloc.bytes)", "bytes/s", []float64{1e8, 2e8, 0, 4e8}},
		{"rate(steal_ns)", "", []float64{0, 0.5, 0.2, none}},
		{"steal_share", "ratio", []float64{0, 0.5, 0.2, none}},
		{`rate(tasks.finished{class~"Order*"})`, "tasks/s", []float64{1100, 200, 3300, 4400}},
		{`tasks_finished{class="Tax"}`, "tasks", []float64{100, 200, 300, 400}},
		{`tasks.finished{class!~"Order*"}`, "tasks", []float64{100, 200, 300, 400}},
		{`tasks.finished{ class ~ 'Order*' , class != "Order" }`, "tasks", []float64{10, none, 30, 40}},
		{"app.tasks.finished", "tasks", []float64{111, 202, 333, 444}},
		{"`app.tasks.finished{class=\"Order\"}`", "tasks", []float64{1, 2, 3, 4}},
		{"com.acme.Cache#hits * 2", "", []float64{2, 2, 2, 2}},
		{"vm.heap.used", "bytes", []float64{1e6, 3e6, 2e6, 2e6}},
		{"delta(heap.used)", "bytes", []float64{none, 2e6, -1e6, 0}},
		{"delta(app.level)", "bytes", []float64{none, none, 10, 14}},
		{"delta(app.level * 2 + 1)", "bytes", []float64{none, none, 20, 28}},
		{"delta(-app.level)", "bytes", []float64{none, none, -10, -14}},
		{"delta(abs(-app.level))", "bytes", []float64{none, none, 10, 14}},
		{"app.level", "bytes", []float64{none, 15, 25, 35}},
		{"avg(heap.used, 2)", "bytes", []float64{1e6, 2e6, 2.5e6, 2e6}},
		{"avg(steal_ns, 2)", "ns", []float64{0, 2.5e6, 3.5e6, 2e6}},
		{"rate(avg(minor_faults, 2))", "1/s", []float64{1000, 1500, 2500, 3500}},
		{"ratio(steal_ns, interval)", "", []float64{0, 0.5, 0.2, none}},
		{"time", "ns", []float64{0, 1e7, 2e7, 3e7}},
		{"alloc_bytes / interval", "bytes/s", []float64{1e8, 2e8, 0, 4e8}},
		{"alloc_bytes / interval * interval", "bytes", []float64{1e6, 2e6, 0, 4e6}},
		{"interval / alloc_bytes", "ns/bytes", []float64{10, 5, none, 2.5}},
		{"1 / interval", "1/s", []float64{100, 100, 100, 100}},
		{"interval * interval", "ns^2", []float64{1e14, 1e14, 1e14, 1e14}},
		{"abs(-minor_faults) - 5", "", []float64{5, 15, 25, 35}},
		{"min(minor_faults, 25)", "", []float64{10, 20, 25, 25}},
		{"max(minor_faults, 25)", "", []float64{25, 25, 30, 40}},
		{"heap.used - 1MB", "bytes", []float64{0, 2e6, 1e6, 1e6}},
		{"minor_faults * 50%", "", []float64{5, 10, 15, 20}},
	} {
		m, err := New(samples()).Metric(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		if m.Unit != c.unit || !near9(m.Values, c.want) {
			t.Errorf("%s = %v %q, want %v %q", c.expr, m.Values, m.Unit, c.want, c.unit)
		}
	}
}

func near9(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= 1e-9*math.Max(math.Abs(x), math.Abs(y))
	})
}

func TestGuard(t *testing.T) {
	s := &Samples{Edges: make([]units.MonoNs, 7)}
	s.Series = []Series{{Name: "os.n", Values: []float64{5, 5, 5, 5, 5, 5}}, {Name: "os.d", Values: []float64{1000, 1000, 1000, 0, 9, 11}}}
	m, err := New(s).Metric("n/d")
	if err != nil {
		t.Fatal(err)
	}
	// The median of the denominators is 1000; below a hundredth of it there is no value.
	if m.Guarded != 2 || !math.IsNaN(m.Values[3]) || !math.IsNaN(m.Values[4]) || math.IsNaN(m.Values[5]) {
		t.Errorf("guarded %d: %v", m.Guarded, m.Values)
	}
}

func TestWhere(t *testing.T) {
	for _, c := range []struct {
		expr string
		want []bool
	}{
		{"gc_running == 0", []bool{true, true, false, true}},
		{"gc_running == 0 and os.steal_ns < 1ms", []bool{true, false, false, false}},
		{"gc_running == 0 && !(os.steal_ns >= 1ms)", []bool{true, false, false, false}},
		{"gc_running == 1 or minor_faults > 35", []bool{false, false, true, true}},
		{"not (os.steal_ns < 1ms)", []bool{false, true, true, false}}, // not known: not chosen
		{"15 < minor_faults <= 30", []bool{false, true, true, false}},
		{"time >= 20ms", []bool{false, false, true, true}},
		{"heap.used > 2MB", []bool{false, true, false, false}},
		{"true", []bool{true, true, true, true}},
	} {
		got, err := New(samples()).Where(c.expr)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, %v; want %v", c.expr, got, err, c.want)
		}
	}
}

func TestErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"os.steal_ns + vm.alloc.bytes":       "column 13: os.steal_ns is in ns and vm.alloc.bytes is in bytes: they cannot be added",
		"steal_ns < 1MB":                     "os.steal_ns is in ns and 1e+06 is in bytes: they cannot be compared",
		"os.minor_fault":                     "column 1: unknown monitor or metric os.minor_fault: did you mean os.minor_faults?",
		"minr_faults":                        "did you mean os.minor_faults?",
		"hw.instructions":                    "hw.instructions is not available: this machine has no hardware counters",
		"ipc":                                "metric ipc: hw.instructions is not available: this machine has no hardware counters",
		"jit_share":                          "metric jit_share: this session has no monitor vm.jit.time_ns",
		"disk_reads":                         "disk_reads is not available: no disk",
		"code.used":                          "code.used may be os.code.used or vm.code.used: write the name in full",
		`tasks.finished{class="Ordr"}`:       "no series of app.tasks.finished has such a class: it is Order, OrderLine, Tax",
		`tasks.finished{klass="Order"}`:      "app.tasks.finished has no label klass",
		`tasks.finished{class`:               "want =, ~, != or !~ after the label class",
		`tasks.finished{class="a`:            "column 22: the quote that begins here has no end",
		`tasks.finished{class~"["}`:          "syntax error in pattern",
		"rate(gc_running)":                   "rate is for counters, and vm.gc.running is none: use delta(vm.gc.running) for its change",
		"delta(minor_faults)":                "os.minor_faults is a counter: a sample holds its growth already",
		"ratio(steal_ns, alloc_bytes)":       "ratio: os.steal_ns is in ns and vm.alloc.bytes is in bytes: use / for units that differ",
		"minor_faults and true":              "and wants conditions, but os.minor_faults is a number",
		"-(minor_faults > 1)":                "is a condition, not a number",
		"not minor_faults":                   "not wants a condition",
		"minor_faults > 1":                   "this is a condition",
		"1 + 2":                              "this names no monitor",
		"minor_faults ** 2":                  "not part of the language",
		"minor_faults % 2":                   "the operator % is not part of the language",
		"[minor_faults]":                     "column 1: unexpected [",
		"let x = 1; x":                       "column 5: unexpected x",
		"minor_faults > 1 ? 1 : 2":           "column 18: unexpected ?",
		"exec(1)":                            "unknown function exec: the functions are abs, avg, delta, max, min, rate, ratio",
		"avg(minor_faults)":                  "avg: want avg(x, n)",
		"avg(minor_faults, gc_running)":      "want a number of samples from 1 to 1000",
		"5parsecs":                           "unknown unit parsecs",
		"minor_faults +":                     "the expression ends too early",
		"$0":                                 "unexpected '$'",
		"":                                   "the expression is empty",
		"a\x1b[31m":                          "control characters",
		strings.Repeat("a", 1001):            "longer than 1000 characters",
		strings.Repeat("(", 900):             "more than 60 brackets",
		strings.Repeat("-", 900) + "1":       "more than 60 brackets or signs",
		strings.Repeat("1+", 450) + "1":      "more than 200 parts",
		strings.Repeat("not ", 240) + "true": "more than",
		strings.Repeat("`a`+", 100) + "1":    "more than 62 names",
	} {
		_, err := New(samples()).Metric(expr)
		var e *expression.Error
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &e) || e.Expr != expr {
			t.Errorf("%.60s: %v, want %s", expr, err, want)
		}
	}
	if _, err := New(samples()).Where("minor_faults"); err == nil || !strings.Contains(err.Error(), "this is no condition") {
		t.Errorf("a number as a condition: %v", err)
	}
}

func TestDefine(t *testing.T) {
	s := New(samples())
	if err := s.Define("mine", "minor_faults * 2"); err != nil {
		t.Fatal(err)
	}
	if err := s.Define("twice", "mine * 2"); err != nil {
		t.Fatal(err)
	}
	m, err := s.Metric("twice + 1")
	if err != nil || m.Values[0] != 41 {
		t.Errorf("%v, %v", m, err)
	}
	for name, expr := range map[string]string{"loop": "loop + 1", "os.minor_faults": "1", "rate": "time", "bad name": "time", "x": "nothing"} {
		if err := s.Define(name, expr); err == nil {
			t.Errorf("%s=%s is taken", name, expr)
		}
	}
	if _, err := s.Metric("x"); err == nil {
		t.Error("a metric that was refused is known")
	}
	for names := "mnopqr"; err == nil && len(names) > 1; names = names[1:] { // each is three times as large as the one before
		_ = s.Define("m", "mine")
		err = s.Define(names[1:2], strings.ReplaceAll("X+X+X", "X", names[:1]))
	}
	if err == nil || !strings.Contains(err.Error(), "more than 200 parts") {
		t.Errorf("metrics that grow in each other: %v", err)
	}
}

// TestLibrary: with all monitors that the library names, each metric can be computed and has the unit that it says.
func TestLibrary(t *testing.T) {
	s := samples()
	for name, of := range map[string]string{
		"app.tasks.queued": "tasks", "vm.gc.running": "ratio", "os.runnable_ns": "ns", "os.cpu_ns": "ns", "vm.safepoint.time_ns": "ns", "vm.jit.time_ns": "ns",
		"vm.monitor.wait_ns": "ns", "native.syscalls": "", "hw.instructions": "", "hw.cycles": "", "hw.cache_misses": "", "hw.cache_references": "",
		"hw.branch_misses": "", "hw.branches": "", "app.tasks.wall_ns": "ns",
	} {
		gauge := name == "app.tasks.queued" || name == "vm.gc.running"
		s.Series = append(s.Series, Series{Name: name, Unit: of, Counter: !gauge, Values: []float64{1, 2, 3, 4}})
	}
	set := New(s)
	for _, m := range set.Library() {
		if m.Missing != nil {
			t.Errorf("%s: %v", m.Name, m.Missing)
			continue
		}
		c, err := set.compile(m.Expr)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := parseUnit(m.Unit)
		if m.Unit == "1/MB" { // the expression has divided by 1 MB
			want = unit{}
		}
		if m.Doc == "" || !c.root.unit.equal(want) {
			t.Errorf("%s is %s, but says %s", m.Name, c.root.unit.named(), m.Unit)
		}
	}
}

func FuzzExpression(f *testing.F) {
	for _, seed := range []string{"minor_faults/alloc_bytes", `rate(tasks.finished{class~"Order*"})`, "gc_running == 0 and os.steal_ns < 1ms", "`x`", "not -1.5e3ms%", "avg(time,10)", "a{b!~'*',c=\"d\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		s := New(samples())
		m, err := s.Metric(source)
		if err == nil && len(m.Values) != 4 {
			t.Errorf("%q: %d values", source, len(m.Values))
		}
		if _, err := s.Where(source); err != nil {
			if text := err.Error(); len(text) > 2000 || strings.ContainsRune(text, '\x1b') {
				t.Errorf("%q: %q", source, text)
			}
		}
	})
}
