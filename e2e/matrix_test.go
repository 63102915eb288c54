// Package e2e_test runs whole programs under `shadow run` and compares what comes out with what is
// known: the counts of examples/*/oracle.json, and the programs' own output and exit code.
//
// By default a part of the matrix runs; STACKAGENT_E2E=full runs every example on every JDK and
// collector, and in every mode of the JVM.
package e2e_test

import (
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
	"stackagent/internal/testobjects"
)

func TestMain(m *testing.M) {
	testobjects.SetEnvironment()
	os.Exit(m.Run())
}

func full() bool { return os.Getenv("STACKAGENT_E2E") == "full" }

// The counts of every example equal its oracle. JDKs and collectors go round, so that each JDK sees a half of the examples,
// or all that only it can run, and each collector a quarter; outside the full matrix, in which each sees all.
func TestExamples(t *testing.T) {
	testjvm.Shared(t)
	jdks := testjvm.JDKs(t)
	for k, jdk := range jdks {
		for i, o := range testjvm.Oracles(t) {
			if o.Manual || jdk.Version < o.MinJDK || (o.Slow && !full()) {
				continue
			}
			able := len(jdks) - slices.IndexFunc(jdks, func(j testjvm.JDK) bool { return j.Version >= o.MinJDK }) // those from there on
			if !full() && k != len(jdks)-1-i%able {
				continue
			}
			collectors := testjvm.Collectors
			if !full() {
				collectors = collectors[(i/able+jdk.Version)%len(collectors):][:1] // i/able: else each JDK would see only half of them
			}
			for _, gc := range collectors {
				t.Run(jdk.String()+"/"+o.Name+"/"+gc.Name, func(t *testing.T) {
					testjvm.Shared(t)
					checkExample(t, o, jdk, !full() && i%4 != 0, gc.Flag)
				})
			}
		}
	}
}

// The modes of the JVM that change how woven code runs.
func TestModes(t *testing.T) {
	testjvm.Shared(t)
	modes := []struct {
		name     string
		flags    []string
		small    int // how many of the examples outside the full matrix
		examples []string
	}{
		{"int", []string{"-Xint"}, 1, []string{"kinds", "ctors", "inherit", "throwing", "pool", "hiddenclass"}},
		{"comp", []string{"-Xcomp"}, 1, []string{"nested", "kinds"}},
		{"jni", []string{"-Xcheck:jni"}, 1, []string{"kinds", "pool", "throwing", "lambdas"}},
		{"verify", []string{"-Xverify:all"}, 2, []string{"kinds", "ctors", "inherit", "lambdas", "loaders", "streams"}},
		{"opens", []string{"--add-opens", "java.base/java.lang=ALL-UNNAMED"}, 1, []string{"lambdas"}},
		{"modules", []string{"--add-modules", "java.sql"}, 1, []string{"lambdas"}},
		{"jmx", []string{"-Dcom.sun.management.jmxremote"}, 1, []string{"lambdas"}},
		{"nocds", []string{"-Xshare:off"}, 1, []string{"kinds", "pool", "lambdas"}},
		{"noinline", []string{"-XX:+PreserveFramePointer", "-XX:-Inline"}, 1, []string{"throwing", "stackoverflow"}},
	}
	jdks := testjvm.JDKs(t)
	for i, jdk := range jdks {
		for k, mode := range modes {
			if !full() && i != k%len(jdks) {
				continue // each mode on one of them
			}
			examples := mode.examples
			if !full() {
				examples = examples[:mode.small]
			}
			for _, name := range examples {
				t.Run(jdk.String()+"/"+mode.name+"/"+name, func(t *testing.T) {
					testjvm.Shared(t)
					checkExample(t, testjvm.Example(t, name), jdk, !full(), mode.flags...)
				})
			}
		}
	}
}

// variant is one way to profile a program that every detail and every JDK must show alike.
type variant struct {
	jdk    testjvm.JDK
	detail string
}

// variants are the JDKs with the details: each with each in the full matrix. Else one of them, which depends on the test and on
// turn, a number of the program, so that each JDK and each detail gets its share of the tests.
func variants(t *testing.T, turn int, details ...string) (all []variant) {
	t.Helper()
	for _, jdk := range testjvm.JDKs(t) {
		for _, detail := range details {
			all = append(all, variant{jdk, detail})
		}
	}
	if full() {
		return all
	}
	h := fnv.New32a()
	h.Write([]byte(t.Name()))
	return all[(int(h.Sum32()%uint32(len(all)))+turn)%len(all):][:1]
}

func (v variant) String() string { return v.jdk.String() + "/" + v.detail }

// checkExample runs an example without and with the agent and compares the two runs, and the profile with the oracle. If the
// oracle knows all that the program prints, the run without the agent may be left out.
func checkExample(t *testing.T, o testjvm.Oracle, jdk testjvm.JDK, leaveOut bool, flags ...string) {
	t.Helper()
	cmd := o.Command(t, jdk, flags...)
	plain := testjvm.Result{Exit: o.Exit, Stdout: strings.Join(o.Stdout, "\n") + "\n"}
	alone := !leaveOut || o.Stdout == nil || o.Exit != 0
	if alone {
		if plain = cmd.Plain(t); !o.Prints(plain.Stdout) {
			t.Errorf("stdout without the agent:\n%s\nwant:\n%s", plain.Stdout, strings.Join(o.Stdout, "\n"))
		}
	}
	cmd.Agent = append(slices.Clip(cmd.Agent), "--detail", "all") // for the rows; see TestDetail
	p := cmd.Profile(t)
	if !alone {
		plain.Stderr = p.Stderr // not known
	}
	sameBehaviour(t, o, plain, p.Result)

	stats := p.Stats(t)
	if stats.Lost.Batches != 0 || stats.Lost.Events != 0 && !o.EndOfStack {
		t.Errorf("lost %d events, %d batches", stats.Lost.Events, stats.Lost.Batches)
	}
	for _, r := range stats.Refusals { // also of programs that make no lambda
		if strings.HasPrefix(r.Reason, "hidden classes") {
			t.Errorf("not instrumented: %+v", r)
		}
	}
	var tasks []map[string]string
	if !o.Slow { // millions of rows are not read as text
		tasks = p.Tasks(t)
		if stats.Lost.Events == 0 {
			checkAgreement(t, p, tasks)
		}
	}
	if slices.Contains(ofUnits, o.Name) {
		checkTgpUnits(t, p)
	}
	for _, wrong := range o.Compare(p.Hotspots(t), tasks) {
		t.Error(wrong)
	}
	if t.Failed() {
		t.Logf("all classes: %+v", p.Hotspots(t))
	}
}

// sameBehaviour checks that the agent did not change what the program does.
func sameBehaviour(t *testing.T, o testjvm.Oracle, plain, profiled testjvm.Result) {
	t.Helper()
	if plain.Exit != o.Exit {
		t.Errorf("without the agent: exit %d, want %d", plain.Exit, o.Exit)
	}
	if profiled.Exit != plain.Exit {
		t.Errorf("exit %d with the agent, %d without\n%s", profiled.Exit, plain.Exit, profiled.Stderr)
	}
	if o.Stdout != nil && profiled.Stdout != plain.Stdout {
		t.Errorf("stdout with the agent:\n%s\nwithout:\n%s", profiled.Stdout, plain.Stdout)
	}
	if profiled.Stderr != plain.Stderr {
		t.Errorf("stderr with the agent:\n%s\nwithout:\n%s", profiled.Stderr, plain.Stderr)
	}
}
