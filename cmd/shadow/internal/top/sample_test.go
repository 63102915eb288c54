package top

import (
	"fmt"
	"math"
	"time"

	"stackagent/shadow/analysis/advice"
	"stackagent/shadow/show/live"
)

func at[T any](v T) *T { return &v }

func ramp(n int) live.Points {
	p := make(live.Points, n)
	for i := range p {
		p[i] = float32(i % 20)
	}
	p[0] = float32(math.NaN())
	return p
}

// hostile is a name that would clear the screen, set its title and turn the direction of writing.
const hostile = "evil\x1b[2J\x1b]0;x\a\u202e\nname"

func sampleRow(program string, pid int) live.Row {
	return live.Row{
		Session: "box-" + fmt.Sprint(pid), Folder: fmt.Sprintf("box-%d-17", pid), Program: program, Host: "box", PID: pid, State: "running",
		StartedMs: 1e12, LagMs: 400, StartedRate: at(5012.2), FinishedRate: at(4998.0), QueueP99Ns: at(23.4e6),
		CPUs: []live.Share{{Key: "application", Value: 2.1}, {Key: "gc", Value: 0.11}}, Findings: 1,
		Sparks: live.Sparks{Finished: ramp(60), QueueP99Ns: ramp(60), CPUs: ramp(60), Lost: make(live.Points, 60)},
	}
}

func sampleFleet() *live.Fleet {
	quiet := live.Row{Session: "quiet", Folder: "quiet", Host: hostile, PID: 7, State: "starting"}
	return &live.Fleet{NowMs: 1e12, JVMs: []live.Row{sampleRow("com.acme.Tax", 4711), sampleRow(hostile, 4712), quiet}}
}

func sampleJVM() *live.JVM {
	flow := live.Flow{Finished: 299_880, Rate: 4998, Running: at(4.0), Queued: at(120.0), Spark: ramp(60),
		Queue: &live.Times{P50Ns: 1.2e6, P99Ns: 23.4e6}, Service: &live.Times{P50Ns: 2.1e5, P99Ns: 3.4e6}}
	slow := live.Flow{Finished: 12, Rate: 0.2, Running: at(12.0), Service: &live.Times{P50Ns: 8e9, P99Ns: 9e9}, Threw: 3}
	return &live.JVM{
		Row: sampleRow("com.acme.Tax", 4711), BucketNs: 1e9, EndNs: 192e9, NowNs: 192.5e9, WindowNs: 60e9,
		Series: []live.Series{{Key: "finished", Values: ramp(300)}},
		Totals: live.Totals{Finished: 959_616, Threw: 36, Running: at(16.0), GCPauses: 12, GCPauseNs: 3.4e7, Threads: 31},
		Classes: []live.Class{{Name: "com.acme.orders.checkout.ComputeTaxForOrder$Job", Flow: flow}, {Name: hostile, Flow: slow},
			{Name: "others", Flow: live.Flow{Finished: 3, Rate: 0.05}}},
		Executors: []live.Executor{{ID: 1, Name: "tax", Class: "java.util.concurrent.ThreadPoolExecutor", Site: "Orders.java:6", Workers: 1, Flow: flow}},
		Running:   []live.Open{{Task: "17", Class: hostile, Executor: "tax", Thread: "pool-1-thread-1", Site: "Orders.java:31", AgeNs: 9.2e9}},
		Findings: []live.Held{{Finding: advice.Finding{Rule: "single-thread-pool", Kind: advice.Advice, Title: "Pool tax has one thread and 120 tasks wait for it",
			Text: "Give the pool at Orders.java:6 as many threads as CPUs."}, SinceNs: 100e9}},
		Past:    []live.Held{{Finding: advice.Finding{Rule: "x", Kind: advice.Advice, Title: hostile}, SinceNs: 10e9, EndNs: at(90e9)}},
		Missing: map[string]string{"queued_now": "the agent records no submissions"},
	}
}

var sampleTime = time.Unix(1000, 0)

// sampleState looks at the sample.
func sampleState() *state {
	return &state{page: "http://127.0.0.1:7077", fleet: sampleFleet(), received: sampleTime, sorts: map[string]int{}, selected: map[string]string{}}
}

func sampleJVMState() *state {
	s := sampleState()
	s.folder, s.fleet, s.jvm = "box-4711-17", nil, sampleJVM()
	return s
}
