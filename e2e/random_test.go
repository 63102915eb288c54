package e2e_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/units"
	why "stackagent/shadow/analysis/account"
	"stackagent/shadow/analysis/graph"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// truth is a line that examples/random prints: what the response times of a class went to, by its own clock.
type truth struct {
	Seed  int64                  `json:"seed"`
	Class string                 `json:"class"`
	How   string                 `json:"how"` // its pool, and how its tasks are handed over
	Units int                    `json:"units"`
	Parts map[string][2]units.Ns `json:"parts"` // the minimum and maximum of each
	// HandingNs is how long the units waited while they handed others over: for the lock of a pool's queue, or inside the JVM until a new worker has started.
	HandingNs units.Ns `json:"handing_ns"`
	// Behind is, by part, which share of it depends on units of which class, minimum and maximum: who had the lock, in what the workers were. "idle": a worker had nothing to do.
	Behind map[string]map[string][2]float64 `json:"behind"`
}

// responseNs is the sum of the parts.
func (own *truth) responseNs() (sum units.Ns) {
	for _, p := range own.Parts {
		sum += (p[0] + p[1]) / 2
	}
	return sum
}

// RandomVariable is how many seeds TestRandomPrograms runs, or a range of them: "500", "120-139".
const RandomVariable = "STACKAGENT_RANDOM"

// Each JVM runs so many seeds, one after the other: the account keeps them apart by their classes.
const seedsEach = 4

func randomSeeds(t *testing.T) (first, last int) {
	t.Helper()
	text := os.Getenv(RandomVariable)
	switch {
	case text == "" && full():
		return 1, 60
	case text == "":
		return 1, seedsEach
	}
	from, to, ranged := strings.Cut(text, "-")
	if !ranged {
		from, to = "1", from
	}
	first, err := strconv.Atoi(from)
	last, err2 := strconv.Atoi(to)
	if err := cmp.Or(err, err2); err != nil || first < 1 || last < first {
		t.Fatalf("%s=%s: %v; want a number or FIRST-LAST", RandomVariable, text, err)
	}
	return first, last
}

// TestRandomPrograms: what the account divides the response times of random programs into is what they measured themselves.
func TestRandomPrograms(t *testing.T) {
	testjvm.Shared(t)
	randomPrograms(t, checkRandom)
}

// TestRandomSummarised: the parts are the same if the short tasks are only summed up; long ones still get a record. Where a library wraps a task, its time in the queue is then an estimate, which is not compared.
func TestRandomSummarised(t *testing.T) {
	testjvm.Shared(t)
	summarised, all := uint64(0), uint64(0)
	randomPrograms(t, func(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, worst *deviations) {
		t.Helper()
		m := checkSummarised(t, a, p, worst)
		summarised, all = summarised+m.Summarised.Executions, all+m.Stored.Executions
	}, "--detail", "summary")
	t.Logf("%d of %d executions were summarised", summarised, all)
	if summarised == 0 && !t.Skipped() {
		t.Error("nothing was summarised, so nothing was compared")
	}
}

func randomPrograms(t *testing.T, check func(*testing.T, *testjvm.Attempt, testjvm.Profile, *deviations), agent ...string) {
	t.Helper()
	if _, err := os.Stat("/proc/self/schedstat"); err != nil {
		t.Skipf("this kernel does not count how long a thread is ready for a CPU: %v", err)
	}
	first, last := randomSeeds(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "examples", "random"))
		worst := &deviations{worst: map[string]float64{}}
		for seed := first; seed <= last; seed += seedsEach {
			var args []string
			for s := seed; s < seed+seedsEach && s <= last; s++ {
				args = append(args, strconv.Itoa(s))
			}
			t.Run(jdk.String()+"/"+strings.Join(args, ","), func(t *testing.T) {
				cmd := testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: args, Agent: agent}
				var found deviations
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					found = deviations{worst: map[string]float64{}}
					p := cmd.Session
					if os.Getenv(RandomVariable) != "" { // not to keep hundreds of sessions
						p = cmd.Profile
					}
					check(t, a, p(t), &found)
				})
				worst.merge(&found)
			})
		}
		t.Logf("%s: %s", jdk, worst)
	}
}

// deviations are the largest of each kind of part in the last attempt of each program, beyond what the clocks leave open, as shares of the response times of their classes.
type deviations struct {
	worst          map[string]float64
	parts          int
	notKnown, time units.Ns
}

func (d *deviations) add(kind string, share float64) {
	d.parts++
	d.worst[kind] = max(d.worst[kind], share)
}

func (d *deviations) merge(x *deviations) {
	d.parts, d.notKnown, d.time = d.parts+x.parts, d.notKnown+x.notKnown, d.time+x.time
	for kind, share := range x.worst {
		d.worst[kind] = max(d.worst[kind], share)
	}
}

func (d *deviations) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d parts compared, %.2f %% not known; largest deviations:", d.parts, 100*float64(d.notKnown)/float64(max(1, d.time)))
	for _, kind := range slices.Sorted(maps.Keys(d.worst)) {
		fmt.Fprintf(&b, " %s %.2f %%", kind, 100*d.worst[kind])
	}
	return b.String()
}

func checkRandom(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, worst *deviations) {
	t.Helper()
	eachRandom(t, p, func(own *truth, c *why.Class) {
		compareRandom(a, own, c, worst)
		for part, want := range own.Behind {
			compareBehind(a, own, c, part, want, worst)
		}
	})
}

func checkSummarised(t *testing.T, a *testjvm.Attempt, p testjvm.Profile, worst *deviations) *store.Manifest {
	t.Helper()
	return eachRandom(t, p, func(own *truth, c *why.Class) {
		if !strings.HasSuffix(own.How, " EXECUTE") {
			delete(own.Parts, "queue")
		}
		compareRandom(a, own, c, worst)
	})
}

// eachRandom calls f with the truth and the account of each class, and returns the session's manifest.
func eachRandom(t *testing.T, p testjvm.Profile, f func(*truth, *why.Class)) *store.Manifest {
	t.Helper()
	if p.Exit != 0 {
		t.Fatalf("exit %d\n%s", p.Exit, p.Stderr)
	}
	s, err := session.Open(p.Dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Activity()
	needRecord(t, !errors.Is(err, session.ErrNoActivity))
	g, err := graph.Of(s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if why := g.NotKnown[graph.Waits]; why != "" {
		t.Fatalf("the threads' activity is recorded, and waits are not known: %s", why)
	}
	of := map[string]why.Class{}
	for _, c := range why.Of(g).Classes {
		of[c.Name] = c
	}
	for line := range strings.Lines(p.Stdout) {
		var own truth
		if err := json.Unmarshal([]byte(line), &own); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		c := of[own.Class]
		f(&own, &c)
	}
	return &s.Manifest
}

// partNames are how the account's parts begin, and which part of the truth they are.
var partNames = []struct{ prefix, kind string }{
	{"queued in ", "queue"},
	{"sleeps", "sleep"},
	{"waits for the lock ", "lock"},
	{"waits for the monitor ", "lock"},
	{"waits for a permit ", "permit"},
	{"waits for an element ", "element"},
	{"waits for a condition", "element"},
	{"waits for the end of ", "join"},
	{"waits for a CountDownLatch", "join"},
	{"waits for a CompletableFuture", "join"},
	{"waits for a FutureTask", "join"},
	{"is ready for a CPU", "ready"},
	{"computes", "compute"},
	{"is stopped by ", "stopped"},
	{"waits for the collector", "stopped"},
	{"waits inside the JVM", "other"},
}

func kindOf(what string) string {
	for _, n := range partNames {
		if strings.HasPrefix(what, n.prefix) {
			return n.kind
		}
	}
	return "not known"
}

// The program reads its clock around each part of a unit. A unit of a ForkJoinPool cannot: its pool does not say when it takes one.
const (
	readNs     = 20_000
	forkJoinNs = 60_000
)

// mostOff is how far a part may be off, as a share of the response times of its class.
const mostOff = 0.02

func compareRandom(a *testjvm.Attempt, own *truth, c *why.Class, worst *deviations) {
	if c.Units != own.Units {
		a.Errorf("seed %d: %s has %d units, the program counts %d", own.Seed, own.Class, c.Units, own.Units)
		return
	}
	got := map[string]units.Ns{}
	for _, p := range c.Parts {
		got[kindOf(p.What)] += p.Ns
	}
	all, each := own.responseNs(), units.Ns(readNs)
	if strings.HasPrefix(own.How, "ForkJoin") {
		each = forkJoinNs
	}
	clocks := each * units.Ns(own.Units)
	worst.notKnown, worst.time = worst.notKnown+got["not known"], worst.time+all
	open := got["not known"] + got["stopped"] // it may be of any kind: a task does not notice a stop of the JVM in which its wait ends
	for kind, want := range own.Parts {
		if kind == "lock" || kind == "other" {
			want[1] += max(0, own.HandingNs)
		}
		off := max(0, got[kind]-want[1])
		if off == 0 {
			off = min(0, got[kind]+open-want[0])
		}
		share := float64(max(0, off-clocks, -off-clocks)) / float64(all)
		worst.add(kind, share)
		if share > mostOff {
			a.Errorf("seed %d: %s (%d units, %s): %s %v, the program measures %v of %v; not known, or stopped: %v", own.Seed, own.Class, own.Units, own.How, kind, got[kind], want, all, open)
		}
	}
}

// errors of 2,000 draws beyond which a share is wrong; of the thousands of shares that 500 seeds have, none should be.
const (
	draws      = 2000
	mostErrors = 4.5
)

// compareBehind compares what a part depends on: how the second links of its chains are divided between classes.
func compareBehind(a *testjvm.Attempt, own *truth, c *why.Class, part string, want map[string][2]float64, worst *deviations) {
	got, all := map[string]float64{}, 0.0
	for _, x := range c.Chains {
		if len(x.Links) < 2 || kindOf(strings.TrimPrefix(x.Links[0], own.Class+" ")) != part {
			continue
		}
		class, does, _ := strings.Cut(x.Links[1], " ")
		switch {
		case strings.HasPrefix(does, "finds "):
			class = "idle"
		case strings.HasPrefix(does, "waits for something that is not known"), strings.HasPrefix(does, "waits for itself"):
			continue
		}
		got[class], all = got[class]+x.Share, all+x.Share
	}
	if all < 0.1 { // too few draws to divide
		return
	}
	for class, p := range want {
		share := got[class] / all
		middle := (p[0] + p[1]) / 2
		bound := mostOff/all + mostErrors*math.Sqrt(max(middle*(1-middle), 1/(draws*all))/(draws*all))
		off := max(0, share-p[1], p[0]-share)
		worst.add("behind "+part, off*all)
		if off > bound {
			a.Errorf("seed %d: %s (%d units, %s): %s behind %s: %.3f, the program measures %.3f ± %.3f", own.Seed, own.Class, own.Units, own.How, part, class, share, p, bound)
		}
	}
}
