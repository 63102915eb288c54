package experiment

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// Host says which machine it is.
type Host struct {
	Name     string `json:"name"`
	CPU      string `json:"cpu"` // model; "" if the kernel does not tell
	CPUs     int    `json:"cpus"`
	Kernel   string `json:"kernel"`
	Governor string `json:"governor,omitempty"` // of the clock rate; "": the kernel does not control it
}

// ThisHost is the machine that this program runs on.
func ThisHost() Host {
	h := Host{CPUs: runtime.NumCPU(), Kernel: line("/proc/sys/kernel/osrelease"), Governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")}
	h.Name, _ = os.Hostname()
	info, _ := os.ReadFile("/proc/cpuinfo")
	for l := range strings.Lines(string(info)) {
		if key, value, ok := strings.Cut(l, ":"); ok && strings.TrimSpace(key) == "model name" {
			h.CPU = strings.TrimSpace(value)
			break
		}
	}
	return h
}

// line is the first line of a small file of the kernel, "" if there is none.
func line(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimSpace(first)
}

// Machine is how the machine was during a run. What is nil the machine does not tell.
type Machine struct {
	Load      *float64 `json:"load"`      // average of the minute before the run
	Others    *float64 `json:"others"`    // share of all CPU time that other programs took, 0 to 1
	Stolen    *float64 `json:"stolen"`    // share that interrupts and the hypervisor took
	MHz       *float64 `json:"mhz"`       // mean clock rate of the CPUs, before and after
	Throttled *int64   `json:"throttled"` // times that CPUs were slowed down for their heat
}

// moment is what is read before and after a run.
type moment struct {
	at         time.Time
	processors proc.Processors
	known      bool // processors
	own        time.Duration
	load       *float64
	mhz        *float64
	throttled  *int64
}

// CPU time that this process and those it has waited for have used.
func ownCPU() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

func readMoment() moment {
	m := moment{at: time.Now(), own: ownCPU()}
	if p, err := proc.ReadProcessors(); err == nil {
		m.processors, m.known = p, true
	}
	if first, _, ok := strings.Cut(line("/proc/loadavg"), " "); ok {
		if load, err := strconv.ParseFloat(first, 64); err == nil {
			m.load = &load
		}
	}
	if khz, n := sumOf("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_cur_freq"); n > 0 {
		mean := float64(khz) / float64(n) / 1000
		m.mhz = &mean
	}
	if times, n := sumOf("/sys/devices/system/cpu/cpu[0-9]*/thermal_throttle/*_throttle_count"); n > 0 {
		m.throttled = &times
	}
	return m
}

// sumOf adds up the numbers in the files that match; n is how many there are.
func sumOf(pattern string) (sum int64, n int) {
	paths, _ := filepath.Glob(pattern)
	for _, path := range paths {
		if v, err := strconv.ParseInt(line(path), 10, 64); err == nil {
			sum, n = sum+v, n+1
		}
	}
	return sum, n
}

// between is how the machine was from before to after.
func between(before, after moment) Machine {
	m := Machine{Load: before.load}
	if before.mhz != nil && after.mhz != nil {
		mean := (*before.mhz + *after.mhz) / 2
		m.MHz = &mean
	}
	if before.throttled != nil && after.throttled != nil {
		n := *after.throttled - *before.throttled
		m.Throttled = &n
	}
	if !before.known || !after.known {
		return m
	}
	busy := after.processors.Busy - before.processors.Busy
	stolen := after.processors.Stolen - before.processors.Stolen
	all := busy + after.processors.Idle - before.processors.Idle
	if all <= 0 {
		return m
	}
	// Ticks and the exact CPU time of the run do not agree to the last tick.
	others := max(0, busy-stolen-(after.own-before.own)).Seconds() / all.Seconds()
	share := stolen.Seconds() / all.Seconds()
	m.Others, m.Stolen = &others, &share
	return m
}

// leastDisturbance is CPU time of others that the kernel's ticks of 10 ms can not be wrong about.
const leastDisturbance = 100 * time.Millisecond

// disturbance says what else kept the machine busy during a run of length wall, if it was more than the
// share bound of its CPU time; "" if not.
func (m *Machine) disturbance(bound float64, wall time.Duration) string {
	var parts []string
	all := wall.Seconds() * float64(runtime.NumCPU())
	for _, x := range []struct {
		share *float64
		what  string
	}{{m.Others, "other programs"}, {m.Stolen, "interrupts or the hypervisor"}} {
		if x.share != nil && *x.share > bound && *x.share*all > leastDisturbance.Seconds() {
			parts = append(parts, fmt.Sprintf("%s took %s of the CPU time", x.what, units.FormatPercent(*x.share)))
		}
	}
	if m.Throttled != nil && *m.Throttled > 0 {
		parts = append(parts, "the CPUs were slowed down for their heat")
	}
	return strings.Join(parts, "; ")
}
