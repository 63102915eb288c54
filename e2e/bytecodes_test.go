package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/agent/jimage"
	"stackagent/internal/testjvm"
)

// bytecodeCases are the programs of testdata/bytecodes: cases that count their
// own instructions, in two ways.
type bytecodeCases struct {
	stepped, woven string // class path with a debugger's count, and with the agent's
	oracle         string // library that counts for the first
}

func buildBytecodeCases(t *testing.T) bytecodeCases {
	t.Helper()
	jdk := testjvm.JDKs(t)[0] // its classes run on all of them
	source := func(name string) string { return filepath.Join("testdata", "bytecodes", name) }
	stepped := testjvm.Compile(t, jdk, source("stepped"))
	cases := testjvm.Compile(t, jdk, source("cases"), "-cp", stepped, "-Xlint:-fallthrough")
	helper := filepath.Join(testjvm.Root(t), "jvmti", "helper")
	woven := testjvm.Compile(t, jdk, source("woven"), "--patch-module", "java.base="+helper)
	path := func(counter string) string { return cases + string(os.PathListSeparator) + counter }
	return bytecodeCases{path(stepped), path(woven), compileAgent(t, jdk, source("oracle.c"))}
}

// compileAgent makes a library of a C source that a JVM can load.
func compileAgent(t *testing.T, jdk testjvm.JDK, source string) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "lib"+strings.TrimSuffix(filepath.Base(source), ".c")+".so")
	cc := exec.Command("cc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
		"-I"+filepath.Join(jdk.Home, "include"), "-I"+filepath.Join(jdk.Home, "include", "linux"), "-o", library, source)
	if out, err := cc.CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", source, err, out)
	}
	return library
}

// onlyMarked are methods which no JVM replaces, though they are marked as if.
var onlyMarked = map[string]bool{
	"java/lang/reflect/Method.invoke":                               true,
	"java/util/stream/Streams$RangeIntSpliterator.forEachRemaining": true,
}

// replaceable lists the methods of a JDK that the JVM may replace by machine code
// of its own, as the oracle reads them. By definition they count nothing; methods
// that only carry the mark do.
func replaceable(t *testing.T, jdk testjvm.JDK) string {
	t.Helper()
	image, err := jimage.Open(filepath.Join(jdk.Home, "lib", "modules"))
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	var list strings.Builder
	err = image.Each(func(module, name string, b []byte) error {
		if module != "java.base" {
			return nil // the JVM honours the mark there only
		}
		c, err := classfile.Parse(b)
		if err != nil {
			return err
		}
		for _, m := range c.Methods {
			marked, err := m.HasAnnotation("Ljdk/internal/vm/annotation/IntrinsicCandidate;")
			if err != nil {
				return err
			}
			if marked && !onlyMarked[name+"."+m.Name] {
				fmt.Fprintf(&list, "%s %s %s\n", name, m.Name, m.Descriptor)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "replaceable")
	if err := os.WriteFile(file, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func (b bytecodeCases) run(t *testing.T, jdk testjvm.JDK, classpath string, vm []string, args ...string) map[string]string {
	t.Helper()
	return runCounting(t, testjvm.Command{JDK: jdk, VM: vm, Classpath: classpath, Main: "bc.Main", Args: args})
}

// runCounting reads lines "name count".
func runCounting(t *testing.T, c testjvm.Command) map[string]string {
	t.Helper()
	res := c.Plain(t)
	if res.Exit != 0 {
		t.Fatalf("ended with %d\n%s\n%s", res.Exit, res.Stdout, res.Stderr)
	}
	counts := map[string]string{}
	for line := range strings.Lines(res.Stdout) {
		line = strings.TrimSpace(line)
		last := strings.LastIndexByte(line, ' ')
		counts[line[:max(last, 0)]] = line[last+1:]
	}
	return counts
}

// asksJIT is the case in which the JDK's own code runs differently when it is
// compiled: it asks whether a method handle is a constant.
const asksJIT = "method handle"

// thrownByInstruction are the cases in which an instruction throws by itself, with
// how many instructions follow it in its block: these are counted, too, as
// docs/bytecodes.md says. Thrown.java lists them.
var thrownByInstruction = map[string]int{"thrown by getfield": 5, "thrown by iaload": 5, "thrown by idiv": 3, "thrown by checkcast": 3, "thrown by aastore": 2}

// checkThrown holds such a case against the documented bound. Compiled code may throw
// an exception made beforehand: there only what the constructors execute is missing.
func checkThrown(t *testing.T, name string, over int, want, interpreted, compiled string) {
	t.Helper()
	steps, err := strconv.Atoi(want)
	counted, bad := strconv.Atoi(interpreted)
	if err != nil || bad != nil || counted != steps+over {
		t.Errorf("%s: %s instructions counted, want %d more than the %s executed", name, interpreted, over, want)
	}
	if n, err := strconv.Atoi(compiled); err != nil || n > steps+over {
		t.Errorf("%s, compiled: %s instructions counted, want at most %d", name, compiled, steps+over)
	}
}

// TestBytecodesEqualSteps compares the count of instructions, case by case, with
// the SingleStep events of a JVM that runs the same class files without the
// agent: in the interpreter, and compiled, where ten counts must be the same.
func TestBytecodesEqualSteps(t *testing.T) {
	testjvm.Shared(t)
	cases := buildBytecodeCases(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			agent := "-agentpath:" + testjvm.Library(t) + "=metric=bytecodes,spool=off"
			// A pair of instructions that the interpreter executes as one would be one step.
			oracle := []string{"-Xint", "-XX:-RewriteFrequentPairs", "-agentpath:" + cases.oracle + "=" + replaceable(t, jdk)}
			// After 127 calls the JDK makes code of its own for a method handle.
			steps := cases.run(t, jdk, cases.stepped, oracle, "200", "1")
			if len(steps) < 50 {
				t.Errorf("only %d cases", len(steps))
			}
			interpreted := cases.run(t, jdk, cases.woven, []string{"-Xint", agent}, "200", "1")
			compiled := cases.run(t, jdk, cases.woven, []string{agent}, "3000", "10")
			for name, over := range thrownByInstruction {
				checkThrown(t, name, over, steps[name], interpreted[name], compiled[name])
				delete(steps, name)
			}
			for name, want := range steps {
				if got := interpreted[name]; got != want {
					t.Errorf("%s: %s instructions counted, %s executed", name, got, want)
				}
				if got := compiled[name]; got != want && name != asksJIT {
					t.Errorf("%s, compiled: %s instructions counted, %s executed", name, got, want)
				}
			}
		})
	}
}

// TestBytecodesOfThreads: the same work counts the same, in each of ten
// executions in each of several threads at once.
func TestBytecodesOfThreads(t *testing.T) {
	testjvm.Shared(t)
	cases := buildBytecodeCases(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			args := []string{"300", "1", "2", "4", "8"}
			if jdk.Version >= 21 {
				args = append(args, "0")
			}
			counts := runCounting(t, testjvm.Command{JDK: jdk, Classpath: cases.woven, Main: "bc.Threads", Args: args,
				VM: []string{"-agentpath:" + testjvm.Library(t) + "=metric=bytecodes,spool=off"}})
			want := counts["1"]
			if len(counts) != len(args)-1 || len(want) < 5 {
				t.Fatalf("counts %v", counts)
			}
			for threads, got := range counts {
				if got != want {
					t.Errorf("%s threads (0: virtual): %s, in one thread %s", threads, got, want)
				}
			}
		})
	}
}
