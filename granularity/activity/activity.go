// Package activity has the types that all analyses of threads' time share: states,
// slices of time, threads. It mirrors the scheduling record (package hpc/sched),
// which analyses must not import.
package activity

import (
	"errors"

	"stackagent/internal/units"
)

// ThreadState is what a thread is doing. Up to Blocked the numbers are those of hpc/sched.
type ThreadState uint8

// The states. Every moment between a thread's first and last is in exactly one.
const (
	Unknown   ThreadState = iota // not observed
	Running                      // on a CPU
	Runnable                     // ready, waiting for a CPU
	Futex                        // blocked in a futex until another thread of the program ends the wait: locks, monitors, park, joins
	IO                           // blocked in a read, write, poll, accept, ... or uninterruptible
	Sleeping                     // waiting for a given time, or in a futex until its time limit
	Blocked                      // off the CPU, the source does not record why
	Stalled                      // in a futex until a collector's thread ends the wait, or the VM's after a pause
	Safepoint                    // in a futex until the VM's thread ends the wait, without a pause of the collector
	Unended                      // in a futex without a time limit until the end of the program: nobody ended the wait
	NStates
)

var stateNames = [NStates]string{"unknown", "running", "runnable", "futex", "io", "sleeping", "blocked", "gc_stall", "safepoint", "unended"}

// String is the state in a word, "running".
func (s ThreadState) String() string {
	if s >= NStates {
		return "unknown"
	}
	return stateNames[s]
}

// Slice is one stay of a thread in a state, From <= t < To.
type Slice struct {
	Thread   uint32 // index into a list of Thread
	State    ThreadState
	From, To units.MonoNs
	By       uint32 // 1 + the thread that ended a wait, as an index; 0: none, or not known
	On       uint32 // the futex that a thread waits for; 0: not known
	Cut      bool   // the end of the program cut the wait
	InFutex  bool   // a wait in a futex, whatever the state that its end shows
}

// Kinds of threads, the same as in a session.
const (
	KindApplication = "application"
	KindMain        = "main"
	KindGC          = "gc"
	KindCompiler    = "compiler"
	KindVM          = "vm"
	KindOther       = "other"
)

// Thread is a kernel thread of the observed process.
type Thread struct {
	Name             string // of the Java thread, or the kernel's
	Kind             string // KindApplication, ...
	Pool             string // the common part of the names in a pool; Name of a thread without one
	First, Last      units.MonoNs
	BeginSeen, Ended bool // First is its begin, Last its end; else those of the observation
}

// Span is an interval of time, From <= t < To.
type Span struct{ From, To units.MonoNs }

// Len is the length of the span in nanoseconds, 0 for a reversed one.
func (s Span) Len() units.Ns { return units.Ns(max(s.To-s.From, 0)) }

// Cut is the part of s within w.
func (s Span) Cut(w Span) Span {
	c := Span{max(s.From, w.From), min(s.To, w.To)}
	if c.To < c.From {
		c.To = c.From
	}
	return c
}

// ErrOrder is a slice that begins before the previous one.
var ErrOrder = errors.New("slices are not in the order of their begins")

// Stream calls use with slices in the order of From. Slices of one thread do
// not overlap.
type Stream func(use func(Slice) error) error

// Of is a stream of slices in memory, which are in order.
func Of(slices []Slice) Stream {
	return func(use func(Slice) error) error {
		for _, s := range slices {
			if err := use(s); err != nil {
				return err
			}
		}
		return nil
	}
}
