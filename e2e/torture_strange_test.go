package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"stackagent/internal/testjvm"
)

// strangeCase is the program of testdata/strange in a process that is strange in some way.
type strangeCase struct {
	name     string
	from, to int // the feature releases of the JDKs that know it; 0: no limit
	wrap     []string
	vm       []string
	args     []string
	env      []string
	cut      bool // the JVM ends in mid-work: what was executed is not known
	slow     bool // only in make torture
}

// strangeCommand is the command of the program in testdata/strange.
func strangeCommand(t testing.TB, jdk testjvm.JDK, args ...string) testjvm.Command {
	t.Helper()
	classes := testjvm.Compile(t, jdk, filepath.Join(testjvm.Root(t), "e2e", "testdata", "strange"))
	return testjvm.Command{JDK: jdk, Classpath: classes, Main: "Main", Args: args, Timeout: time.Duration(roundsOf(3, 20)) * time.Minute}
}

// on reports whether a case runs on a JDK. In the short form each case runs on one, by turns.
func (c strangeCase) on(jdks []testjvm.JDK, i, number int) bool {
	jdk := jdks[i]
	if jdk.Version < c.from || (c.to != 0 && jdk.Version > c.to) || (c.slow && !torture()) {
		return false
	}
	return torture() || c.from != 0 || c.to != 0 || number%len(jdks) == i
}

// runStrange compares each case's run with the agent to one without.
func runStrange(t *testing.T, cases []strangeCase) {
	t.Helper()
	jdks := testjvm.JDKs(t)
	for i, jdk := range jdks {
		for number, c := range cases {
			if !c.on(jdks, i, number) {
				continue
			}
			t.Run(jdk.String()+"/"+c.name, func(t *testing.T) {
				cmd := strangeCommand(t, jdk, c.args...)
				cmd.Wrap, cmd.VM, cmd.Env = c.wrap, c.vm, c.env
				unharmed(t, cmd, c.cut)
			})
		}
	}
}

// unharmed runs a command without the agent and under `shadow run`, and compares them.
func unharmed(t *testing.T, cmd testjvm.Command, cut bool) testjvm.Profile {
	t.Helper()
	crash := filepath.Join(t.TempDir(), "hs_err")
	cmd.VM = append([]string{"-XX:ErrorFile=" + crash}, cmd.VM...)
	plain := cmd.Plain(t)
	_, err := os.Stat(crash)
	dies := err == nil // by itself
	if dies {
		_ = os.Remove(crash)
	}
	profile := cmd.Profile(t)
	if cut { // a crash report has numbers of the process in it
		plain.Stdout, profile.Stdout = ownWords(plain.Stdout), ownWords(profile.Stdout)
	}
	sameRun(t, plain, profile.Result)
	if b, err := os.ReadFile(crash); err == nil && !dies {
		t.Errorf("the JVM has crashed:\n%.3000s", b)
	}
	if !cut && !t.Failed() {
		sameCounts(t, plain.Stdout, profile.Dir)
	}
	return profile
}

// sameRun checks that the agent changed neither a program's output nor its exit code.
func sameRun(t *testing.T, plain, profiled testjvm.Result) {
	t.Helper()
	if plain.Exit != profiled.Exit || plain.Stdout != profiled.Stdout {
		t.Errorf("exit %d, stdout\n%.2000s\nwithout the agent %d,\n%.2000s\nstderr:\n%.3000s", profiled.Exit, profiled.Stdout, plain.Exit, plain.Stdout, profiled.Stderr)
	}
	if got, want := ownWords(profiled.Stderr), ownWords(plain.Stderr); got != want {
		t.Errorf("stderr\n%.3000s\nwithout the agent\n%.3000s", got, want)
	}
}

// What differs from run to run in what a JVM writes on stderr: processes, addresses, times.
var varying = regexp.MustCompile(`0x[0-9a-f]+|@[0-9a-f]+|\d+`)

// ownWords is what the program, and not the agent, says on stderr.
func ownWords(stderr string) string {
	var own []string
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "stackagent:") && !strings.HasPrefix(line, "shadow:") && !strings.HasPrefix(line, "Picked up ") {
			own = append(own, varying.ReplaceAllString(line, "N"))
		}
	}
	return strings.Join(own, "")
}

// sameCounts checks that the session in dir has each execution that the program prints
// ("count CLASS N"), or counts it as lost.
func sameCounts(t *testing.T, stdout, dir string) {
	t.Helper()
	p := testjvm.Profile{Dir: dir}
	lost := p.Stats(t).Lost.Events
	accounted(t, dir)
	rows := p.Hotspots(t)
	for line := range strings.Lines(stdout) {
		var class string
		var want int64
		if n, _ := fmt.Sscanf(line, "count %s %d", &class, &want); n != 2 {
			continue
		}
		var got int64
		for _, r := range rows {
			if r.Class == class {
				got += r.Executions
			}
		}
		if got > want || want-got > lost {
			t.Errorf("%d executions of %s, want %d; %d events lost", got, class, want, lost)
		}
	}
}

// accounted checks that a session misses nothing that is not counted.
func accounted(t *testing.T, dir string) {
	t.Helper()
	m := readManifest(t, dir)
	produced, stored := m.Produced.Executions+m.Produced.Creations, m.Stored.Executions+m.Stored.Creations
	if produced != stored+m.Lost.Events || m.Lost.Unaccounted != 0 {
		t.Errorf("produced %d, stored %d, lost %+v", produced, stored, m.Lost)
	}
}

// Options of the JVM, and what is around a process.
func TestTortureStrange(t *testing.T) {
	testjvm.Shared(t)
	runStrange(t, []strangeCase{
		{name: "compact headers", from: 25, vm: []string{"-XX:+UseCompactObjectHeaders"}, args: []string{"work", "2000"}},
		{name: "serial", vm: []string{"-XX:+UseSerialGC"}, args: []string{"loaders", "150"}, slow: true},
		{name: "parallel", vm: []string{"-XX:+UseParallelGC"}, args: []string{"loaders", "150"}, slow: true},
		{name: "z", vm: []string{"-XX:+UseZGC"}, args: []string{"loaders", "150"}, slow: true},
		{name: "shenandoah", vm: []string{"-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseShenandoahGC"}, args: []string{"loaders", "150"}},
		{name: "epsilon", vm: []string{"-Xlog:disable", "-XX:+UnlockExperimentalVMOptions", "-XX:+UseEpsilonGC"}, args: []string{"work", "1000"}, slow: true},
		{name: "interpreter", vm: []string{"-Xint"}, args: []string{"work", "300"}, slow: true},
		{name: "compiler", vm: []string{"-Xcomp", "-XX:TieredStopAtLevel=1"}, args: []string{"work", "300"}, slow: true},
		{name: "check jni", vm: []string{"-Xcheck:jni"}, args: []string{"work", "300"}, slow: true},
		{name: "no perfdata", vm: []string{"-XX:-UsePerfData", "-XX:+DisableAttachMechanism", "-Xrs"}, args: []string{"work", "1000"}},
		{name: "verify", vm: []string{"-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames", "-Xverify:all"}, args: []string{"work", "500"}, slow: true},
		{name: "class unloading", vm: []string{"-XX:MaxMetaspaceSize=48m"}, args: []string{"loaders", "4000"}, slow: true},
		{name: "security manager", to: 23, vm: []string{"-Djava.security.manager", "-Djava.security.policy==" + policy(t)}, args: []string{"work", "500"}},
		{name: "locale C", env: []string{"LC_ALL=C", "LANG=C", "TZ=Asia/Kathmandu"}, args: []string{"work", "300"}, slow: true},
		{name: "huge environment", env: hugeEnvironment(), args: []string{"work", "300"}},
		{name: "one processor", vm: []string{"-XX:ActiveProcessorCount=1"}, wrap: []string{"taskset", "1"}, args: []string{"work", "1000"}, slow: true},
		{name: "few files", wrap: []string{"prlimit", "--nofile=64"}, args: []string{"work", "300"}},
		{name: "closed stdin", wrap: []string{"sh", "-c", `exec "$@" <&-`, "sh"}, args: []string{"work", "300"}, slow: true},
		{name: "nice", wrap: []string{"nice", "-n", "19", "setsid", "--wait"}, args: []string{"work", "300"}, slow: true},
		{name: "string options", vm: []string{"-XX:+UseStringDeduplication", "-XX:-UseCompressedOops", "-XX:+UseTransparentHugePages", "-XX:LockingMode=1", "-XX:+IgnoreUnrecognizedVMOptions"}, args: []string{"work", "500"}, slow: true},
	})
}

// Memory, stack and threads at their end.
func TestTortureExhausted(t *testing.T) {
	testjvm.Shared(t)
	threads := fmt.Sprint(roundsOf(2_000, 20_000))
	runStrange(t, []strangeCase{
		{name: "heap", vm: []string{"-Xmx10m"}, args: []string{"oom", fmt.Sprint(roundsOf(10, 60))}},
		{name: "threads", vm: []string{"-Xmx400m"}, args: []string{"threads", threads}},
		{name: "stack", args: []string{"deep", fmt.Sprint(roundsOf(10, 60))}},
		{name: "small stack", vm: []string{"-Xss180k"}, args: []string{"deep", fmt.Sprint(roundsOf(10, 100))}},
		{name: "small stack, interpreter", vm: []string{"-Xss180k", "-Xint"}, args: []string{"deep", "60"}, slow: true},
		{name: "small stack, work", vm: []string{"-Xss180k"}, args: []string{"work", "500"}, slow: true},
		{name: "small code cache", vm: []string{"-XX:ReservedCodeCacheSize=3m"}, args: []string{"work", "3000"}, slow: true},
		{name: "exit on full heap", vm: []string{"-Xmx10m", "-XX:+ExitOnOutOfMemoryError"}, args: []string{"eat"}, cut: true},
		{name: "crash on full heap", vm: []string{"-Xmx10m", "-XX:+CrashOnOutOfMemoryError", "-XX:-CreateCoredumpOnCrash"}, args: []string{"eat"}, cut: true, slow: true},
		{name: "uncaught", vm: []string{"-Xmx10m"}, args: []string{"eat"}, cut: true, slow: true},
	})
}

// A task ends the process while others execute and batches are under way.
func TestTortureEnds(t *testing.T) {
	testjvm.Shared(t)
	for range roundsOf(1, 15) {
		runStrange(t, []strangeCase{
			{name: "exit", args: []string{"exit", "7"}, cut: true},
			{name: "halt", args: []string{"halt", "9"}, cut: true},
			{name: "kill", args: []string{"kill"}, cut: true},
			{name: "stop", to: 19, args: []string{"stop", fmt.Sprint(roundsOf(40, 100))}, cut: true},
		})
	}
}

// policy is a file of rights for a security manager that denies the usual ones.
func policy(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy")
	text := `grant { permission java.lang.RuntimePermission "modifyThread"; };`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func hugeEnvironment() []string {
	env := make([]string, 12)
	for i := range env {
		env[i] = fmt.Sprintf("HUGE_%d=%s", i, strings.Repeat("x y\t\"'", 20_000))
	}
	return env
}

// newestOrAll are all JDKs, in the short form the newest one.
func newestOrAll(t *testing.T) []testjvm.JDK {
	t.Helper()
	jdks := testjvm.JDKs(t)
	if !torture() {
		return jdks[len(jdks)-1:]
	}
	return jdks
}

// oldestOrAll are all JDKs, in the short form the oldest one.
func oldestOrAll(t *testing.T) []testjvm.JDK {
	t.Helper()
	jdks := testjvm.JDKs(t)
	if !torture() {
		return jdks[:1]
	}
	return jdks
}

// namespaced is how to run a command in a mount namespace of its own after script, or skips.
func namespaced(t *testing.T, script string) []string {
	t.Helper()
	if out, err := exec.Command("unshare", "--mount", "true").CombinedOutput(); err != nil {
		t.Skipf("a mount namespace takes root and unshare: %v: %s", err, out)
	}
	return []string{"unshare", "--mount", "sh", "-c", script + ` && exec "$@"`, "sh"}
}

// Places that every program expects are not there.
func TestTortureMounts(t *testing.T) {
	testjvm.Shared(t)
	for i, c := range []struct{ name, script string }{
		{"no sys", "mount -t tmpfs none /sys"}, // without /proc no java starts
		{"no clock", "mount --bind /dev/null /sys/devices/system/clocksource/clocksource0/current_clocksource"},
		{"tmp read only", "mount -t tmpfs -o ro none /var/tmp && mount -t tmpfs -o ro none /dev/shm"},
		{"dev empty", "mount -t tmpfs -o ro none /dev"},
	} {
		if i > 0 && !torture() {
			break
		}
		for _, jdk := range newestOrAll(t) {
			t.Run(jdk.String()+"/"+c.name, func(t *testing.T) {
				cmd := strangeCommand(t, jdk, "work", "300")
				cmd.Wrap = namespaced(t, c.script)
				unharmed(t, cmd, false)
			})
		}
	}
}

// Native threads attach to the JVM, execute tasks and end, with and without detaching.
func TestTortureNativeThreads(t *testing.T) {
	testjvm.Shared(t)
	jdks := oldestOrAll(t)
	library := filepath.Join(t.TempDir(), "libattached.so")
	source := filepath.Join(testjvm.Root(t), "e2e", "testdata", "strange", "attached.c")
	home := jdks[0].Home
	line := []string{"-shared", "-fPIC", "-O1", "-I", home + "/include", "-I", home + "/include/linux", "-o", library, source, "-pthread"}
	if out, err := exec.Command("cc", line...).CombinedOutput(); err != nil {
		t.Fatalf("compiling %s: %v\n%s", source, err, out)
	}
	for _, jdk := range jdks {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := strangeCommand(t, jdk, "natives", fmt.Sprint(roundsOf(200, 1000)), library)
			cmd.VM = []string{"--enable-native-access=ALL-UNNAMED"}
			unharmed(t, cmd, false)
		})
	}
}

// An archive of classes that was made without the agent serves a run with it.
func TestTortureArchive(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range oldestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			dir := t.TempDir()
			cmd := strangeCommand(t, jdk, "work", "500")
			jar := filepath.Join(dir, "strange.jar") // archives hold classes of jars only
			if out, err := exec.Command(jdk.Tool("jar"), "--create", "--file", jar, "-C", cmd.Classpath, ".").CombinedOutput(); err != nil {
				t.Fatalf("jar: %v\n%s", err, out)
			}
			cmd.Classpath = jar
			archives := [][]string{{"-XX:ArchiveClassesAtExit=" + filepath.Join(dir, "0")}, {"-Xshare:dump", "-XX:SharedArchiveFile=" + filepath.Join(dir, "1")}}
			for i, option := range archives[:roundsOf(1, 2)] {
				cmd.VM = option
				if res := cmd.Plain(t); res.Exit != 0 {
					t.Fatalf("making an archive: %+v", res)
				}
				cmd.VM = []string{"-Xshare:auto", "-XX:SharedArchiveFile=" + filepath.Join(dir, fmt.Sprint(i))}
				unharmed(t, cmd, false)
			}
		})
	}
}

// An image of jlink with java.base alone.
func TestTortureImage(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range newestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cmd := strangeCommand(t, jdk, "work", "500")
			cmd.JDK.Home = imageOf(t, jdk)
			unharmed(t, cmd, false)
		})
	}
}

// imageOf makes an image of a JDK's java.base, once.
func imageOf(t *testing.T, jdk testjvm.JDK) string {
	t.Helper()
	image := filepath.Join(testjvm.Root(t), "build", "torture", "image-"+jdk.Full)
	if _, err := os.Stat(filepath.Join(image, "release")); err == nil {
		return image
	}
	aside := filepath.Join(t.TempDir(), "image")
	if out, err := exec.Command(jdk.Tool("jlink"), "--add-modules", "java.base", "--output", aside).CombinedOutput(); err != nil {
		t.Fatalf("jlink: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Dir(image), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, image); err != nil {
		return aside // it is on another file system
	}
	return image
}

// Agents attach and detach while the program works, loads classes and ends threads.
func TestTortureAttachCycles(t *testing.T) {
	testjvm.Shared(t)
	for _, jdk := range oldestOrAll(t) {
		t.Run(jdk.String(), func(t *testing.T) {
			cycles(t, jdk, roundsOf(2, 14))
		})
	}
}

// cycles attaches and detaches n times while the program of testdata/strange works.
func cycles(t *testing.T, jdk testjvm.JDK, n int, vm ...string) {
	t.Helper()
	cmd := strangeCommand(t, jdk, "load")
	cmd.VM = slices.Concat([]string{"-Xmx300m", "-XX:+IgnoreUnrecognizedVMOptions", "-XX:+EnableDynamicAgentLoading"}, vm)
	g := startGuestLine(t, cmd.Java())
	g.pid = g.Process.Pid
	g.waitLine(t, "ready")
	for range n {
		p := g.attached(t, func() {})
		accounted(t, p.Dir)
	}
	g.in.Close()
	out, exit := g.process.end(t)
	if out != "wrong 0\n" || exit != 0 {
		t.Errorf("the program ended with %d and %q\n%s", exit, out, g.stderr.String())
	}
}
