package e2e_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"stackagent/agent/plans"
	"stackagent/internal/testjvm"
	"stackagent/internal/testnats"
)

// The fault loop: a program that makes tasks as fast as it can, a fault at a
// random moment, and then the account. STACKAGENT_FAULTS is how often each
// fault happens (make faults N=50), STACKAGENT_SEED repeats a loop.

// round is one run of the flood with one fault.
type round struct {
	*testing.T
	rng    *rand.Rand
	jdk    testjvm.JDK
	detail string
	long   bool // a long outage, where the fault has one

	base, store, session string // folders
	tasks                int    // of each thread; 0: as many as it can
	exit                 int    // code of the program
	millis               int    // length of its run; 0: floodMillis
	vm                   []string
	settings             []string // more options of the agent
	wrap                 []string // in front of the program's command line
	server               *server
	proxy                *proxy
	java                 *process
	cluster              *testnats.Cluster // the bus where it is not the shadow's own
	busFlags             []string          // of a shadow that joins it
}

// faults by name. Each gets a running program and leaves a bus that works.
var faults = []struct {
	name    string
	prepare func(r *round) // may be nil
	inject  func(r *round)
	full    bool // not in every test
}{
	{"shadow killed", nil, shadowKilled, true},
	{"bus unreachable", nil, busUnreachable, false},
	{"connection cut", nil, connectionCut, false},
	{"shadow stopped", nil, shadowStopped, false},
	{"disk full", smallStore, diskFull, true},
	{"JVM ends without bus", nil, endsWithoutBus, true},
	{"bus full", smallBus, shadowAway, false},
	{"node killed", threeNodes, nodeKilled, true},
	{"leader killed", threeNodes, leaderKilled, true},
	{"another clock", otherClock, nothing, false},
	{"clock stepped", mayStepClock, clockStepped, false},
}

const (
	floodMillis = 2500
	floodTasks  = 150_000 // of each of three threads
	tmpEnv      = "TMPDIR="

	// A flood that the test ends or kills, however late on a slow machine.
	floodForever = 1_000_000

	stepClock = "STACKAGENT_STEP_CLOCK" // lets a fault step the wall clock of the machine
)

// untilStopped lets the flood run at the rate of tasks in a time, until stopFlood.
func (r *round) untilStopped(tasks int, in time.Duration) {
	r.millis = floodForever
	r.tasks = tasks * floodForever / int(in.Milliseconds())
}

func (r *round) stopFlood() {
	if err := os.WriteFile(r.counts()+".stop", nil, 0o600); err != nil {
		r.Fatal(err)
	}
}

// rounds is how often each fault happens.
func rounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("STACKAGENT_FAULTS")
	if text == "" {
		return 1
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("STACKAGENT_FAULTS=%s: want a number from 1", text)
	}
	return n
}

// seed of the loop; printed, so that a failure can be repeated.
func seed(t *testing.T) uint64 {
	t.Helper()
	s := uint64(time.Now().UnixNano())
	if text := os.Getenv("STACKAGENT_SEED"); text != "" {
		var err error
		if s, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("STACKAGENT_SEED: %v", err)
		}
	}
	t.Logf("STACKAGENT_SEED=%d", s)
	return s
}

// eachRound calls f for every round of a fault, each with its own seed.
func eachRound(t *testing.T, n int, f func(r *round)) {
	t.Helper()
	s, jdks := seed(t), testjvm.JDKs(t)
	for i := range n {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(s, uint64(i)))
			r := &round{T: t, rng: rng, jdk: jdks[rng.IntN(len(jdks))], detail: []string{"all", "auto"}[rng.IntN(2)],
				tasks: floodTasks, exit: rng.IntN(50), long: i%25 == 24}
			if rng.IntN(10) == 0 {
				r.tasks = 0
			}
			r.folders()
			f(r)
			r.nothingLeft()
		})
	}
}

// sharedUnlessClockSteps lets a test run beside others if no fault steps the machine's clock.
func sharedUnlessClockSteps(t *testing.T) {
	t.Helper()
	if os.Getenv(stepClock) != "" {
		testjvm.Alone(t, "it steps the machine's clock")
		return
	}
	testjvm.Shared(t)
}

func TestFaultLoop(t *testing.T) {
	sharedUnlessClockSteps(t)
	for _, fault := range faults {
		t.Run(strings.ReplaceAll(fault.name, " ", "_"), func(t *testing.T) {
			sharedUnlessClockSteps(t)
			if fault.full && !full() && os.Getenv("STACKAGENT_FAULTS") == "" {
				t.Skip("STACKAGENT_E2E=full: TestFaultBusRestarts, TestFaultDiskFull, TestFaultNoBus and a test of shadow/collect/ingest do the same at one moment")
			}
			eachRound(t, rounds(t), func(r *round) {
				if fault.prepare != nil {
					fault.prepare(r)
				}
				r.begin()
				r.waitRandom()
				fault.inject(r)
				r.finish()
			})
		})
	}
}

func (r *round) folders() {
	r.base = r.TempDir()
	for _, name := range []string{"tmp", "spool"} {
		if err := os.Mkdir(filepath.Join(r.base, name), 0o700); err != nil {
			r.Fatal(err)
		}
	}
	r.store = filepath.Join(r.base, "store")
	r.session = filepath.Join(r.store, "flood")
}

// env is the environment of all processes: what they leave behind is found.
func (r *round) env() []string { return []string{tmpEnv + filepath.Join(r.base, "tmp")} }

func (r *round) counts() string { return filepath.Join(r.base, "counts") }

// program is the command line of the flood.
func (r *round) program(vm ...string) []string {
	dir := filepath.Join(testjvm.Root(r), "e2e", "testdata", "flood")
	millis := cmp.Or(r.millis, floodMillis)
	c := testjvm.Command{JDK: r.jdk, VM: append(r.vm, vm...), Classpath: testjvm.Compile(r.T, r.jdk, dir), Main: "Flood",
		Args: []string{r.counts(), strconv.Itoa(millis), strconv.Itoa(r.tasks), strconv.Itoa(r.exit)}}
	return c.Java()
}

// begin starts a shadow, and the program with its bus behind a proxy.
func (r *round) begin() {
	settings := append([]string{"session=flood", "detail=" + r.detail, "spool=" + filepath.Join(r.base, "spool")}, r.settings...)
	r.serve()
	if r.cluster != nil {
		settings = append(settings, "bus="+strings.ReplaceAll(r.cluster.URL(), ",", ";"))
	} else {
		r.proxy = newProxy(r.T, r.server.addr)
		settings = append(settings, "bus=nats://"+r.proxy.Addr().String(), "tokenfile="+filepath.Join(r.store, "token"))
	}
	r.java = start(r.T, r.env(), append(r.wrap, r.program(agentFlag(r.T, settings...))...)...)
	r.readPID()
}

// serve starts the shadow, on the same bus and store as before if there was one.
func (r *round) serve() {
	switch {
	case r.cluster != nil:
		r.server = serveWith(r.T, strings.TrimPrefix(r.cluster.Nodes[0].URL, "nats://"), r.store, append(r.busFlags, "--nats", r.cluster.URL()), r.env()...)
		waitFile(r.T, r.store)
	case r.server != nil:
		r.server = serve(r.T, r.server.addr, r.store, r.env()...)
	default:
		r.server = serve(r.T, freeAddr(r.T), r.store, r.env()...)
	}
}

func waitFile(t *testing.T, path string) {
	t.Helper()
	waitFor(t, path+" appears", func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// readPID waits for the program's first line.
func (r *round) readPID() (pid int) {
	r.Helper()
	line, err := r.java.stdout.ReadString('\n')
	if _, scanErr := fmt.Sscanf(line, "pid %d", &pid); err != nil || scanErr != nil {
		r.Fatalf("the program's first line is %q: %v\n%s", line, err, r.java.stderr.String())
	}
	return pid
}

// waitRandom waits for a random moment of the program's run.
func (r *round) waitRandom() {
	time.Sleep(r.random(100*time.Millisecond, floodMillis*time.Millisecond))
}

func (r *round) random(from, to time.Duration) time.Duration {
	return from + time.Duration(r.rng.Int64N(int64(to-from)))
}

// outage is how long something is away.
func (r *round) outage() time.Duration {
	if r.long {
		return 30 * time.Second
	}
	return r.random(100*time.Millisecond, 3*time.Second)
}

// finish waits for the program's end, delivers what it left, and takes stock.
func (r *round) finish() {
	began := time.Now()
	if out, exit := r.java.end(r.T); exit != r.exit || out != "done\n" {
		r.Errorf("exit %d, want %d, stdout %q\n%s", exit, r.exit, out, r.java.stderr.String())
	}
	ended := time.Since(began)
	r.deliver()
	waitEnded(r.T, r.session)
	stored := time.Since(began)
	r.server.stop(r.T)
	a := readAccount(r.T, r.session, r.detail == "all")
	a.check(r.T, readCounts(r.T, r.counts()), true)
	readableClass(r.T, r.session, "Flood$Rare")
	r.Logf("%v, detail=%s, %d tasks: %v; after the fault the program ended in %v, its session in %v, the account in %v",
		r.jdk, r.detail, r.tasks, a, ended, stored, time.Since(began))
	if r.Failed() {
		r.Logf("the program said:\n%s\nthe shadow said:\n%s", r.java.stderr.String(), r.server.stderr.String())
	}
}

// deliver brings what the agent has left in its spool file to the shadow.
func (r *round) deliver() {
	spool := filepath.Join(r.base, "spool")
	if found, _ := filepath.Glob(filepath.Join(spool, "*.spool")); len(found) == 0 {
		return
	}
	flags := []string{"--nats", "nats://" + r.server.addr, "--token-file", filepath.Join(r.store, "token")}
	if r.cluster != nil {
		flags = []string{"--nats", r.cluster.URL()}
	}
	e := shadow(r.T, append(append([]string{"deliver"}, flags...), spool)...)
	if e.exit != 0 || !strings.Contains(e.err, "delivered from") {
		r.Errorf("shadow deliver: %+v", e)
	}
	r.Logf("%s", strings.TrimSpace(e.err))
}

// keptPlans is the folder that the agent keeps for the next JVM, among temporary files.
var keptPlans = filepath.Base(plans.DefaultFolder())

// nothingLeft checks that no process and no temporary file is left.
func (r *round) nothingLeft() {
	for _, dir := range []string{"tmp", "spool"} {
		err := filepath.WalkDir(filepath.Join(r.base, dir), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Name() == keptPlans {
				return filepath.SkipDir
			}
			if err == nil && !d.IsDir() && !strings.HasPrefix(d.Name(), "observer-") { // says that one answered: for the next JVM
				r.Errorf("left behind: %s", path)
			}
			return err
		})
		if err != nil {
			r.Error(err)
		}
	}
	for name, p := range map[string]*process{"program": r.java, "shadow": r.serverProcess()} {
		if p != nil && syscall.Kill(-p.Process.Pid, 0) == nil {
			r.Errorf("a process of the %s still runs", name)
		}
	}
}

func (r *round) serverProcess() *process {
	if r.server == nil {
		return nil
	}
	return r.server.process
}
