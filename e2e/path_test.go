package e2e_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// pathRow is a row of `shadow path --format json`.
type pathRow struct {
	Class string
	Ns    float64            `json:"path_ns"`
	Kinds map[string]float64 `json:"kinds"`
}

// whatif is `shadow whatif --format json`.
type whatif struct {
	RecordedNs  float64  `json:"recorded_ns"`
	ReplayedNs  float64  `json:"replayed_ns"`
	PredictedNs *float64 `json:"predicted_ns"`
	CannotTell  string   `json:"cannot_tell"`
}

// shapes are runs of examples/path. The work is sleep: the path by class is computed by hand.
var shapes = []struct {
	name    string
	args    []string
	on      map[string]float64 // ms of sleep on the critical path
	change  []string           // flags of shadow whatif
	changed []string           // the program with the change made
	blind   bool               // who ended its waits is not known without a scheduling record
}{
	// 12 jobs of 100 ms on 2 threads: 6 rounds; on 4 threads 3.
	{"pool", []string{"pool", "2", "100"}, map[string]float64{"Main$Job": 600}, []string{"--pool", "pool-1=4"}, []string{"pool", "4", "100"}, false},
	// 10 ms for the first element, then 20 times the 60 ms of the slower one; 30 ms if it is twice as fast.
	{"pipeline", []string{"pipeline", "1", "60"}, map[string]float64{"Main$Producer": 10, "Main$Consumer": 1200}, []string{"--faster", "Main$Consumer=2"}, []string{"pipeline", "1", "30"}, false},
	// 64 leaves of 12 ms on 2 threads: 32 rounds; on 4 threads 16. Which worker steals what is chance, and costs a round now and then.
	{"tree", []string{"tree", "2", "12"}, map[string]float64{"Main$Node": 384}, []string{"--pool", "ForkJoin=4"}, []string{"tree", "4", "12"}, false},
	// 5 ms outside, then 4 threads 5 times 40 ms inside: the lock is never free.
	{"convoy", []string{"convoy", "4", "40"}, map[string]float64{"Main$Waiter": 805}, nil, nil, true},
	// The same with a lock of java.util.concurrent; with one each, 5 times 5 + 40 ms.
	{"locks", []string{"locks", "4", "40"}, map[string]float64{"Main$Locker": 805}, []string{"--free", "ReentrantLock$NonfairSync"}, []string{"unlocked", "4", "40"}, false},
	// 20 requests of 20 ms, for which the clients wait.
	{"served", []string{"served", "4", "20"}, map[string]float64{"Main$Handler": 400}, []string{"--faster", "Main$Handler=2"}, []string{"served", "4", "10"}, false},
	// 10 requests of 40 ms, handed on by threads of the JDK's HTTP client.
	{"web", []string{"web", "10", "40"}, map[string]float64{"sun.net.httpserver.ServerImpl$Exchange": 400}, nil, nil, true},
	// 6 rounds of 60 ms: on JDK 17 each on a new thread.
	{"futures", []string{"futures", "6", "60"}, map[string]float64{"Main.lambda$futures$0 (Main.java:79)": 360}, []string{"--faster", "Main.lambda$futures$0 (Main.java:79)=2"}, []string{"futures", "6", "30"}, true},
	// The first request's 5 ms, 12 queries of 60 ms one after the other, the last request's 5 ms. Two at a time: half the queries.
	{"pools", []string{"pools", "1", "60"}, map[string]float64{"Main$Request": 10, "Main$Query": 720}, []string{"--pool", "pool-2=2"}, []string{"pools", "2", "60"}, false},
}

// advised are runs of the examples of advice, and changes that stand for following it.
var advised = []struct {
	example, mode string
	vm            []string
	change        []string
}{
	{"advice", "explicit-collections", nil, []string{"--no-gc", "System.gc()"}},
	{"virtualadvice", "pinned-threads", []string{"-Djdk.virtualThreadScheduler.parallelism=2", "-Djdk.virtualThreadScheduler.maxPoolSize=2"}, []string{"--unpin"}},
}

// TestWhatifOfAdvice: what is predicted for a program without its collections, or without pinned threads, is how long the program
// takes with the advice followed.
func TestWhatifOfAdvice(t *testing.T) {
	testjvm.Alone(t, "how long a run takes depends on the processors it gets")
	for _, jdk := range testjvm.JDKsInTurn(t) {
		for _, x := range advised {
			example := testjvm.Example(t, x.example)
			if jdk.Version < example.MinJDK {
				continue
			}
			t.Run(jdk.String()+"/"+x.mode, func(t *testing.T) {
				profile := func(args ...string) testjvm.Profile {
					c := example.Command(t, jdk)
					c.Args, c.VM = args, append(c.VM, x.vm...)
					return c.Profile(t)
				}
				attempt := 0
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					attempt++
					before := testjvm.Processors(t)
					p := profile(x.mode)
					others := testjvm.Processors(t).Others(before, p.CPU)
					_, recorded := bottleOf(t, p)
					needRecord(t, recorded)
					predicted, real := predict(t, p, x.change...), predict(t, profile(x.mode, "fixed"), "--cpus", "2")
					switch {
					case predicted.PredictedNs == nil && others >= othersTooMuch && attempt >= attemptsAmongOthers:
						t.Logf("other programs had %.0f %% of the processors: rightly %s", 100*others, predicted.CannotTell)
					case predicted.PredictedNs == nil:
						a.Errorf("cannot tell: %s", predicted.CannotTell)
					case math.Abs(*predicted.PredictedNs/real.RecordedNs-1) > 0.2:
						a.Errorf("predicted %.0f ms, with the advice followed %.0f ms (was %.0f ms)", *predicted.PredictedNs/1e6, real.RecordedNs/1e6, predicted.RecordedNs/1e6)
					}
				})
			})
		}
	}
}

// TestPath: the critical path of known programs is the one computed by hand, and what is predicted of a change is how
// long the program takes with the change made.
func TestPath(t *testing.T) {
	testjvm.Alone(t, "sleeps are late on a busy machine")
	for k, jdk := range testjvm.JDKsInTurn(t) {
		classpath := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "path"))
		profile := func(t *testing.T, args []string) testjvm.Profile {
			return testjvm.Command{JDK: jdk, VM: []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"}, Classpath: classpath, Main: "Main", Args: args}.Profile(t)
		}
		for i, shape := range shapes {
			if !full() && i%2 != k%2 {
				continue // each JDK has one half of them
			}
			t.Run(jdk.String()+"/"+shape.name, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := profile(t, shape.args)
					if _, recorded := bottleOf(t, p); !recorded {
						checkWithoutRecord(t, a, p, shape.on, shape.blind)
						return
					}
					checkPath(t, a, p, shape.on)
					if shape.change == nil {
						return
					}
					predicted, real := predict(t, p, shape.change...), predict(t, profile(t, shape.changed), "--cpus", "2")
					switch {
					case predicted.PredictedNs == nil:
						a.Errorf("cannot tell: %s", predicted.CannotTell)
					case math.Abs(*predicted.PredictedNs/real.RecordedNs-1) > 0.2:
						a.Errorf("predicted %.0f ms, the changed program takes %.0f ms (was %.0f ms)", *predicted.PredictedNs/1e6, real.RecordedNs/1e6, predicted.RecordedNs/1e6)
					}
				})
			})
		}
	}
}

// TestWhatifOfConcurrentCollector: most of what ZGC does for System.gc() is no pause.
func TestWhatifOfConcurrentCollector(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		c := testjvm.Example(t, "advice").Command(t, jdk)
		c.Args, c.VM = []string{"explicit-collections"}, append(c.VM, "-XX:+UseZGC")
		p := c.Profile(t)
		_, recorded := bottleOf(t, p)
		needRecord(t, recorded)
		if got := predict(t, p, "--no-gc", "System.gc()"); got.PredictedNs != nil {
			t.Errorf("%s: %+v", jdk, got)
		}
	}
}

// TestWhatifOfSummaries: of a class whose executions are in summaries, all of them or all but the first, nothing can be said.
func TestWhatifOfSummaries(t *testing.T) {
	testjvm.Shared(t)
	jdk := testjvm.JDKs(t)[0]
	for _, detail := range []string{"auto", "summary"} {
		c := testjvm.Example(t, "advice").Command(t, jdk)
		c.Args, c.Agent = []string{"fine-grained"}, append(slices.Clip(c.Agent), "--detail", detail)
		p := c.Profile(t)
		for _, change := range []string{"--faster", "--split"} {
			if got := predict(t, p, change, "Main$Tiny=2"); got.PredictedNs != nil || !strings.Contains(got.CannotTell, "executions of Main$Tiny were summarised") {
				t.Errorf("%s, %s: %+v", detail, change, got)
			}
		}
	}
}

func predict(t *testing.T, p testjvm.Profile, flags ...string) (answer whatif) {
	t.Helper()
	ask(t, p, &answer, append([]string{"whatif", p.Dir, "--format", "json"}, flags...)...)
	return answer
}

// TestPathWithoutSchedulingRecord: the agent's waits say as much of the path, but for who left a monitor and whom main waited for:
// then the path has no more sleep than by hand, names the rest as not known, and there is no prediction.
func TestPathWithoutSchedulingRecord(t *testing.T) {
	testjvm.Alone(t, "sleeps are late on a busy machine")
	for k, jdk := range testjvm.JDKsInTurn(t) {
		classpath := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "path"))
		for i, shape := range shapes {
			if !full() && i%2 == k%2 {
				continue // each JDK has the half that TestPath leaves out
			}
			t.Run(jdk.String()+"/"+shape.name, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					p := testjvm.Command{JDK: jdk, VM: []string{"-Djava.util.concurrent.ForkJoinPool.common.parallelism=1"}, Classpath: classpath, Main: "Main",
						Args: shape.args, Agent: []string{"--switches", "off"}}.Profile(t)
					checkWithoutRecord(t, a, p, shape.on, shape.blind)
				})
			})
		}
	}
}

// checkWithoutRecord is checkPath for a session without a scheduling record.
func checkWithoutRecord(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, on map[string]float64, blind bool) {
	t.Helper()
	if !blind {
		checkPath(t, a, p, on)
		return
	}
	var want, sleep, unknown, whole float64
	for _, ms := range on {
		want += ms * 1e6
	}
	for _, r := range pathOf(t, p) {
		sleep, unknown, whole = sleep+r.Kinds["sleep"], unknown+r.Kinds["not known"], whole+r.Ns
	}
	if sleep > 1.05*want || sleep+unknown < 0.95*want {
		a.Errorf("%.0f ms of sleep and %.0f not known on the path, by hand %.0f of sleep", sleep/1e6, unknown/1e6, want/1e6)
	}
	if got := predict(t, p, "--cpus", "2"); got.RecordedNs != whole || got.PredictedNs != nil && unknown > 0.25*whole {
		t.Errorf("%.0f of %.0f ms are not known: %+v", unknown/1e6, whole/1e6, got)
	}
}

func pathOf(t *testing.T, p testjvm.Profile) (rows []pathRow) {
	t.Helper()
	if err := json.Unmarshal(p.Shadow(t, "path", p.Dir, "--format", "json"), &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// checkPath compares the sleep on the path by class, and that the path adds up.
func checkPath(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, on map[string]float64) {
	t.Helper()
	rows := pathOf(t, p)
	got, whole := map[string]float64{}, 0.0
	for _, r := range rows {
		got[r.Class], whole = r.Kinds["sleep"]/1e6, whole+r.Ns
	}
	for class, want := range on {
		if math.Abs(got[class]-want) > 0.05*want {
			a.Errorf("%s: %.1f ms of sleep on the path, by hand %.0f (all: %v)", class, got[class], want, rows)
		}
	}
	if recorded := predict(t, p, "--cpus", "2").RecordedNs; whole != recorded {
		t.Errorf("the path adds up to %.0f ns, the run took %.0f ns", whole, recorded)
	}
}
