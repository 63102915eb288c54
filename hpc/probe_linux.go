package hpc

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// Remedies that several checks share.
const (
	remedyParanoid = "as root: sysctl kernel.perf_event_paranoid=1, or give the command CAP_PERFMON"
	remedyPMU      = "run on bare metal or on a virtual machine with a virtual PMU (KVM: -cpu host,pmu=on); wall and CPU time do not need it"
)

// Probe finds out what this machine allows the calling user. It opens a few
// perf events on itself and reads /proc and /sys; it takes a few milliseconds.
func Probe() []Facility {
	r := roots{}
	return []Facility{
		paranoid(r), hardwareCounters(r), taskClockPage(), rseqSwitches(), switchRecords(),
		capability(r, "CAP_PERFMON", unix.CAP_PERFMON),
		capability(r, "CAP_BPF", unix.CAP_BPF),
		steadyCounter(r, runtime.GOARCH), clockSource(r), traceFS(r), lockedMemory(r),
		cpus(r), container(r),
	}
}

// paranoid judges kernel.perf_event_paranoid: 2 and less lets a user measure
// its own programs in user mode (3 and 4 are patches of Debian and Android).
func paranoid(r roots) Facility {
	f := Facility{Name: "perf_event_paranoid"}
	text, err := r.read("/proc/sys/kernel/perf_event_paranoid")
	if err != nil {
		f.Available, f.Detail = No, "the kernel has no perf events"
		if r.exists("/proc/sys/kernel") != Yes {
			f.Available, f.Detail = Unknown, err.Error()
		}
		return f
	}
	level, err := strconv.Atoi(text)
	if err != nil {
		f.Available, f.Detail = Unknown, fmt.Sprintf("unexpected content %q", text)
		return f
	}
	f.Detail = fmt.Sprintf("%d: ", level)
	privileged := capability(r, "", unix.CAP_PERFMON).Available == Yes
	switch {
	case privileged:
		f.Available, f.Detail = Yes, f.Detail+"does not bind this user (CAP_PERFMON or CAP_SYS_ADMIN)"
	case level >= 3:
		f.Available, f.Detail, f.Remedy = No, f.Detail+"perf events are closed to this user", remedyParanoid
	case level == 2:
		f.Available, f.Detail = Yes, f.Detail+"own programs, user mode only"
	default:
		f.Available, f.Detail = Yes, f.Detail+"own programs, user and kernel mode"
	}
	return f
}

// capability looks at the effective set; CAP_SYS_ADMIN includes the
// newer, narrower ones (capabilities(7)).
func capability(r roots, name string, bit uint) Facility {
	f := Facility{Name: name}
	set, err := effectiveCapabilities(r)
	if err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	switch {
	case set&(1<<bit) != 0:
		f.Available, f.Detail = Yes, "held"
	case set&(1<<unix.CAP_SYS_ADMIN) != 0:
		f.Available, f.Detail = Yes, "not held, but CAP_SYS_ADMIN includes it"
	default:
		f.Available, f.Detail = No, "not held by this user"
		f.Remedy = "run as root, or as root: setcap " + strings.ToLower(name) + "+ep PATH_OF_SHADOW"
	}
	return f
}

func effectiveCapabilities(r roots) (uint64, error) {
	status, err := r.read("/proc/self/status")
	if err != nil {
		return 0, err
	}
	return proc.Status(status).Capabilities()
}

// steadyCounter: the agent's clock reads the CPU's counter only if that neither changes its rate nor stops: on amd64 the
// time-stamp counter with constant_tsc and nonstop_tsc, on arm64 always the virtual counter, if the kernel uses it, too.
func steadyCounter(r roots, arch string) Facility {
	f := Facility{Name: "steady CPU counter"}
	const instead = "; the agent reads CLOCK_MONOTONIC, which costs a few ns more"
	var path string
	var look func(content string) (Answer, string)
	switch arch {
	case "amd64":
		path, look = "/proc/cpuinfo", timeStampCounter
	case "arm64":
		path, look = clockSourceDir+"current_clocksource", virtualCounter
	default:
		f.Available, f.Detail = No, "not known for "+arch+instead
		return f
	}
	content, err := r.read(path)
	if err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	if f.Available, f.Detail = look(content); f.Available == No {
		f.Detail += instead
	}
	return f
}

func timeStampCounter(cpuinfo string) (Answer, string) {
	for line := range strings.Lines(cpuinfo) {
		name, flags, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(name) != "flags" {
			continue
		}
		words := " " + strings.TrimSpace(flags) + " "
		if strings.Contains(words, " constant_tsc ") && strings.Contains(words, " nonstop_tsc ") {
			return Yes, "constant_tsc and nonstop_tsc"
		}
		return No, "no constant_tsc and nonstop_tsc"
	}
	return Unknown, "/proc/cpuinfo has no line of flags"
}

func virtualCounter(clockSource string) (Answer, string) {
	if strings.HasPrefix(clockSource, "arch_sys_counter") {
		return Yes, "CNTVCT_EL0"
	}
	return No, "the kernel uses " + clockSource + " instead of the system counter"
}

const clockSourceDir = "/sys/devices/system/clocksource/clocksource0/"

// clockSource: CLOCK_MONOTONIC is cheap only where the vDSO can read the source.
func clockSource(r roots) Facility {
	f := Facility{Name: "cheap clock source"}
	current, err := r.read(clockSourceDir + "current_clocksource")
	if err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	switch current {
	case "tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter":
		f.Available, f.Detail = Yes, current
	default:
		f.Available = No
		f.Detail = current + ": every reading of the clock is a system call"
		if all, err := r.read(clockSourceDir + "available_clocksource"); err == nil && strings.Contains(" "+all+" ", " tsc ") {
			f.Remedy = "as root: echo tsc > " + clockSourceDir + "current_clocksource"
		}
	}
	return f
}

func traceFS(r roots) Facility {
	f := Facility{Name: "tracefs"}
	mounts, err := r.read("/proc/mounts")
	if err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	for line := range strings.Lines(mounts) {
		field := strings.Fields(line)
		if len(field) < 3 || field[2] != "tracefs" {
			continue
		}
		f.Detail = "mounted on " + field[1]
		if _, err := os.ReadDir(r.path(field[1] + "/events")); err != nil {
			f.Available, f.Detail = No, f.Detail+", but closed to this user"
			f.Remedy = "run as root"
			return f
		}
		f.Available = Yes
		return f
	}
	f.Available, f.Detail = No, "not mounted; not needed for tasks and counters"
	f.Remedy = "as root: mount -t tracefs tracefs /sys/kernel/tracing"
	return f
}
