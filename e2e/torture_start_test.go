package e2e_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// jar packs classes into a jar with the given manifest.
func jar(t *testing.T, classes, manifest string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.jar")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	add := func(name string, content []byte) error {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		return err
	}
	err = add("META-INF/MANIFEST.MF", []byte("Manifest-Version: 1.0\n"+manifest+"\n"))
	if err == nil {
		err = filepath.WalkDir(classes, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(classes, path)
			if err != nil {
				return err
			}
			return add(filepath.ToSlash(name), b)
		})
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatalf("packing %s: %v", path, err)
	}
	return path
}

// executionsOf sums what a profile knows of a class.
func executionsOf(t *testing.T, p testjvm.Profile, class string) (created, executions int64) {
	t.Helper()
	for _, r := range p.Hotspots(t) {
		if r.Class == class {
			created, executions = created+r.Created, executions+r.Executions
		}
	}
	return created, executions
}

// A Java agent retransforms classes in its premain, before ours is ready or after it: the program runs as
// without us, and each of its tasks is counted.
func TestTortureAgentInFront(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKsInTurn(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			agent := jar(t, testjvm.Compile(t, jdk, "testdata/premain"),
				"Premain-Class: early.Agent\nCan-Retransform-Classes: true\n")
			java := []string{jdk.Tool("java"), "-XX:-CreateCoredumpOnCrash", "-cp", agent}
			main := append(java, "early.Main")
			option := "-javaagent:" + agent
			want, exit := start(t, []string{"JAVA_TOOL_OPTIONS=" + option}, main...).end(t)
			if exit != 0 || want != "true 2011\n" {
				t.Fatalf("without us: exit %d, %q", exit, want)
			}
			cases := []struct {
				name     string
				env      []string
				line     []string
				borrowed int64 // executions of a task, one of them in premain: seen if ours is in front
			}{
				{"in front by JAVA_TOOL_OPTIONS", []string{"JAVA_TOOL_OPTIONS=" + option}, main, 10},
				{"behind by JAVA_TOOL_OPTIONS", []string{"JAVA_TOOL_OPTIONS=" + option}, append([]string{"env"}, main...), 11},
				{"behind by JDK_JAVA_OPTIONS", []string{"JDK_JAVA_OPTIONS=" + option}, append([]string{"env"}, main...), 11},
				{"behind on the command line", nil, append(append(java[:len(java):len(java)], option), "early.Main"), 11},
			}
			for _, c := range cases[:roundsOf(2, len(cases))] {
				t.Run(c.name, func(t *testing.T) {
					checkInFront(t, c.env, c.line, want, c.borrowed)
				})
			}
		})
	}
}

func checkInFront(t *testing.T, env, line []string, want string, borrowed int64) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "session")
	p := start(t, env, append([]string{testjvm.Shadow(t), "run", "-q", "-o", dir, "--"}, line...)...)
	if out, exit := p.end(t); exit != 0 || out != want {
		t.Fatalf("exit %d, %q; want 0, %q\n%s", exit, out, want, p.stderr.String())
	}
	profile := testjvm.Profile{Dir: dir}
	for class, n := range map[string]int64{
		"early.Child": 1000, "early.Unlinked": 1000, "java.util.concurrent.FutureTask": 1000, "early.Agent$Borrower": borrowed,
	} {
		if created, executions := executionsOf(t, profile, class); created != n || executions != n {
			t.Errorf("%s: %d created, %d executed, want %d", class, created, executions, n)
		}
	}
	s := profile.Stats(t)
	if s.Lost.Events != 0 {
		t.Errorf("%d events lost", s.Lost.Events)
	}
}

// A training run writes the JVM's classes for later runs: the agent stays out of it and says so in one line.
func TestTortureTrainingRun(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range testjvm.JDKs(t) {
		if jdk.Version < 25 {
			continue // before it there is no AOT cache in one step, and the JVM itself takes no native agent in a training run
		}
		t.Run(jdk.String(), func(t *testing.T) {
			classes := jar(t, testjvm.Compile(t, jdk, "testdata/premain"), "")
			cache := filepath.Join(t.TempDir(), "app.aot")
			program := []string{"-cp", classes, "early.Main"}
			train := append([]string{jdk.Tool("java"), "-XX:-CreateCoredumpOnCrash", "-XX:AOTCacheOutput=" + cache}, program...)
			p := start(t, []string{"JAVA_TOOL_OPTIONS=" + agentFlag(t, "bus=nats://127.0.0.1:1")}, train...)
			out, exit := p.end(t)
			if exit != 0 || !strings.HasPrefix(out, "true 2010\n") {
				t.Errorf("exit %d, %q\n%s", exit, out, p.stderr.String())
			}
			if n := strings.Count(p.stderr.String(), "stackagent: "); n != 1 || !strings.Contains(p.stderr.String(), "training run") {
				t.Errorf("%d lines of ours, want 1\n%s", n, p.stderr.String())
			}
			use := append([]string{jdk.Tool("java"), "-XX:AOTMode=on", "-XX:AOTCache=" + cache}, program...)
			p = start(t, nil, use...)
			if out, exit := p.end(t); exit != 0 || out != "true 2010\n" {
				t.Errorf("with the cache: exit %d, %q\n%s", exit, out, p.stderr.String())
			}
		})
	}
}

// talkTo starts a program that does its work for each line.
func talkTo(t *testing.T, line ...string) *guest {
	t.Helper()
	g := startGuestLine(t, line)
	g.pid = g.Process.Pid
	g.waitLine(t, "ready")
	return g
}

func (g *guest) answers(t *testing.T, want string) {
	t.Helper()
	if _, err := io.WriteString(g.in, "go\n"); err != nil {
		t.Fatalf("the program has ended: %v\n%s", err, g.stderr.String())
	}
	g.waitLine(t, want)
}

// Class loaders that do not let the probes through, each in its own manner: their classes keep their bytes and are
// counted, at start and when the agent attaches later.
func TestTortureSandbox(t *testing.T) {
	testjvm.Shared(t)
	const reason = "the class loader does not find the probes"
	answer := func(n int) string {
		line := ""
		for _, m := range []string{"REFUSES", "THROWS", "ERRS", "LIES", "RETURNS_NULL", "DEFINES", "OVERFLOWS", "LETS_THROUGH"} {
			line += fmt.Sprintf("%s=%d ", m, n)
		}
		return strings.TrimSpace(line)
	}
	for _, jdk := range testjvm.JDKsInTurn(t) {
		classes := testjvm.Compile(t, jdk, "testdata/sandbox")
		program := []string{jdk.Tool("java"), "-cp", classes, "Main"}
		t.Run(jdk.String()+" at start", func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "session")
			g := talkTo(t, append([]string{testjvm.Shadow(t), "run", "-q", "-o", dir, "--"}, program...)...)
			g.answers(t, answer(30))
			g.in.Close()
			if _, exit := g.process.end(t); exit != 0 {
				t.Errorf("exit %d\n%s", exit, g.stderr.String())
			}
			p := testjvm.Profile{Dir: dir}
			// Of 7 loaders Plugin, its two tasks and its lambda; and what one of them defines when it is asked.
			if n := refusals(t, p)[reason]; n != 7*4+1 {
				t.Errorf("%d classes refused, want %d", n, 7*4+1)
			}
			if created, executions := executionsOf(t, p, "Plugin$Job"); created != 10 || executions != 10 {
				t.Errorf("where the probes are let through: %d created, %d executed, want 10", created, executions)
			}
		})
		t.Run(jdk.String()+" later", func(t *testing.T) {
			g := talkTo(t, program...)
			g.answers(t, answer(30))
			p := g.attached(t, func() { g.answers(t, answer(60)) })
			g.answers(t, answer(90))
			g.in.Close()
			if _, exit := g.process.end(t); exit != 0 {
				t.Errorf("exit %d\n%s", exit, g.stderr.String())
			}
			if n := refusals(t, p)[reason]; n < 7*3 {
				t.Errorf("%d classes refused, want at least %d", n, 7*3)
			}
		})
	}
}

// refusals counts what was refused by reason.
func refusals(t *testing.T, p testjvm.Profile) map[string]int64 {
	t.Helper()
	var s struct {
		Refusals []struct {
			Reason string
			Count  int64
		}
	}
	if err := json.Unmarshal(p.Shadow(t, "stats", p.Dir, "--format", "json"), &s); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, r := range s.Refusals {
		counts[r.Reason] += r.Count
	}
	return counts
}

// Coming to a JVM with many classes takes a number of its operations that does not grow with the classes: each of them
// visits all classes. The log has the times.
func TestTortureManyClasses(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			n, rounds := roundsOf(6_000, 60_000), roundsOf(1, 2)
			classes, log := testjvm.Compile(t, jdk, "testdata/classes"), filepath.Join(t.TempDir(), "safepoints")
			g := talkTo(t, jdk.Tool("java"), "-Xmx2g", "-Xlog:safepoint*:file="+log, "-cp", classes, "Main", fmt.Sprint(n), "Task,Heir")
			for range rounds {
				before := time.Now()
				p := g.attached(t, func() {
					t.Logf("%d classes: attached after %v", n, time.Since(before))
					g.answers(t, fmt.Sprintf("ran %d", n))
					before = time.Now()
				})
				t.Logf("detached after %v", time.Since(before))
				if s := p.Stats(t); s.Lost.Events != 0 || s.Tasks.Executions < int64(n) {
					t.Errorf("%d executions, %d events lost; want %d and 0", s.Tasks.Executions, s.Lost.Events, n)
				}
			}
			g.in.Close()
			if _, exit := g.process.end(t); exit != 0 {
				t.Errorf("exit %d\n%s", exit, g.stderr.String())
			}
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			most := rounds * 2 * 20 // to attach and to detach
			if got := strings.Count(string(b), `"RedefineClasses"`); got == 0 || got > most {
				t.Errorf("%d operations that change classes, want 1 to %d", got, most)
			}
		})
	}
}

// Classes that the JVM cannot link are in most large programs. They do not make attach and detach stop the program more often.
func TestUnlinkableClasses(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			classes, log := testjvm.Compile(t, jdk, "testdata/unlinkable"), filepath.Join(t.TempDir(), "safepoints")
			g := talkTo(t, jdk.Tool("java"), "-Xlog:safepoint*:file="+log, "-cp", classes, "Main", "5")
			g.attached(t, func() { g.answers(t, "ran beside 5") })
			g.in.Close()
			if _, exit := g.process.end(t); exit != 0 {
				t.Errorf("exit %d\n%s", exit, g.stderr.String())
			}
			b, err := os.ReadFile(log)
			if err != nil {
				t.Fatal(err)
			}
			const most = 2 * 4 // to attach and to detach: few classes are loaded
			if got := strings.Count(string(b), `"RedefineClasses"`); got == 0 || got > most {
				t.Errorf("%d operations that change classes, want 1 to %d", got, most)
			}
		})
	}
}
