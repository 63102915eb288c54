package hpc

import (
	"errors"
	"fmt"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// Event is a kind of event that can be counted per thread.
type Event uint8

// The events. Software events are the kernel's own and exist everywhere;
// hardware events need a PMU.
const (
	TaskClock       Event = iota // CPU time of the thread, nanoseconds (PERF_COUNT_SW_TASK_CLOCK)
	ContextSwitches              // times the thread left a CPU
	PageFaults                   // page faults, minor and major
	CPUMigrations                // times the thread moved to another CPU
	Instructions                 // retired instructions, user mode
	Cycles                       // core cycles, user mode; their length changes with the frequency
	RefCycles                    // reference cycles, user mode; of constant length
	L1Loads                      // loads from the level 1 data cache, user mode, as the next ones
	L1Misses                     // of these, those that missed it
	LLCLoads                     // loads from the last-level cache
	LLCMisses                    // of these, those that missed it
	DTLBMisses                   // loads whose address was not in the data TLB
	eventCount
)

var eventNames = [eventCount]string{"task_clock_ns", "context_switches", "page_faults", "cpu_migrations", "instructions", "cycles", "ref_cycles",
	"l1_loads", "l1_misses", "llc_loads", "llc_misses", "dtlb_misses"}

// String is the event's name in files and columns.
func (e Event) String() string {
	if e < eventCount {
		return eventNames[e]
	}
	return fmt.Sprintf("event %d", uint8(e))
}

// MarshalText writes the name.
func (e Event) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (e *Event) UnmarshalText(b []byte) error {
	for i, name := range eventNames {
		if name == string(b) {
			*e = Event(i)
			return nil
		}
	}
	return fmt.Errorf("unknown counter event %q", b)
}

// Hardware reports whether e needs a PMU.
func (e Event) Hardware() bool { return e >= Instructions }

// Cache reports whether e is an event of the caches: see CacheEvents.
func (e Event) Cache() bool { return e >= L1Loads }

// SoftwareEvents are the events that every Linux machine has.
func SoftwareEvents() []Event {
	return []Event{TaskClock, ContextSwitches, PageFaults, CPUMigrations}
}

// CacheEvents are more hardware events than most CPUs can count at once beside the others, so they are counted only if
// they are asked for: the kernel then lets the events take turns, and counts are estimates.
func CacheEvents() []Event { return []Event{L1Loads, L1Misses, LLCLoads, LLCMisses, DTLBMisses} }

// AllEvents are the software and the hardware events, without those of the caches.
func AllEvents() []Event {
	return append(SoftwareEvents(), Instructions, Cycles, RefCycles)
}

// Reading is what a counter shows at a moment. Running is the part of Enabled
// during which the event really had a counter; it is less than Enabled when the
// kernel multiplexes more events than the CPU has counters.
type Reading struct {
	Value   uint64
	Enabled units.Ns
	Running units.Ns
}

// Counter is one event of one thread. It may be read after the thread's end.
type Counter interface {
	Read() (Reading, error)
	Close() error
}

// Source opens counters; the kernel's, or a test's.
type Source interface {
	// Open starts counting e in thread tid. An event that cannot be counted
	// is a *NotAvailableError; a thread that has ended is unix.ESRCH.
	Open(tid int, e Event) (Counter, error)
}

// perfSource is the kernel's perf_event_open.
type perfSource struct{}

func (perfSource) Open(tid int, e Event) (Counter, error) {
	ev, err := openPerf(tid, e)
	if err == nil {
		if err = checkReserve(ev); err == nil {
			return perfCounter{ev}, nil
		}
		ev.Close() // nothing is written; a failure loses nothing
	}
	return nil, unavailable(tid, e, err)
}

// unavailable explains why e cannot be counted in thread tid.
func unavailable(tid int, e Event, err error) error {
	reason, remedy, known := explain(err, e.Hardware())
	if e.Cache() && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL)) {
		reason, remedy, known = "this processor, or its virtual machine, does not count this event", "", true
	}
	if known {
		return &NotAvailableError{Event: e, Reason: reason, Remedy: remedy, Err: err}
	}
	return fmt.Errorf("opening %s of thread %d: %w", e, tid, err)
}

func checkReserve(ev *perf.Event) error {
	fd, err := ev.FD()
	if err != nil {
		return err
	}
	return CheckReserve(fd)
}

var configurators = [eventCount]perf.Configurator{
	perf.TaskClock, perf.ContextSwitches, perf.PageFaults, perf.CPUMigrations,
	perf.Instructions, perf.CPUCycles, perf.RefCPUCycles,
	loads(perf.L1D, perf.Access), loads(perf.L1D, perf.Miss), loads(perf.LL, perf.Access), loads(perf.LL, perf.Miss), loads(perf.DTLB, perf.Miss),
}

func loads(cache perf.Cache, result perf.CacheOpResult) perf.Configurator {
	return perf.HardwareCacheCounter{Cache: cache, Op: perf.Read, Result: result}
}

// openPerf opens e on a thread. Software events happen in the kernel: without
// the kernel, as paranoid level 2 demands of a user, switches and migrations count
// zero without an error. So only the task clock, which has no modes, is opened that way.
func openPerf(tid int, e Event) (*perf.Event, error) {
	attr, err := attrOf(e)
	if err != nil {
		return nil, err
	}
	ev, err := perf.Open(attr, tid, perf.AnyCPU, nil)
	if err != nil && e == TaskClock && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		attr.Options.ExcludeKernel = true
		ev, err = perf.Open(attr, tid, perf.AnyCPU, nil)
	}
	return ev, err
}

func attrOf(e Event) (*perf.Attr, error) {
	attr := &perf.Attr{
		Label:       e.String(), // set, so that go-perf does not search sysfs for one
		CountFormat: perf.CountFormat{Enabled: true, Running: true},
		Options:     perf.Options{ExcludeHypervisor: true, ExcludeKernel: e.Hardware()},
	}
	return attr, configurators[e].Configure(attr)
}

type perfCounter struct{ ev *perf.Event }

func (c perfCounter) Read() (Reading, error) {
	n, err := c.ev.ReadCount()
	if err != nil {
		return Reading{}, fmt.Errorf("reading %s: %w", n.Label, err)
	}
	return Reading{Value: n.Value, Enabled: units.Ns(n.Enabled), Running: units.Ns(n.Running)}, nil
}

func (c perfCounter) Close() error { return c.ev.Close() }
