package sched

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
	"stackagent/internal/testjvm"
)

const nobodyVariable = "STACKAGENT_TEST_NOBODY"

// Without rights eBPF is refused with a remedy. Perf's switch records of the user's own
// programs remain if perf_event_paranoid is 2 or less; otherwise they are refused with a
// remedy, too.
func TestWithoutRights(t *testing.T) {
	if os.Getenv(nobodyVariable) != "" {
		asNobody(t)
		return
	}
	if os.Getuid() != 0 {
		t.Skip("needs root, to run a part of the test as another user; run it as root")
	}
	dir := testjvm.OpenFolder(t)
	program, err := program()
	if err != nil {
		t.Fatal(err)
	}
	testjvm.CopyProgram(t, program, filepath.Join(dir, "threads"))
	testjvm.CopyProgram(t, "/proc/self/exe", filepath.Join(dir, "test"))
	cmd := exec.Command(filepath.Join(dir, "test"), "-test.run=^TestWithoutRights$", "-test.v")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), nobodyVariable+"="+filepath.Join(dir, "threads"), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	if !strings.Contains(string(out), "as nobody") {
		t.Error("the test did not run as nobody")
	}
}

func asNobody(t *testing.T) {
	t.Logf("as nobody: user %d", os.Getuid())
	_, err := Start(EBPF)
	var u *UnavailableError
	if !errors.As(err, &u) || u.Remedy == "" {
		t.Errorf("eBPF: %v; want a refusal with a remedy", err)
	}
	t.Log(err)
	for _, f := range Probe() {
		t.Logf("%+v", f)
		if f.Available == "no" && (f.Detail == "" || f.Remedy == "") {
			t.Errorf("no reason or no remedy: %+v", f)
		}
	}
	testjvm.OneGood(t, func(a *testjvm.Attempt) { observeAsNobody(t, a) })
}

func observeAsNobody(t *testing.T, a *testjvm.Attempt) {
	o, err := Start(Auto)
	var u *UnavailableError
	if errors.As(err, &u) {
		if u.Remedy == "" {
			t.Errorf("no remedy: %v", err)
		}
		t.Logf("nothing is left: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if o.Source() != "perf" || o.NotAvailable()["source ebpf"] == "" {
		t.Errorf("source %s, not available %v", o.Source(), o.NotAvailable())
	}
	x := launch(t, a, o, exec.Command(os.Getenv(nobodyVariable), "turns", "100"))
	sums := x.sums(x.named(t, "taker0"))
	t.Log(sums)
	least(a, "running", sums[Running], 100e6)
}

// Every error number that a kernel returns for missing rights is explained.
func TestRefusals(t *testing.T) {
	for _, err := range []error{unix.EPERM, unix.EACCES, unix.ENOSYS} {
		var u *UnavailableError
		if !errors.As(kernelprog.Explain(err), &u) || u.Reason == "" || u.Remedy == "" {
			t.Errorf("eBPF, %v: %+v", err, u)
		}
		if !errors.As(explainPerf(err), &u) || u.Reason == "" || u.Remedy == "" {
			t.Errorf("perf, %v: %+v", err, u)
		}
	}
}
