package part

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
	"stackagent/scripts/bench/result"
	"stackagent/scripts/bench/tool"
)

func TestParseProbes(t *testing.T) {
	const good = "Profiling started\ncreation 8.5\nexecution 9\nsubmission 20\nno-wait 70\nlong-wait 21000.25\ncold-creation 289\ncold-execution 227\ncold-submission 327\n"
	got, err := parseProbes(good)
	if err != nil || got["creation"] != 8.5 || got["long-wait"] != 21000.25 {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"", "creation 8.5\n", "creation 8.5\nexecution x\n"} {
		if got, err := parseProbes(bad); err == nil {
			t.Errorf("parseProbes(%q) = %v, want an error", bad, got)
		}
	}
}

// Recording takes a tenth more CPU time for the same work; the machine's speed changes by a factor of two meanwhile.
func TestBlocks(t *testing.T) {
	var text strings.Builder
	line := func(name string, cost, speed int64) {
		fmt.Fprintf(&text, "%s 1 500000000 1000000000 %d\n", name, speed*1_000_000/cost)
	}
	for i := range int64(20) {
		speed := 1000 + 50*i
		if i%3 == 0 {
			line("on", 110, speed)
			line("off", 100, speed)
		} else {
			line("off", 100, speed)
			line("on", 110, speed)
		}
	}
	found, err := parseBlocks([]byte(text.String() + "on 1 2"))
	if err != nil || len(found) != 40 {
		t.Fatalf("%d blocks, %v", len(found), err)
	}
	var all [2][][2]float64
	addPairs(&all, found)
	w := wayOfBlocks(all)
	if w.n != 20-skippedPairs || math.Abs(w.cpu.Value-1.1) > 0.001 || w.cpu.Low < 1.099 || w.cpu.High > 1.101 || !w.narrow() {
		t.Errorf("%+v", w)
	}
	for _, bad := range []string{"on 1 2\n", "never 1 2 3 4\n"} {
		if found, err := parseBlocks([]byte(bad)); err == nil {
			t.Errorf("parseBlocks(%q) = %v, want an error", bad, found)
		}
	}
	still := append(make([]block, 2*skippedPairs), block{on: true, cpu: 1, wall: 1}, block{cpu: 1, wall: 1, work: 1})
	all = [2][][2]float64{}
	if addPairs(&all, still); len(all[0]) != 0 {
		t.Errorf("a block without work: %v", all)
	}
}

// Pairs end when the interval is narrow, and else when the time is over.
func TestUntil(t *testing.T) {
	c := Config{Limit: time.Hour, Log: io.Discard}
	w, err := c.until("p", 2, func(n int) (way, error) {
		return way{n: n + 1, cpu: result.Estimate{Value: 1, Low: 1 - 0.05/float64(n+1), High: 1 + 0.05/float64(n+1)}}, nil
	})
	if err != nil || w.n != 6 {
		t.Errorf("%+v, %v, want 6 pairs", w, err)
	}
	c.Limit = time.Nanosecond
	w, err = c.until("p", 2, func(n int) (way, error) {
		return way{n: n + 1, cpu: result.Estimate{Low: math.NaN(), High: math.NaN()}}, nil
	})
	if err != nil || w.n != 2 {
		t.Errorf("%+v, %v, want 2 pairs", w, err)
	}
}

func TestCountedText(t *testing.T) {
	p := program{"small", "a small program", tool.Program{JDK: testjvm.JDK{Full: "25.0.1"}}}
	found := costs{tool.Executions: {[]float64{50, 50}, []float64{1000, 1000}}}
	one := countedRun{agent: 0.1, shadow: 0.5, record: 0.2, kernel: 0.05, tracings: 100_000, program: 10,
		events: map[string]uint64{tool.Executions: 1_000_000}, hot: map[string]float64{tool.Executions: 0.05}, cold: map[string]float64{tool.Executions: 1}}
	got := countedText(p, []countedRun{one, one}, found, nil)
	for _, want := range []string{
		"| the agent's own threads          |           |         |       |  0.100 |      |                     1.00 % |        |",
		"| probes: executions               | 1,000,000 |    50.0 | 1,000 | 0.0500 | 1.00 |                    0.500 % | 10.0 % |",
		"| eBPF programs in the kernel      |   100,000 |     500 |       | 0.0500 |      |                    0.500 % |        |",
		"| all of these                     |           |         |       |  0.200 | 1.15 |                     2.00 % | 11.5 % |",
		"| the shadow, a process of its own |           |         |       |  0.500 |      |                     5.00 % |        |",
		"| of that the scheduling record    |           |         |       |  0.200 |      |                     2.00 % |        |",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if got := countedText(p, []countedRun{one}, found, context.DeadlineExceeded); !strings.Contains(got, "not available: "+context.DeadlineExceeded.Error()) {
		t.Errorf("no reason in\n%s", got)
	}
}

func TestColdText(t *testing.T) {
	tools := []tool.Tool{{Name: "plain"}, {Name: "ours"}, {Name: "broken"}}
	plain := map[string]float64{"execution": 8, "cold-execution": 250, "creation": 10, "cold-creation": 300}
	ours := map[string]float64{"execution": 68, "cold-execution": 1450, "creation": 20, "cold-creation": 500}
	got := coldText(testjvm.JDK{Full: "25.0.1"}, tools, [][]map[string]float64{{plain}, {ours}, nil}, []error{nil, nil, context.Canceled})
	for _, want := range []string{
		"| plain  |         8.00 |   250 |       10.0 |  300 |",
		"| ours   |         60.0 | 1,200 |       10.0 |  200 |",
		"| broken |       failed |",
		"broken failed: context canceled",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}
