package part

import (
	"errors"
	"math"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/tool"
)

func TestParseTasks(t *testing.T) {
	got, err := parseTasks("starting up\niteration 3.5\niteration 1.5\niteration 9\ncpu 4.25\ntotal Tasks$Fib 10 21 22\n")
	if err != nil {
		t.Fatal(err)
	}
	want := printed{TaskRun: TaskRun{Median: 3.5, Min: 1.5, CPU: 4.25}, class: "Tasks$Fib", executions: 10, creations: 21, calls: 22, tasks: 21}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for _, bad := range []string{"", "iteration 1\n", "total A 1 2 3\n", "iteration x\ntotal A 1 2 3\n", "iteration 1\ntotal A 1 -2 3\n"} {
		if got, err := parseTasks(bad); err == nil {
			t.Errorf("parseTasks(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestAlternate(t *testing.T) {
	var order []int
	if err := alternate(3, 3, func(_, i int) error { order = append(order, i); return nil }); err != nil {
		t.Fatal(err)
	}
	want := []int{0, 1, 2, 1, 2, 0, 2, 0, 1}
	for i := range want {
		if order[i] != want[i] {
			t.Fatalf("%v, want %v", order, want)
		}
	}
	stop := errors.New("stop")
	calls := 0
	if err := alternate(5, 2, func(_, i int) error { calls++; return stop }); !errors.Is(err, stop) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
}

func TestShare(t *testing.T) {
	for v, want := range map[float64]string{1: "all", 0: "none", 0.99999: "99.99 %", 0.5: "50.00 %", 1.01: "101.00 %", math.NaN(): ""} {
		if got := share(v); got != want {
			t.Errorf("share(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestTaskText(t *testing.T) {
	tools := []tool.Tool{{Name: "plain"}, {Name: "ours"}, {Name: "broken"}}
	runs := [][]TaskRun{
		{{Median: 10, Min: 8, CPU: 10}, {Median: 12, Min: 9, CPU: 11}, {Median: 11, Min: 10, CPU: 10}},
		{{Median: 20, Min: 18, CPU: 25, Recorded: 1, OneByOne: 0.25}, {Median: 24, Min: 17, CPU: 26, Recorded: 1}, {Median: 22, Min: 19, CPU: 25, Recorded: 1, OneByOne: 0.5}},
		nil,
	}
	got := taskText(testjvm.JDK{Full: "17.0.1"}, Workloads[0], tools, runs, []error{nil, nil, errors.New("no room\nmore")})
	for _, want := range []string{
		"**exec**, JDK 17.0.1: one thread executes",
		"| plain  |        11.0 |   8.00 |          |             |   10.0 |       |",
		"| ours   |        22.0 |   17.0 |     11.0 |        2.00 |   25.0 |  15.0 |               0 |      all |    25.00 % |",
		"| broken |      failed |",
		"broken failed: no room\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWantsTool(t *testing.T) {
	c := Config{Tools: []string{"timing", "(default)"}}
	for name, want := range map[string]bool{"plain JVM": true, "JFR method timing": true, "stackagent (default)": true, "JFR method trace": false} {
		if c.wantsTool(name) != want {
			t.Errorf("%s: %t", name, !want)
		}
	}
	if !(Config{}).wantsTool("any") {
		t.Error("without a selection a tool is missing")
	}
}
