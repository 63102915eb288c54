package e2e_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// waitRow is a row of shadow waits --by class.
type waitRow struct {
	For, Class string
	Waits      int64
	WaitedNs   float64 `json:"waited_ns"`
	MaxNs      float64 `json:"max_ns"`
}

// unitWaits is a row of shadow waits --by unit.
type unitWaits struct {
	Class      string
	Units      int64
	ResponseNs float64   `json:"response_ns"`
	QueueNs    float64   `json:"queue_ns"`
	WallNs     float64   `json:"wall_ns"`
	CPUNs      float64   `json:"cpu_ns"`
	RunnableNs float64   `json:"runnable_ns"`
	LockNs     float64   `json:"lock_ns"`
	IONs       float64   `json:"io_ns"`
	SleepNs    float64   `json:"sleep_ns"`
	CarrierNs  float64   `json:"carrier_ns"`
	GCNs       float64   `json:"gc_ns"`
	OtherNs    float64   `json:"other_ns"`
	IdleNs     float64   `json:"idle_ns"`
	NotKnownNs float64   `json:"not_known_ns"`
	WaitedFor  []waitRow `json:"waited_for"`
}

// TestWaitsOfRequests: what requests wait for, by class and by unit of work, is what they measure themselves, with a
// scheduling record and without.
func TestWaitsOfRequests(t *testing.T) {
	testjvm.Alone(t, "time for a processor is in its own measurement of short waits")
	for _, v := range variants(t, 1, "auto") {
		for _, switches := range []string{"off", "auto"} {
			t.Run(v.String()+"/"+switches, func(t *testing.T) {
				classes := testjvm.Compile(t, v.jdk, filepath.Join(testjvm.Root(t), "examples", "waits"))
				cmd := testjvm.Command{JDK: v.jdk, Classpath: classes, Main: "Main", Args: []string{"12", "60"}, Agent: []string{"--switches", switches}}
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := cmd.Session(t)
					if p.Exit != 0 {
						t.Fatalf("exit code %d\n%s", p.Exit, p.Stderr)
					}
					checkRequestWaits(t, a, p, switches == "auto")
				})
			})
		}
	}
}

func checkRequestWaits(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, record bool) {
	t.Helper()
	var requests int64
	var wall, semaphore, monitor, sleep float64
	if n, err := fmt.Sscanf(p.Stdout, "requests %d wall %g semaphore %g monitor %g sleep %g", &requests, &wall, &semaphore, &monitor, &sleep); n != 5 {
		t.Fatalf("%v in %q", err, p.Stdout)
	}
	own := map[string]float64{"Semaphore": semaphore, "Main$Log": monitor, "Thread.sleep": sleep}
	byClass := map[string]waitRow{}
	for _, r := range waitListing[waitRow](t, p, "class") {
		byClass[r.Class] = r
	}
	for class, want := range own {
		asMeasured(a, "by class: "+class, byClass[class].WaitedNs, want)
	}
	if s := byClass["Thread.sleep"]; s.For != "sleep" || s.Waits != 2*requests {
		t.Errorf("%+v: %d requests sleep twice", s, requests)
	}
	if byClass["Semaphore"].For != "synchronizer" || byClass["Main$Log"].For != "monitor" {
		t.Errorf("%+v", byClass)
	}
	found := false
	for _, u := range waitListing[unitWaits](t, p, "unit") {
		if sum := u.QueueNs + u.CPUNs + u.RunnableNs + u.LockNs + u.IONs + u.SleepNs + u.CarrierNs + u.GCNs + u.OtherNs + u.IdleNs + u.NotKnownNs; sum != u.ResponseNs {
			t.Errorf("%s: the parts add up to %g: %+v", u.Class, sum, u)
		}
		if u.Units < requests || u.Class != "sun.net.httpserver.ServerImpl$Exchange" {
			continue
		}
		found = true
		for _, f := range u.WaitedFor {
			if want := own[f.Class]; want != 0 {
				asMeasured(a, "by unit: "+f.Class, f.WaitedNs, want)
				delete(own, f.Class)
			}
		}
		if len(own) != 0 {
			t.Errorf("not named: %v in %+v", own, u.WaitedFor)
		}
		if u.WallNs < wall || (u.RunnableNs > 0) != record || u.LockNs+u.SleepNs < 0.8*wall {
			t.Errorf("the requests measure %g: %+v", wall, u)
		}
	}
	if !found {
		t.Error("no row of the requests")
	}
}

// asMeasured compares a time with the program's clock, which it reads around the wait: until the thread waits, and after it, others may
// have the processor. So the program's is never the shorter one, but for what it takes to convert clocks.
func asMeasured(a *testjvm.Attempt, what string, got, want float64) {
	if got > 1.001*want || got < 0.98*want {
		a.Errorf("%s: %g ns, the program measured %g", what, got, want)
	}
}

// waitListing are the rows of shadow waits.
func waitListing[T any](t *testing.T, p testjvm.Profile, by string) (rows []T) {
	t.Helper()
	if err := json.Unmarshal(p.Shadow(t, "waits", p.Dir, "--by", by, "--format", "json"), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}
