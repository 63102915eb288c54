package granularity

import (
	"encoding/json"
	"strings"
	"testing"

	"stackagent/internal/units"
)

// TestNeverRun: tasks that never ran are advice where they are the program's
// own and not a few; cleaners of the platform hardly ever run.
func TestNeverRun(t *testing.T) {
	jdk := Hotspot{Class: "java.util.zip.Inflater$InflaterZStreamRef", JDK: true, Created: 100, NeverExecuted: 90}
	few := Hotspot{Class: "app.Job", Created: 1000, Executions: 998, NeverExecuted: 2}
	many := Hotspot{Class: "app.Main$$Lambda -> app.Main.lambda$go$1", Created: 100, NeverExecuted: 40}
	other := Hotspot{Class: "app.Other", Created: 100, NeverExecuted: 30}
	more := Hotspot{Class: "app.More", Created: 100, NeverExecuted: 30}
	for _, c := range []struct {
		name   string
		rows   []Hotspot
		lost   uint64
		advice bool
		want   string
	}{
		{"platform only", []Hotspot{jdk}, 0, false, "90 tasks (90 % of those created) never executed, all of them java.util.zip.Inflater$InflaterZStreamRef."},
		{"few of the program", []Hotspot{few, jdk}, 0, false, "92 tasks (8.4 % of those created) never executed, most of them java.util.zip"},
		{"many", []Hotspot{few, many, jdk}, 0, true, "42 tasks of the program (3.8 % of those created) never executed, most of them app.Main.lambda$go$1 (40): objects"},
		{"no majority", []Hotspot{many, other, more}, 0, true, "100 tasks of the program (33 % of those created) never executed, the most app.Main.lambda$go$1 (40): objects"},
		{"lost", []Hotspot{many}, 3, true, "40 tasks of the program (40 % of those created) never executed, all of them app.Main.lambda$go$1: as far as recorded"},
		{"fork/join", []Hotspot{{Class: "app.Fib", Kinds: units.KindForkJoin, Created: 10, Executions: 5, NeverExecuted: 5}}, 0, false,
			"5 tasks (50 % of those created) never executed, all of them app.Fib. Fork/join tasks whose compute() is called directly"},
		{"none", []Hotspot{{Class: "app.Job", Created: 5, Executions: 5}}, 0, false, ""},
	} {
		f := Facts{Rows: c.rows, LostEvents: c.lost}
		f.NeverExecuted, f.Created = sumNever(c.rows)
		if got := neverRun(f, c.advice); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if got := neverRun(f, !c.advice); got != "" {
			t.Errorf("%s: said twice, or as the wrong kind: %q", c.name, got)
		}
	}
}

// TestWorkNotMeasured: work that was not measured is null, work of zero is 0.
func TestWorkNotMeasured(t *testing.T) {
	for _, c := range []struct {
		name string
		row  Hotspot
		want string // of work_ns and work_share
	}{
		{"measured", Hotspot{Class: "A", Executions: 1, Work: 7, WorkShare: 0.5, Metrics: Metrics{SelfCPU: Describe(valuesOf(7))}}, "7 0.5"},
		{"measured as zero", Hotspot{Class: "A", Executions: 1, Metrics: Metrics{SelfCPU: Describe(valuesOf(0))}}, "0 0"},
		{"still running", Hotspot{Class: "A", Executions: 1, Running: 1, Metrics: Metrics{}}, "null null"},
		{"never executed", Hotspot{Class: "A", Created: 1, NeverExecuted: 1}, "null null"},
	} {
		data, err := json.Marshal([]Hotspot{c.row})
		if err != nil {
			t.Fatal(err)
		}
		var m []map[string]json.RawMessage
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		if got := string(m[0]["work_ns"]) + " " + string(m[0]["work_share"]); got != c.want || string(m[0]["class"]) != `"A"` {
			t.Errorf("%s: work %s, want %s in %s", c.name, got, c.want, data)
		}
	}
}

// TestWrapperIsNotFine: a class that does little itself and runs long tasks
// inside is a wrapper, not fine-grained.
func TestWrapperIsNotFine(t *testing.T) {
	self, long := new(Values), new(Values)
	for range 2000 {
		self.Add(800)
		long.Add(30_000)
	}
	row := Hotspot{Class: "app.Wrapper", Executions: 2000, ExecutionShare: 0.5, Metrics: Metrics{SelfCPU: Describe(self), CPU: Describe(long)}}
	if got := tooFine(Facts{Rows: []Hotspot{row}}); len(got) != 0 {
		t.Errorf("a wrapper is called fine-grained: %q", got)
	}
	row.Metrics[CPU] = Describe(self)
	if got := tooFine(Facts{Rows: []Hotspot{row}}); len(got) != 1 {
		t.Errorf("2,000 tasks of 800 ns are not called fine-grained: %q", got)
	}
}
