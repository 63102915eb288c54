package hpc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// machine makes a root folder of the given files.
func machine(t *testing.T, files map[string]string) roots {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return roots{dir}
}

const (
	noCaps  = "Name:\tx\nCapEff:\t0000000000000000\n"
	allCaps = "Name:\tx\nCapEff:\t000001ffffffffff\n"
	sysCaps = "CapEff:\t0000000000200000\n" // CAP_SYS_ADMIN only
)

func TestProbesOfFiles(t *testing.T) {
	const (
		status   = "/proc/self/status"
		level    = "/proc/sys/kernel/perf_event_paranoid"
		clockDir = "/sys/devices/system/clocksource/clocksource0/"
	)
	tests := []struct {
		name  string
		files map[string]string
		probe func(roots) Facility
		want  Answer
	}{
		{"paranoid 4, a user", map[string]string{status: noCaps, level: "4\n"}, paranoid, No},
		{"paranoid 2, a user", map[string]string{status: noCaps, level: "2\n"}, paranoid, Yes},
		{"paranoid -1, a user", map[string]string{status: noCaps, level: "-1\n"}, paranoid, Yes},
		{"paranoid 4, root", map[string]string{status: allCaps, level: "4\n"}, paranoid, Yes},
		{"paranoid garbage", map[string]string{status: noCaps, level: "x"}, paranoid, Unknown},
		{"no perf in the kernel", map[string]string{status: noCaps, "/proc/sys/kernel/ostype": ""}, paranoid, No},
		{"no /proc", nil, paranoid, Unknown},
		{"capability by sys_admin", map[string]string{status: sysCaps}, perfmon, Yes},
		{"capability missing", map[string]string{status: noCaps}, perfmon, No},
		{"capability unreadable", map[string]string{status: "CapEff:\tzz\n"}, perfmon, Unknown},
		{"clock tsc", map[string]string{clockDir + "current_clocksource": "tsc\n"}, clockSource, Yes},
		{"clock hpet", map[string]string{clockDir + "current_clocksource": "hpet\n"}, clockSource, No},
		{"clock unknown", nil, clockSource, Unknown},
		{"tracefs", map[string]string{"/proc/mounts": "t /t tracefs rw 0 0\n", "/t/events/enable": ""}, traceFS, Yes},
		{"tracefs closed", map[string]string{"/proc/mounts": "t /t tracefs rw 0 0\n"}, traceFS, No},
		{"tracefs not mounted", map[string]string{"/proc/mounts": "proc /proc proc rw 0 0\n"}, traceFS, No},
		{"docker", map[string]string{"/.dockerenv": ""}, container, Yes},
		{"kubernetes by group", map[string]string{"/proc/1/cgroup": "0::/kubepods/x\n"}, container, Yes},
		{"no container", map[string]string{"/proc/1/cgroup": "0::/init.scope\n"}, container, No},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := test.probe(machine(t, test.files))
			if got.Available != test.want {
				t.Errorf("%+v, want %q", got, test.want)
			}
			if got.Detail == "" {
				t.Error("no detail")
			}
		})
	}
}

func perfmon(r roots) Facility { return capability(r, "CAP_PERFMON", unix.CAP_PERFMON) }

func TestSteadyCounter(t *testing.T) {
	const source = clockSourceDir + "current_clocksource"
	for _, test := range []struct {
		arch, path, content string
		want                Answer
	}{
		{"amd64", "/proc/cpuinfo", "flags\t\t: fpu constant_tsc rep_good nonstop_tsc\n", Yes},
		{"amd64", "/proc/cpuinfo", "flags\t\t: fpu constant_tsc rep_good\n", No},
		{"amd64", "/proc/cpuinfo", "model name: x\n", Unknown},
		{"arm64", source, "arch_sys_counter\n", Yes},
		{"arm64", source, "jiffies\n", No},
		{"arm64", "/proc/cpuinfo", "", Unknown},
		{"riscv64", source, "riscv_clocksource\n", No},
	} {
		got := steadyCounter(machine(t, map[string]string{test.path: test.content}), test.arch)
		if got.Available != test.want || got.Detail == "" {
			t.Errorf("%s, %q: %+v, want %q", test.arch, test.content, got, test.want)
		}
	}
}

func TestCgroupCPUs(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  float64
		fails bool
	}{
		{"v2 with a limit above", map[string]string{
			"/proc/self/cgroup": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
			"/sys/fs/cgroup/a/cpu.max": "150000 100000\n", "/sys/fs/cgroup/cgroup.controllers": "cpu"}, 1.5, false},
		{"v2 without", map[string]string{
			"/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cgroup.controllers": "cpu"}, 0, false},
		{"v1", map[string]string{
			"/proc/self/cgroup":                       "4:cpu,cpuacct:/a\n1:memory:/a\n",
			"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us":   "50000",
			"/sys/fs/cgroup/cpu/a/cpu.cfs_period_us":  "100000",
			"/sys/fs/cgroup/cpu/cpu.cfs_quota_us":     "-1",
			"/sys/fs/cgroup/cpu/cpu.cfs_period_us":    "100000",
			"/sys/fs/cgroup/memory/a/not_looked_at_0": ""}, 0.5, false},
		{"not mounted", map[string]string{"/proc/self/cgroup": "0::/\n"}, 0, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := cgroupCPUs(machine(t, test.files))
			if got != test.want || (err != nil) != test.fails {
				t.Errorf("%g, %v; want %g, failure %v", got, err, test.want, test.fails)
			}
		})
	}
}

func TestExplain(t *testing.T) {
	for _, errno := range []unix.Errno{unix.EACCES, unix.EPERM, unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV, unix.ENOSYS, unix.EMFILE, unix.EBUSY} {
		reason, remedy, known := explain(fmt.Errorf("opening: %w", os.NewSyscallError("perf_event_open", errno)), true)
		if reason == "" || remedy == "" || !known {
			t.Errorf("%v: %q, %q, %v", errno, reason, remedy, known)
		}
	}
	if reason, _, _ := explain(unix.ENOENT, false); strings.Contains(reason, "hardware") {
		t.Errorf("a software event is explained by hardware: %s", reason)
	}
	if _, _, known := explain(errors.New("something else"), true); known {
		t.Error("an unknown error is explained")
	}
}

// Probe must answer every question on this machine, and its answer about hardware
// counters must agree with opening one.
func TestProbe(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Probe() {
		t.Logf("%-26s %-14s %s %s", f.Name, f.Available, f.Detail, f.Remedy)
		if f.Name == "" || f.Detail == "" || seen[f.Name] {
			t.Errorf("incomplete or repeated: %+v", f)
		}
		seen[f.Name] = true
		if f.Name == "hardware counters" {
			c, err := perfSource{}.Open(os.Getpid(), Instructions)
			if err == nil {
				c.Close()
			}
			if (f.Available == Yes) && err != nil {
				t.Errorf("said to be available, yet: %v", err)
			}
		}
	}
}
