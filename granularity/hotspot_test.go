package granularity

import (
	"encoding/json"
	"testing"
)

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
