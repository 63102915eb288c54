package hpc

import (
	"fmt"

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
