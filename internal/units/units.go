// Package units holds the small types that keep times and counts apart.
//
// Everything in a session is on one clock, CLOCK_MONOTONIC of the machine
// that runs the JVM. Raw clock readings of the agent (the time-stamp counter
// where it is invariant) are Ticks and never leave the ingest path.
package units

import (
	"fmt"
	"time"
)

// Ticks is a raw reading of the agent's clock: the CPU's counter (TSC, CNTVCT), or nanoseconds of
// CLOCK_MONOTONIC where that is not steady.
type Ticks uint64

// MonoNs is a point in time, nanoseconds of CLOCK_MONOTONIC.
type MonoNs int64

// Ns is a span of time in nanoseconds.
type Ns int64

// NotMeasured marks a work metric that was not measured for an execution. It
// is shown as an empty cell, never as zero.
const NotMeasured Ns = -1 << 63

// Measured reports whether n holds a measurement.
func (n Ns) Measured() bool { return n != NotMeasured }

// OrZero is n, and 0 for NotMeasured.
func (n Ns) OrZero() Ns {
	if !n.Measured() {
		return 0
	}
	return n
}

// Plus is the sum; NotMeasured if one of the two is.
func (n Ns) Plus(o Ns) Ns {
	if !n.Measured() || !o.Measured() {
		return NotMeasured
	}
	return n + o
}

// Duration converts n for printing; NotMeasured becomes zero.
func (n Ns) Duration() time.Duration { return time.Duration(n.OrZero()) }

// Kinds says which task types a class implements.
type Kinds uint16

// The bits of Kinds.
const (
	KindThread   Kinds = 1 << iota // java.lang.Thread
	KindRunnable                   // java.lang.Runnable
	KindCallable                   // java.util.concurrent.Callable
	KindForkJoin                   // java.util.concurrent.ForkJoinTask
	KindCustom                     // named by the user with task=
	KindJDK                        // defined by the platform, not by the program
	KindHidden                     // a hidden class: a lambda or a class spun at run time
	KindVirtual                    // java.lang.VirtualThread

	// KindExecutor: java.util.concurrent.Executor. It has no meaning for a
	// task: tasks are submitted to such a class.
	KindExecutor
)

var kindNames = []string{"thread", "runnable", "callable", "forkjoin", "custom", "jdk", "hidden", "virtual", "executor"}

// String lists the kinds, joined with '+', in the order of the bits.
func (k Kinds) String() string {
	s := ""
	for i, name := range kindNames {
		if k&(1<<i) != 0 {
			if s != "" {
				s += "+"
			}
			s += name
		}
	}
	return s
}

// ParseKinds is the inverse of Kinds.String.
func ParseKinds(s string) (Kinds, error) {
	var k Kinds
	for len(s) > 0 {
		word := s
		for i := range s {
			if s[i] == '+' {
				word = s[:i]
				break
			}
		}
		s = s[len(word):]
		if len(s) > 0 {
			s = s[1:]
		}
		found := false
		for i, name := range kindNames {
			if name == word {
				k |= 1 << i
				found = true
			}
		}
		if !found {
			return 0, fmt.Errorf("unknown task kind %q", word)
		}
	}
	return k, nil
}
