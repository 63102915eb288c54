//go:build consumers

package consumers

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

const armCompiler = "aarch64-linux-gnu-gcc"

// emulation skips the test where arm64 can be neither run nor emulated.
func emulation(t *testing.T) {
	t.Helper()
	for name, packages := range map[string]string{armCompiler: "gcc-aarch64-linux-gnu libc6-dev-arm64-cross", "qemu-aarch64-static": "qemu-user-static"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("not available: %s (apt-get install %s)", name, packages)
		}
	}
}

// TestArmC runs the tests of the parts in C that differ between architectures.
func TestArmC(t *testing.T) {
	emulation(t)
	for _, test := range []struct {
		source string
		args   []string
		exits  []int // 2: this machine does not have what is tested
	}{
		{"ring/testdata/ring_test.c", nil, []int{0}},
		{"clock/testdata/counter_test.c", nil, []int{0}},
		{"clock/testdata/clock_test.c", []string{"0", "syscall"}, []int{0}},
		{"clock/testdata/rseq_test.c", nil, []int{0, 2}}, // qemu has no restartable sequences: only that this is noticed
	} {
		program := filepath.Join(t.TempDir(), "program")
		out, err := exec.Command(armCompiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", program,
			filepath.Join(testjvm.Root(t), "jvmti", test.source)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", test.source, err, out)
		}
		cmd := exec.Command("qemu-aarch64-static", append([]string{"-L", "/usr/aarch64-linux-gnu", program}, test.args...)...)
		out, _ = cmd.CombinedOutput()
		code, ok := cmd.ProcessState.ExitCode(), false
		for _, e := range test.exits {
			ok = ok || e == code
		}
		if !ok {
			t.Errorf("%s: exit %d\n%s", test.source, code, out)
		}
		t.Logf("%s: exit %d: %s", test.source, code, out)
	}
}

// TestArmJVM: the agent and the command, built for arm64, profile examples on a JVM for arm64, all emulated, as their oracles say.
func TestArmJVM(t *testing.T) {
	emulation(t)
	root, dir := testjvm.Root(t), t.TempDir()
	java := cache(t, "arm64-java")
	run(t, root, nil, "scripts/arm64-java.sh", java)
	build := []string{"GOARCH=arm64", "GOOS=linux"}
	command, library := filepath.Join(dir, "shadow"), filepath.Join(dir, "libstackagent.so")
	run(t, root, append(build, "CGO_ENABLED=0"), "go", "build", "-o", command, "./cmd/shadow")
	run(t, root, append(build, "CGO_ENABLED=1", "CC="+armCompiler), "go", "build", "-ldflags", "-X runtime.godebugDefault=asyncpreemptoff=1",
		"-buildmode=c-shared", "-o", library, "./cmd/stackagent")
	jdk := testjvm.JDKs(t)[0]
	for _, name := range []string{"pool", "lambdas", "forkjoin"} {
		t.Run(name, func(t *testing.T) {
			o := testjvm.Example(t, name)
			session := filepath.Join(t.TempDir(), "session")
			out := run(t, root, []string{"STACKAGENT_AGENT=" + library}, "qemu-aarch64-static", append([]string{command, "run", "--detail", "all", "-o", session,
				"--", filepath.Join(java, "bin", "java"), "-cp", testjvm.Compile(t, jdk, o.Dir), "Main"}, o.Args...)...)
			if !o.Prints(out) {
				t.Errorf("the program printed %q", out)
			}
			var rows []testjvm.Row
			listed := run(t, root, nil, filepath.Join(root, "bin", "shadow"), "hotspots", session, "--format", "json")
			if err := json.Unmarshal([]byte(listed), &rows); err != nil {
				t.Fatal(err)
			}
			for _, wrong := range o.Compare(rows, nil) {
				t.Error(wrong)
			}
		})
	}
}

// TestOtherSystems: the command builds where sessions are only read, and the library is refused there with a reason.
func TestOtherSystems(t *testing.T) {
	for _, system := range []string{"darwin/arm64", "darwin/amd64"} {
		goos, arch, _ := strings.Cut(system, "/")
		if goos == runtime.GOOS {
			continue
		}
		run(t, testjvm.Root(t), []string{"GOOS=" + goos, "GOARCH=" + arch, "CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(t.TempDir(), "shadow"), "./cmd/shadow")
	}
}

// run runs a command in a folder with more environment, and gives its standard output.
func run(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, errs.String())
	}
	return string(out)
}
