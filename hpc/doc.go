// Package hpc looks at a JVM from outside: what this machine lets us measure
// (Probe), and counters of every thread of a process (Counters).
//
// Counters are those of perf_event_open(2), one event per thread and kind, read
// as deltas. A value that the kernel had to multiplex is kept apart from an
// exact count, and an event that the machine does not have is a
// *NotAvailableError with the reason and the remedy, never a zero.
//
// Linux only.
package hpc
