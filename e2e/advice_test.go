package e2e_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/hpc/sched"
	"stackagent/internal/testjvm"
)

// defect is a mode of examples/advice, which must get the advice of its name and
// no other; `fixed` is the same program with that advice followed.
type defect struct {
	name string
	// atOnce: the processor time it takes does not matter to whether it is found,
	// and no scheduling record is needed.
	atOnce bool
	quick  bool // in every test; the others burn processor time, and want STACKAGENT_E2E=full
	// alone: not found where others want the processors much, as what it shows by is then theirs.
	alone bool
	// auto: it is recorded as by default, as a record of each of very many tasks takes longer than what is found.
	auto    bool
	noTime  bool // mending it is not about time
	same    bool // mended it takes as long
	unknown bool // there must be no prediction of what mending it gains
	// virtual: it is a mode of examples/virtualadvice, which has only advice of the name
	// pinned-threads.
	virtual bool
	until   int // the last JDK that has it; 0: all have
	// vm and fixedVM are options of the JVM, as it is and with the advice followed.
	vm, fixedVM []string
	advised     string // the advice's name, if not the defect's
	// fixedAdvice is what it gets when mended: it has another problem, which the first hid.
	fixedAdvice string
	second      string // advice that it gets, too: it has two defects
	none        bool   // it gets no advice, and there is nothing to fix
	noFix       bool   // there is no program with the advice followed
}

// source is the example that has it.
func (d defect) source(t *testing.T) testjvm.Oracle {
	t.Helper()
	if d.virtual {
		return testjvm.Example(t, "virtualadvice")
	}
	return testjvm.Example(t, "advice")
}

// advice is what it must get.
func (d defect) advice() string {
	if d.virtual {
		return "pinned-threads"
	}
	return cmp.Or(d.advised, d.name)
}

// fixedNames are what it must get with the advice followed.
func (d defect) fixedNames() []string {
	if d.fixedAdvice == "" {
		return nil
	}
	return []string{d.fixedAdvice}
}

// noDelay: without it an answer's second part waits for the client's delayed acknowledgement.
var noDelay = []string{"-Dsun.net.httpserver.nodelay=true"}

var defects = []defect{
	{name: "fine-grained", auto: true, atOnce: true, quick: true, unknown: true},
	{name: "never-executed", atOnce: true, quick: true, noTime: true},
	{name: "good", quick: true, none: true},
	{name: "client", quick: true, none: true},
	{name: "turns", advised: "one-by-one", noFix: true},
	{name: "relayed", quick: true, noFix: true, advised: "occupied"},
	{name: "nested", none: true},
	{name: "overlapped", alone: true, none: true},
	{name: "at-once", atOnce: true, none: true},
	{name: "locked-waiting", advised: "held", fixedAdvice: "occupied"},
	{name: "monitor-waiting", advised: "held", fixedAdvice: "occupied"},
	{name: "served", same: true, advised: "few-workers", alone: true},
	{name: "garbage-collection", unknown: true, vm: []string{"-XX:+UseParallelGC", "-Xmx128m"}, fixedVM: []string{"-XX:+UseParallelGC", "-Xmx2400m", "-Xmn2200m"}},
	{name: "slow-producer", quick: true},
	{name: "explicit-collections", quick: true},
	{name: "contended-lock", advised: "held", quick: true, vm: noDelay, fixedVM: noDelay},
	{name: "contended-locks", unknown: true, advised: "held", second: "held", vm: noDelay, fixedVM: noDelay},
	{name: "waiting-tasks", advised: "occupied"},
	{name: "coarse-grained", advised: "uneven-parts", unknown: true},
	{name: "load-imbalance", advised: "uneven-parts", unknown: true},
	{name: "pool-too-small", advised: "few-workers"},
	{name: "pool-too-large", alone: true, same: true},
	{name: "self-wait", advised: "waits-for-itself"},
	{name: "one-at-a-time", advised: "held", alone: true},
	{name: "thread-churn", unknown: true, atOnce: true},
	{name: "deep-nesting", noTime: true},
	{name: "swallowed-exceptions", noTime: true},
	{name: "late-periods", advised: "few-workers", noTime: true},
	{name: "priority", advised: "order", noTime: true},
	{name: "kept-cancelled", atOnce: true, noTime: true},
	{name: "ended-periodic", atOnce: true, noTime: true},
	{name: "backlog", noTime: true, alone: true},
	{name: "pinned-threads", atOnce: true, quick: true, virtual: true},
	{name: "synchronized", atOnce: true, quick: true, virtual: true, until: 23},
}

// othersTooMuch is the share of the processors that other programs have from
// which what is found in a program rightly differs, or is no test of it.
const othersTooMuch = 0.3

// attemptsAmongOthers is after how many attempts it is given up then.
const attemptsAmongOthers = 3

// TestAdvice runs programs with one defect each. What is found rests on what the
// threads did and wanted to do, so that it is true on a busy machine; where
// others have half of the processors, a pool is rightly not called too large.
func TestAdvice(t *testing.T) {
	testjvm.Alone(t, "what is found depends on the processors it gets")
	eachDefect(t, defects, func(t *testing.T, jdk testjvm.JDK, d defect) {
		var want []string
		if !d.none {
			want = []string{d.advice()}
			if d.second != "" {
				want = append(want, d.second)
			}
		}
		wantAdvice(t, jdk, d, want, d.name)
		if want != nil && !d.noFix {
			wantAdvice(t, jdk, d, d.fixedNames(), d.name, "fixed")
		}
	})
}

// TestAdviceDetails: how much is recorded one by one changes no advice. But where each of 200,000 tiny tasks is recorded, the
// probes take longer than their submissions: then they are not said to be too small.
func TestAdviceDetails(t *testing.T) {
	testjvm.Alone(t, "what is found depends on the processors it gets")
	jdk := testjvm.JDKs(t)[0]
	modes := []string{"fast-and-slow", "good", "fine-grained"}
	if !full() {
		modes = modes[:2]
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) {
			testjvm.OneGood(t, func(a *testjvm.Attempt) {
				var got [2][]string
				for i, detail := range []string{"auto", "all"} {
					c := testjvm.Example(t, "advice").Command(t, jdk)
					c.Args, c.Agent = []string{mode}, []string{"--detail", detail}
					got[i] = adviceNames(c.Session(t).Advice(t))
				}
				if mode == "fast-and-slow" { // of the executor's size it speaks in any case
					got[0], got[1] = only(got[0], "few-workers"), only(got[1], "few-workers")
				}
				if !slices.Equal(got[0], got[1]) || (mode == "good") != (len(got[0]) == 0) {
					a.Errorf("advice %v with auto, %v with all", got[0], got[1])
				}
			})
		})
	}
}

// TestAdviceStalls: tasks that wait for a concurrent collector get the advice about the heap, and not that of tasks which
// wait for something else; with a larger heap they get none about waiting.
func TestAdviceStalls(t *testing.T) {
	testjvm.Alone(t, "what is found depends on the processors it gets")
	for _, jdk := range testjvm.JDKs(t) {
		if jdk.Version < 25 {
			continue
		}
		for _, collector := range []string{"-XX:+UseZGC", "-XX:+UseShenandoahGC"} {
			t.Run(jdk.String()+collector, func(t *testing.T) {
				testjvm.OneGood(t, func(a *testjvm.Attempt) {
					c := testjvm.Example(t, "advice").Command(t, jdk)
					c.Args = []string{"stalled"}
					c.VM = append(slices.Clone(c.VM), collector, "-Xmx64m")
					if got := adviceNames(c.Session(t).Advice(t)); !slices.Equal(got, []string{"garbage-collection"}) {
						a.Errorf("advice %v with a small heap", got)
					}
					c.VM[len(c.VM)-1] = "-Xmx2g"
					if got := adviceNames(c.Session(t).Advice(t)); slices.Contains(got, "occupied") {
						a.Errorf("advice %v with a large heap", got)
					}
				})
			})
		}
	}
}

// eachDefect calls f for the JDKs and defects that this test covers.
func eachDefect(t *testing.T, of []defect, f func(*testing.T, testjvm.JDK, defect)) {
	for _, d := range of {
		if !d.quick && !full() {
			continue
		}
		oldest := d.source(t).MinJDK
		for _, jdk := range testjvm.JDKs(t) {
			if jdk.Version < oldest || d.until != 0 && jdk.Version > d.until {
				continue
			}
			t.Run(jdk.String()+"/"+d.name, func(t *testing.T) { f(t, jdk, d) })
			if !full() {
				break
			}
		}
	}
}

// wantAdvice profiles a program, which must get just this advice.
func wantAdvice(t *testing.T, jdk testjvm.JDK, d defect, want []string, args ...string) {
	t.Helper()
	attempt := 0
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		attempt++
		before := testjvm.Processors(t)
		p := profileDefect(t, jdk, d, testjvm.Command.Session, args...)
		others := testjvm.Processors(t).Others(before, p.CPU)
		got := adviceNames(p.Advice(t))
		if slices.Equal(got, want) {
			return
		}
		if d.alone && others >= othersTooMuch && attempt >= attemptsAmongOthers {
			t.Skipf("other programs had %.0f %% of the processors: %v is rightly not said of what they left", 100*others, want)
		}
		a.Errorf("%v: advice %v, want %v", args, got, want)
	})
}

// profileDefect is a profile of a program by Command.Session or, where its times are compared, by Command.Profile.
func profileDefect(t *testing.T, jdk testjvm.JDK, d defect, record func(testjvm.Command, testing.TB) testjvm.Profile, args ...string) testjvm.Profile {
	t.Helper()
	c := d.source(t).Command(t, jdk)
	if c.Args = args; !d.auto {
		c.Agent = []string{"--detail", "all"}
	}
	c.VM = append(c.VM, d.options(args)...)
	p := record(c, t)
	if !d.atOnce {
		// Without it waiting and wanting a processor look alike on a busy machine.
		record, err := sched.Open(p.Dir)
		needRecord(t, err == nil && record != nil && record.Record().Source != sched.NoSource)
	}
	return p
}

// options are those of the JVM.
func (d defect) options(args []string) []string {
	if slices.Contains(args, "fixed") {
		return d.fixedVM
	}
	return d.vm
}

// only are the names that are of it.
func only(names []string, of string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return n != of })
}

func adviceNames(rows []testjvm.AdviceRow) (names []string) {
	for _, r := range rows {
		names = append(names, r.Rule)
	}
	return names
}

// TestAdviceGain follows each piece of advice. What it is predicted to save must be what that saves, or the
// advice says why it cannot tell; and without the agent, the fixed program must be shorter. It compares the least times
// of alternating runs, of all attempts: other programs only make a time longer. The prediction comes from a profiled
// run, so it is compared with profiled runs of the fixed program.
func TestAdviceGain(t *testing.T) {
	testjvm.Alone(t, "it compares run times")
	if !full() {
		t.Skip("STACKAGENT_E2E=full: TestWhatifOfAdvice compares predictions with programs that were mended, too")
	}
	timed := slices.DeleteFunc(slices.Clone(defects), func(d defect) bool { return d.none || d.noFix || d.noTime })
	eachDefect(t, timed, func(t *testing.T, jdk testjvm.JDK, d defect) {
		attempt, g := 0, newGains() // of all attempts
		testjvm.OneGood(t, func(a *testjvm.Attempt) {
			before, own := testjvm.Processors(t), time.Duration(0)
			for range 2 { // one run of 100 ms is mostly compiling, and scatters so
				own += g.measure(t, jdk, d)
			}
			others, wrong := testjvm.Processors(t).Others(before, own), g.wrong(d)
			if attempt++; wrong != "" && others >= othersTooMuch && attempt >= attemptsAmongOthers {
				t.Skipf("other programs had %.0f %% of the processors: %s (%v)", 100*others, wrong, g)
			}
			if wrong != "" {
				a.Errorf("%s (%v)", wrong, g)
			}
		})
		t.Log(g)
	})
}

// TestOthersReported: next to programs that want the processors all the time a session
// says what they had, and no more than the kernel says that was not the JVM's.
func TestOthersReported(t *testing.T) {
	testjvm.Alone(t, "it fills the processors itself")
	for range 2 * runtime.NumCPU() {
		hog := exec.Command("sh", "-c", "while :; do :; done")
		if err := hog.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = hog.Process.Kill()
			_ = hog.Wait()
		})
	}
	d := defects[slices.IndexFunc(defects, func(d defect) bool { return d.name == "coarse-grained" })]
	before := testjvm.Processors(t)
	p := profileDefect(t, testjvm.JDKs(t)[0], d, testjvm.Command.Profile, "good")
	after := testjvm.Processors(t)
	had := after.Busy - before.Busy - time.Duration(p.Stats(t).Metrics["self_cpu_ns"].Sum) // the recorder's too
	var stats struct {
		Findings []struct {
			Rule     string
			Evidence struct {
				Taken time.Duration `json:"taken_ns"`
			}
		}
	}
	if err := json.Unmarshal(p.Shadow(t, "stats", p.Dir, "--format", "json"), &stats); err != nil {
		t.Fatal(err)
	}
	reported := time.Duration(0)
	for _, f := range stats.Findings {
		if f.Rule == "contended" {
			reported = f.Evidence.Taken
		}
	}
	if reported == 0 {
		t.Fatalf("nothing is said of other programs, which had %v", had)
	}
	// The kernel counts in steps of 10 ms on each processor.
	if most := had + had/200 + time.Duration(runtime.NumCPU())*10*time.Millisecond; reported > most {
		t.Errorf("other programs are said to have had %v, by the kernel %v", reported, had)
	}
}

// gains are the least times of a program, in milliseconds: as it is, with the
// advice followed, the same profiled, and what a profiled run of it as it is took
// without what its advice is predicted to save.
type gains struct {
	asIs, mended, profiled, predicted float64
	cannotTell                        string // why, of the last run that had no prediction
}

func newGains() gains {
	return gains{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), ""}
}

// unpredicted reports whether no run had a prediction.
func (g gains) unpredicted() bool { return math.IsInf(g.predicted, 1) }

func (g gains) String() string {
	predicted := fmt.Sprintf("predicted %.1f ms (%+.0f %%)", g.predicted, 100*(g.predicted/g.profiled-1))
	if g.unpredicted() {
		predicted = "no prediction: " + g.cannotTell
	}
	return fmt.Sprintf("as it is %.1f ms, mended %.1f ms; profiled, mended %.1f ms, %s", g.asIs, g.mended, g.profiled, predicted)
}

// measure runs the program once in each way, and says what of the processors
// that took.
func (g *gains) measure(t *testing.T, jdk testjvm.JDK, d defect) (own time.Duration) {
	t.Helper()
	c := d.source(t).Command(t, jdk)
	for _, x := range []struct {
		least *float64
		args  []string
	}{{&g.asIs, []string{d.name}}, {&g.mended, []string{d.name, "fixed"}}} {
		c := c
		c.Args, c.VM = x.args, append(slices.Clone(c.VM), d.options(x.args)...)
		r := c.Plain(t)
		*x.least, own = min(*x.least, ms(t, r)), own+r.CPU
	}
	p := profileDefect(t, jdk, d, testjvm.Command.Profile, d.name)
	mended := profileDefect(t, jdk, d, testjvm.Command.Profile, d.name, "fixed")
	g.profiled, own = min(g.profiled, ms(t, mended.Result)), own+p.CPU+mended.CPU
	for _, a := range p.Advice(t) {
		if a.Rule == d.advice() {
			g.predict(a, ms(t, p.Result))
		}
	}
	return own
}

// predict adds what the advice of a run that took so long says.
func (g *gains) predict(a testjvm.AdviceRow, took float64) {
	switch {
	case a.Gain != nil:
		g.predicted = min(g.predicted, took-float64(a.Gain.Ns)/1e6)
	case a.Predicted != nil:
		g.cannotTell = a.Predicted.Why
	}
}

// ms is what the program says that it took.
func ms(t *testing.T, r testjvm.Result) float64 {
	t.Helper()
	text, ok := strings.CutPrefix(strings.TrimSpace(r.Stdout), "ms=")
	n, err := strconv.ParseFloat(text, 64)
	if !ok || err != nil {
		t.Fatalf("the program said %q, want ms=N\n%s", r.Stdout, r.Stderr)
	}
	return n
}

// predictionTolerance is by how much a prediction may be off.
const predictionTolerance = 0.2

// wrong says what the gains contradict; "" if nothing.
func (g gains) wrong(d defect) string {
	switch {
	case g.unpredicted() && g.cannotTell == "":
		return "no run got the advice with a prediction or a reason why there is none"
	case g.unpredicted() && !d.unknown:
		return "no run has a prediction"
	case !g.unpredicted() && d.unknown:
		return "a prediction of what nobody can tell"
	case !g.unpredicted() && math.Abs(g.predicted/g.profiled-1) > predictionTolerance:
		return "the prediction is wrong"
	case !d.same && g.mended > (1-leastGain)*g.asIs:
		return "following the advice gained nothing"
	}
	return ""
}

// leastGain is what following an advice must gain at least: the threshold from which it is given.
const leastGain = 0.05
