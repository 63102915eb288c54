package e2e_test

import (
	"archive/zip"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// neighbours are other agents, as Maven Central has them.
type neighbours struct {
	telemetry, byteBuddy, profiler string // jars
	library                        string // of the profiler
	advice                         string // jar of our own agent in testdata/neighbour, which uses Byte Buddy
}

// fetched returns the agents. Without a network the test is skipped, but not in CI.
func fetched(t *testing.T) neighbours {
	t.Helper()
	dir := filepath.Join(testjvm.Root(t), "build", "real", "neighbours")
	done := filepath.Join(dir, ".done")
	if _, err := os.Stat(done); err != nil {
		pom := filepath.Join(testjvm.Root(t), "e2e", "testdata", "neighbour", "pom.xml")
		line := []string{"-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime", "-Dmdep.stripVersion=true", "-DoutputDirectory=" + dir}
		if out, err := exec.Command("mvn", line...).CombinedOutput(); err != nil {
			if os.Getenv("CI") == "" {
				t.Skipf("Maven could not fetch the other agents: %v\n%s", err, out)
			}
			t.Fatalf("Maven could not fetch the other agents: %v\n%s", err, out)
		}
		if err := os.WriteFile(done, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	n := neighbours{
		telemetry: filepath.Join(dir, "opentelemetry-javaagent.jar"),
		byteBuddy: filepath.Join(dir, "byte-buddy.jar") + ":" + filepath.Join(dir, "byte-buddy-agent.jar"),
		profiler:  filepath.Join(dir, "async-profiler.jar"),
		library:   filepath.Join(t.TempDir(), "libasyncProfiler.so"),
	}
	unzip(t, n.profiler, "linux-x64/libasyncProfiler.so", n.library)
	n.advice = adviceAgent(t, n.byteBuddy)
	return n
}

// unzip writes a file of a zip archive.
func unzip(t *testing.T, archive, name, to string) {
	t.Helper()
	r, err := zip.OpenReader(archive)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := r.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(f)
	if err == nil {
		err = os.WriteFile(to, b, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// adviceAgent makes the jar of the agent in testdata/neighbour.
func adviceAgent(t *testing.T, classpath string) string {
	t.Helper()
	jdk := testjvm.JDKs(t)[0] // newer ones read what the oldest writes
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "neighbour"), "-cp", classpath)
	dir := t.TempDir()
	manifest, jar := filepath.Join(dir, "manifest"), filepath.Join(dir, "neighbour.jar")
	text := "Premain-Class: Neighbour\nAgent-Class: Neighbour\nCan-Retransform-Classes: true\nCan-Redefine-Classes: true\n"
	if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(jdk.Tool("jar"), "--create", "--file", jar, "--manifest", manifest, "-C", classes, ".").CombinedOutput(); err != nil {
		t.Fatalf("jar: %v\n%s", err, out)
	}
	return jar
}

// neighbourCase is another agent, and the options that it takes.
type neighbourCase struct {
	name      string
	agent     string
	vm        []string
	classpath string
	short     []int // in the short form, its place in orders: on the oldest JDK, on the newest one; -1: not there
}

// inShort reports whether the short form has the agent on the JDK of number i in an order.
func (c neighbourCase) inShort(i, order, jdks int) bool {
	return (i == 0 && c.short[0] == order) || (i == jdks-1 && i > 0 && c.short[1] == order)
}

func (n neighbours) cases() []neighbourCase {
	quiet := []string{"-Dotel.javaagent.logging=none", "-Dotel.traces.exporter=none", "-Dotel.metrics.exporter=none", "-Dotel.logs.exporter=none"}
	own := "-javaagent:" + n.advice + "="
	return []neighbourCase{
		{"telemetry", "-javaagent:" + n.telemetry, quiet, "", []int{2, -1}},
		{"advice", own + "advice", []string{"-Dneighbour.saw=true", "-Dnet.bytebuddy.experimental=true"}, n.byteBuddy, []int{-1, 1}},
		{"retransform", own + "retransform", nil, n.byteBuddy, []int{0, -1}},
		{"profiler cycles", own + "profile=" + n.library, nil, n.byteBuddy + ":" + n.profiler, []int{-1, 3}},
		{"profiler", "-agentpath:" + n.library + "=start,event=itimer,interval=1ms,file=/dev/null", nil, "", []int{-1, -1}},
	}
}

// orders are the ways in which the two agents may be given.
var orders = []string{"ours first", "ours second", "other in the environment", "ours in the environment"}

// Beside another agent, whichever comes first, a program does what it does without ours.
func TestTortureNeighbours(t *testing.T) {
	testjvm.Shared(t)
	n := fetched(t)
	jdks := testjvm.JDKs(t)
	addr, store := freeAddr(t), filepath.Join(t.TempDir(), "store")
	bus := serve(t, addr, store)
	runs := 0
	for i, jdk := range jdks {
		for _, c := range n.cases() {
			for m, order := range orders {
				if !torture() && !c.inShort(i, m, len(jdks)) {
					continue
				}
				runs++
				session := fmt.Sprintf("beside-%d", runs)
				t.Run(jdk.String()+"/"+c.name+"/"+order, func(t *testing.T) {
					beside(t, jdk, c, order, bus, session)
				})
			}
		}
	}
	bus.stop(t)
}

// beside runs the program beside another agent, without and with ours.
func beside(t *testing.T, jdk testjvm.JDK, c neighbourCase, order string, bus *server, session string) {
	t.Helper()
	crash := filepath.Join(t.TempDir(), "hs_err")
	ours := agentFlag(t, "bus=nats://"+bus.addr, "tokenfile="+filepath.Join(bus.store, "token"), "session="+session)
	cmd := strangeCommand(t, jdk, "work", fmt.Sprint(roundsOf(2_000, 20_000)))
	cmd.Classpath += ":" + c.classpath
	options := append([]string{"-XX:ErrorFile=" + crash}, c.vm...)
	cmd.VM = append([]string{c.agent}, options...)
	plain := cmd.Plain(t)
	switch order {
	case "ours first":
		cmd.VM = append([]string{ours, c.agent}, options...)
	case "ours second":
		cmd.VM = append([]string{c.agent, ours}, options...)
	case "other in the environment":
		cmd.VM, cmd.Env = append([]string{ours}, options...), []string{"JAVA_TOOL_OPTIONS=" + c.agent}
	default:
		cmd.VM, cmd.Env = append([]string{c.agent}, options...), []string{"JAVA_TOOL_OPTIONS=" + ours}
	}
	profiled := cmd.Plain(t)
	sameRun(t, plain, profiled)
	if b, err := os.ReadFile(crash); err == nil {
		t.Fatalf("the JVM has crashed:\n%.3000s", b)
	}
	dir := filepath.Join(bus.store, session)
	waitEnded(t, dir)
	sameCounts(t, plain.Stdout, dir)
}

// The environment holds an agent already: ours goes in front of it, for children, too.
func TestTortureNeighbourOfRun(t *testing.T) {
	testjvm.Shared(t)
	n := fetched(t)
	for _, jdk := range oldestOrAll(t) {
		for _, c := range n.cases() {
			if !torture() && c.name != "retransform" {
				continue
			}
			t.Run(jdk.String()+"/"+c.name, func(t *testing.T) {
				cmd := strangeCommand(t, jdk, "work", "1000")
				cmd.Classpath += ":" + c.classpath
				cmd.VM, cmd.Env = c.vm, []string{"JAVA_TOOL_OPTIONS=" + c.agent}
				unharmed(t, cmd, false)
				cmd.Wrap = []string{"env"} // no java: ours goes into the environment, too
				unharmed(t, cmd, false)
			})
		}
	}
}

// Another agent retransforms the woven classes without end, while ours attaches and detaches.
func TestTortureRetransformedCycles(t *testing.T) {
	testjvm.Shared(t)
	n := fetched(t)
	for _, jdk := range newestOrAll(t) {
		for _, c := range n.cases() {
			if c.name == "telemetry" || c.name == "profiler" || (c.name != "retransform" && !torture()) {
				continue
			}
			t.Run(jdk.String()+"/"+c.name, func(t *testing.T) {
				cycles(t, jdk, roundsOf(2, 8), "-Xbootclasspath/a:"+n.byteBuddy+":"+n.profiler, c.agent)
			})
		}
	}
}
