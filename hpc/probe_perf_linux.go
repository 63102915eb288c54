package hpc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"
)

// pmuDevices are the names under which kernels list a CPU's counters.
var pmuDevices = []string{"cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0"}

const pmuFolder = "/sys/bus/event_source/devices"

// hardwareCounters counts instructions of a short loop: the only proof that
// holds, because some virtual machines list counters that stay at zero.
func hardwareCounters(r roots) Facility {
	f := Facility{Name: "hardware counters"}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := perfSource{}.Open(unix.Gettid(), Instructions)
	if err != nil {
		var na *NotAvailableError
		if !errors.As(err, &na) {
			f.Available, f.Detail = Unknown, err.Error()
			return f
		}
		f.Available, f.Detail, f.Remedy = No, na.Reason, na.Remedy
		if !hasPMU(r) {
			f.Detail += "; " + pmuFolder + " lists no cpu"
		}
		return f
	}
	defer c.Close()
	spin(200 * time.Microsecond)
	got, err := c.Read()
	switch {
	case err != nil:
		f.Available, f.Detail = Unknown, err.Error()
	case got.Running == 0:
		f.Available, f.Detail = No, "instructions can be opened, but never get a counter"
		f.Remedy = "another tool (a watchdog, perf) holds the counters: as root sysctl kernel.nmi_watchdog=0"
	case got.Value == 0:
		f.Available, f.Detail, f.Remedy = No, "instructions can be opened, but count nothing", remedyPMU
	default:
		f.Available, f.Detail = Yes, "instructions, cycles and ref-cycles per thread"
	}
	return f
}

func hasPMU(r roots) bool {
	for _, name := range pmuDevices {
		if r.exists(pmuFolder+"/"+name) == Yes {
			return true
		}
	}
	return false
}

// spin keeps the CPU busy, without a system call, for about d.
func spin(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}

// taskClockPage checks what the agent's CPU clock relies on without rseq: that the user page
// of a task-clock event changes its lock when the thread leaves the CPU.
func taskClockPage() Facility {
	f := Facility{Name: "CPU time by user page"}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ev, err := openPerf(unix.Gettid(), TaskClock)
	if err != nil {
		f.Available, f.Detail, f.Remedy = notPossible(err)
		f.Detail += "; without it and without " + RseqFacility + " a reading is a system call"
		return f
	}
	defer ev.Close()
	fd, err := ev.FD()
	if err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	page, err := unix.Mmap(fd, 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		f.Available, f.Detail = No, fmt.Sprintf("the event opens, but its page cannot be mapped: %v", err)
		f.Remedy = "ulimit -l 8192"
		return f
	}
	defer unix.Munmap(page)
	lock := &(*unix.PerfEventMmapPage)(unsafe.Pointer(&page[0])).Lock
	before := atomic.LoadUint32(lock)
	for range 50 {
		sleepThread(time.Millisecond)
		if atomic.LoadUint32(lock) != before {
			f.Available, f.Detail = Yes, "task-clock event with user page; its lock counts the switches"
			return f
		}
	}
	f.Available, f.Detail = No, "the user page is not updated when the thread leaves the CPU"
	return f
}

// sleepThread blocks this very OS thread (time.Sleep only parks the goroutine).
func sleepThread(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // waking early is as good
}

// switchRecords opens a ring of context-switch records and waits for one.
func switchRecords() Facility {
	f := Facility{Name: "context-switch records"}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := &perf.Attr{Label: "switches", Options: perf.Options{ContextSwitch: true, ExcludeKernel: true, ExcludeHypervisor: true}}
	if err := perf.Dummy.Configure(attr); err != nil {
		f.Available, f.Detail = Unknown, err.Error()
		return f
	}
	ev, err := perf.Open(attr, unix.Gettid(), perf.AnyCPU, nil)
	if err != nil {
		f.Available, f.Detail, f.Remedy = notPossible(err)
		return f
	}
	defer ev.Close()
	if err := ev.MapRingNumPages(1); err != nil {
		f.Available, f.Detail = No, fmt.Sprintf("the event opens, but its ring cannot be mapped: %v", err)
		f.Remedy = "ulimit -l 8192"
		return f
	}
	for range 50 {
		sleepThread(time.Millisecond)
		if ev.HasRecord() {
			f.Available, f.Detail = Yes, "PERF_RECORD_SWITCH arrives"
			return f
		}
	}
	f.Available, f.Detail = No, "can be opened, but no record arrives"
	return f
}

// ExplainPerf explains an error of perf_event_open for a software event. Both results
// are empty for an unknown error.
func ExplainPerf(err error) (reason, remedy string) {
	reason, remedy, _ = explain(err, false)
	return reason, remedy
}

// notPossible explains an error of perf_event_open.
func notPossible(err error) (Answer, string, string) {
	reason, remedy, known := explain(err, false)
	if !known {
		return Unknown, err.Error(), ""
	}
	return No, reason, remedy
}

// explain knows the errors that perf_event_open(2) documents for hardware and
// software events; known is false for others.
func explain(err error, hardware bool) (reason, remedy string, known bool) {
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return "perf events are not permitted to this user (in a container: by its seccomp profile)", remedyParanoid +
			"; docker run --cap-add PERFMON --security-opt seccomp=...", true
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.ENODEV):
		if hardware {
			return "no hardware counters on this machine", remedyPMU, true
		}
		return "the kernel does not know this event", "use a newer kernel", true
	case errors.Is(err, unix.ENOSYS):
		return "the kernel has no perf events", "boot a kernel with CONFIG_PERF_EVENTS", true
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return "too many open files: each thread and event takes one", "ulimit -n 65536", true
	case errors.Is(err, unix.EBUSY):
		return "another program holds the counters exclusively", "end it", true
	}
	return "", "", false
}
