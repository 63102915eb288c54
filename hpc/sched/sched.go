// Package sched records and reads what each thread of a process did with its
// time as the operating system's scheduler saw it: running, waiting for a CPU,
// or off the CPU for a reason.
package sched

import "stackagent/internal/units"

// State is what a thread is doing. The numbers never change: they are stored.
type State uint8

// The states. Every moment between a thread's first and last is in exactly one.
const (
	Unknown  State = 0 // not observed: records were lost, or the thread's start was missed
	Running  State = 1
	Runnable State = 2 // ready, waiting for a CPU
	Futex    State = 3 // blocked in a futex: locks, monitors, park, joins
	IO       State = 4 // blocked in a read, write, poll, accept, ... or uninterruptible
	Sleeping State = 5 // waits for a time: nanosleep; a futex with a time limit is Futex
	Blocked  State = 6 // off the CPU for a reason that the source does not know
)

// NStates is the number of states.
const NStates = 7

// Slice is one stay of a thread in a state.
type Slice struct {
	Thread   uint32 // index into Record.Threads
	State    State
	From, To units.MonoNs
	Waker    Waker // of a wait: who ended it
	// Futex says which futex a thread waits for, 0: not known. Waits with the same number are for the same lock,
	// condition variable or parked thread.
	Futex uint32
}

// Thread is a kernel thread of the observed process. A reused thread id is
// another Thread.
type Thread struct {
	TID         int32
	Name        string       // /proc/PID/task/TID/comm, at most 15 bytes, the last one seen
	First, Last units.MonoNs // start and end, or those of the observation
	BeginSeen   bool         // First is its start
	EndSeen     bool         // Last is its end
	Voluntary   uint64       // switches because it blocked
	Involuntary uint64       // switches because it was preempted or yielded
	CPU         units.Ns     // CPU time by the kernel over First..Last, or NotMeasured: the oracle for the sum of Running
}

// Record is the scheduling record of one process.
type Record struct {
	Source       string // "ebpf", "perf"
	PID          int
	From, To     units.MonoNs
	Threads      []Thread
	Lost         uint64            // records of switches for which the kernel had no room, or shadow before the session began
	NotAvailable map[string]string // what this source cannot record -> why and the remedy
	Account      *Account          // nil: not compared
	Cost         *Cost             // of the observation; nil: not known
}
