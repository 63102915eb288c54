package e2e_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// The library, its C parts under AddressSanitizer, in a JVM: the sanitizer reports nothing. Faults stay the JVM's
// own business, which handles some of its loads by them; what a JVM leaves at its end is no leak of ours.
func TestTortureAddresses(t *testing.T) {
	testjvm.Shared(t)
	if !torture() {
		t.Skip("builds the library anew: make torture")
	}
	runtime, err := exec.Command("cc", "-print-file-name=libasan.so").Output()
	preload := strings.TrimSpace(string(runtime))
	if err != nil || !filepath.IsAbs(preload) {
		t.Skipf("cc has no AddressSanitizer: %q, %v", preload, err)
	}
	library := sanitized(t)
	eachJDK(t, func(t *testing.T, jdk testjvm.JDK) {
		for _, args := range [][]string{{"work", "3000"}, {"loaders", "300"}, {"deep", "20"}, {"nested", "100"}, {"threads", "300"}, {"exit", "7"}} {
			t.Run(args[0], func(t *testing.T) {
				log := filepath.Join(t.TempDir(), "asan")
				cmd := strangeCommand(t, jdk, args...)
				plain := cmd.Plain(t)
				cmd.VM = []string{strings.Replace(agentFlag(t, "bus=nats://127.0.0.1:1"), testjvm.Library(t), library, 1)}
				cmd.Env = []string{"LD_PRELOAD=" + preload, "ASAN_OPTIONS=handle_segv=0:handle_abort=0:allow_user_segv_handler=1:use_sigaltstack=0:detect_leaks=0:log_path=" + log}
				sameRun(t, plain, cmd.Plain(t))
				reports, err := filepath.Glob(log + "*")
				if err != nil || len(reports) > 0 {
					b, _ := os.ReadFile(reports[0])
					t.Errorf("AddressSanitizer (%v):\n%.4000s", err, b)
				}
			})
		}
	})
}

// sanitized builds the library with its C parts under AddressSanitizer.
func sanitized(t *testing.T) string {
	t.Helper()
	library := filepath.Join(t.TempDir(), "libstackagent.so")
	home := testjvm.JDKs(t)[0].Home
	cmd := exec.Command("scripts/go.sh", "build", "-ldflags", "-X runtime.godebugDefault=asyncpreemptoff=1", "-buildmode=c-shared", "-o", library, "./cmd/stackagent")
	cmd.Dir = testjvm.Root(t)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_LDFLAGS=-fsanitize=address",
		"CGO_CFLAGS=-g -O1 -fsanitize=address -fno-omit-frame-pointer -I"+home+"/include -I"+home+"/include/linux")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("building with AddressSanitizer: %v\n%s", err, out)
	}
	return library
}
