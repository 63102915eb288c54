package sched

import (
	"runtime"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// Cost is what the observation cost while a record was written. Processes that were observed at the same time share it.
type Cost struct {
	// Looks is how often shadow looked at the source, and Reading its CPU time in these looks, in which it also writes parts.
	// To wake up for them is not included.
	Looks   uint64   `json:"looks"`
	Reading units.Ns `json:"reading_ns"`
	// Kernel is the time of the source's programs in the kernel, and Runs how often they ran; KernelUnknown: why that is not known.
	Kernel        units.Ns `json:"kernel_ns,omitempty"`
	Runs          uint64   `json:"kernel_runs,omitempty"`
	KernelUnknown string   `json:"kernel_unknown,omitempty"`
}

func (c *Cost) valid() bool { return c.Reading >= 0 && c.Kernel >= 0 }

// since is the cost since before.
func (c Cost) since(before Cost) *Cost {
	c.Looks, c.Reading, c.Kernel, c.Runs = c.Looks-before.Looks, c.Reading-before.Reading, c.Kernel-before.Kernel, c.Runs-before.Runs
	if c.KernelUnknown == "" && c.Runs == 0 {
		c.KernelUnknown = uncounted
	}
	return &c
}

const uncounted = "the kernel does not count the time of eBPF programs (sysctl kernel.bpf_stats_enabled=1 makes it, and each run slower)"

// countedPoll is poll with its cost.
func (o *Observer) countedPoll() {
	runtime.LockOSThread() // the clock is the thread's
	defer runtime.UnlockOSThread()
	before := threadTime()
	o.poll()
	o.cost.Looks++
	o.cost.Reading += max(0, threadTime()-before)
}

// threadTime is the CPU time of the calling thread.
func threadTime() units.Ns {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0 // every Linux has this clock
	}
	return units.Ns(t.Nano())
}

// spent is the cost so far.
func (o *Observer) spent() Cost {
	c := o.cost
	c.Kernel, c.Runs, c.KernelUnknown = o.src.spent()
	return c
}
