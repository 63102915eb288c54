package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/cmd/shadow/internal/jvmprocess"
	"stackagent/hpc"
	"stackagent/hpc/sched"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// A run records what the scheduler does with the JVM from its first instruction
// on, by each source that the machine has, and says why where it has none.
func TestRunSwitches(t *testing.T) {
	available := map[string]bool{"off": true}
	for _, f := range sched.Probe() {
		available[strings.TrimPrefix(f.Name, "scheduling by ")] = f.Available == hpc.Yes
	}
	available["ebpf"] = available["eBPF"]
	for _, source := range []string{"ebpf", "perf", "off"} {
		t.Run(source, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "s")
			code, _, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "--agent", agentLibrary(t), "--switches", source, "-o", dir, "--", fakeJava(t, "java"))
			if !available[source] {
				if code != 1 || !strings.Contains(errs, "not available") {
					t.Errorf("exit code %d: %s; want a refusal with its reason", code, errs)
				}
				t.Skip(errs)
			}
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			checkSession(t, dir)
			r, err := sched.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			if source == "off" {
				if r != nil {
					t.Error("there is a record with --switches off")
				}
				return
			}
			checkTimes(t, dir, r, source)
		})
	}
	if code, _, errs := shadow(t, nil, "run", "--switches", "some", "--", "java"); code != 2 || !strings.Contains(errs, "auto, ebpf, perf, off") {
		t.Errorf("wrong source: exit code %d: %s", code, errs)
	}
}

// checkTimes: the record is whole, and shadow threads shows where the time of
// the first thread went.
func checkTimes(t *testing.T, dir string, r *sched.Reader, source string) {
	t.Helper()
	if r == nil || !r.Complete() || len(r.Damage()) > 0 || r.Record().Source != source {
		t.Fatalf("record %+v", r)
	}
	code, out, errs := shadow(t, nil, "threads", dir, "--format", "json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var rows []threadJSON
	if err := json.Unmarshal([]byte(out), &rows); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Times == nil || int(row.Times.OSID) != r.Record().PID {
			continue
		}
		x := row.Times
		sum := x.RunningNs + x.RunnableNs + x.FutexNs + x.IONs + x.SleepingNs + x.BlockedNs + x.UnknownNs
		if int64(sum) != row.Times.LastNs-row.Times.FirstNs || row.Times.RunningNs <= 0 || !row.Times.BeginSeen || !row.Times.EndSeen {
			t.Errorf("times %+v", row.Times)
		}
		if code, out, errs := shadow(t, nil, "threads", dir); code != 0 || !strings.Contains(out, "runnable") || !strings.Contains(errs, "times by "+source) {
			t.Errorf("table: exit code %d: %s%s", code, out, errs)
		}
		return
	}
	t.Errorf("no times of thread %d in %s", r.Record().PID, out)
}

// A process is not taken for a JVM because it has its number.
func TestIsJVM(t *testing.T) {
	sleep := exec.Command("sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	pid := sleep.Process.Pid
	if err := jvmprocess.IsJVM(pid, 0); err == nil || !strings.Contains(err.Error(), "no JVM") {
		t.Errorf("a process without libjvm.so: %v", err)
	}
	sleep.Process.Kill()
	sleep.Wait()
	if err := jvmprocess.IsJVM(pid, 0); err == nil || !strings.Contains(err.Error(), "had ended") {
		t.Errorf("a process that has ended: %v", err)
	}

	mapped(t, "libjvm.so")
	self := os.Getpid()
	began, err := proc.Started(self)
	if err != nil {
		t.Fatal(err)
	}
	if err := jvmprocess.IsJVM(self, began+units.MonoNs(time.Second)); err != nil {
		t.Errorf("a process with libjvm.so: %v", err)
	}
	if err := jvmprocess.IsJVM(self, began-units.MonoNs(2*time.Second)); err == nil || !strings.Contains(err.Error(), "later than the session") {
		t.Errorf("a process that began after the session: %v", err)
	}
}

// mapped maps a file of this name into this process.
func mapped(t *testing.T, name string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, make([]byte, os.Getpagesize()), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	memory, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(memory) })
}

// A session whose threads could not be observed says why.
func TestThreadsWithoutRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	code, _, errs := shadow(t, []string{fakeVariable + "=exit 0"}, "run", "--agent", agentLibrary(t), "--switches", "off", "-q", "-o", dir, "--", fakeJava(t, "java"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	if err := sched.Refuse(filepath.Join(dir, sched.Folder), 1, os.ErrPermission); err != nil {
		t.Fatal(err)
	}
	code, _, errs = shadow(t, nil, "threads", dir)
	if code != 0 || !strings.Contains(errs, "scheduling record not available: permission denied") {
		t.Errorf("exit code %d: %s", code, errs)
	}
	code, out, errs := shadow(t, nil, "gc", dir)
	if code != 0 || !strings.Contains(out+errs, "permission denied") {
		t.Errorf("gc: exit code %d: %s%s", code, out, errs)
	}
}
