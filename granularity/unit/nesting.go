package unit

import (
	"cmp"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// acc gathers a unit.
type acc struct {
	Unit
	rank rank // of the task it is named after
	// submitted: that task was submitted by itself. A wrapper was not made for what the
	// platform runs for itself in it, the cleaner of a file that is closed there.
	submitted bool
	named     bool // the user named the method: see Execution
}

// rank orders the tasks that a unit can be named after, the best last.
type rank uint8

const (
	aWrapper rank = iota
	anInternalTask
	aPlatformTask
	aLibraryTask
	aTask
)

func rankOf(r Role) rank {
	switch r {
	case Task:
		return aTask
	case Library:
		return aLibraryTask
	case Platform:
		return aPlatformTask
	case Internal:
		return anInternalTask
	}
	return aWrapper
}

// own reports whether u, which is nested in nothing, is the platform's own.
func (u *acc) own() bool {
	return u.rank == anInternalTask || u.rank == aPlatformTask && !u.Submitted
}

// submittedAfter reports whether u was submitted when n had ended.
func (u *acc) submittedAfter(n *acc) bool {
	return u.Queue.Measured() && n.End != 0 && u.Start-units.MonoNs(u.Queue) >= n.End
}

// wrap adds n, which u is wrapped around. Of two wrappers the inner one gives the name:
// the program submitted it.
func (u *acc) wrap(n *acc, self []granularity.Metric) {
	if n.Submitted && n.Queue.Measured() && !u.Queue.Measured() { // an executor of the program made u when it took n
		u.Submitted, u.SubmittedAs, u.Delay, u.Late = true, cmp.Or(n.SubmittedAs, n.Root), n.Delay, n.Late
		u.Queue = max(0, n.Queue-units.Ns(n.Start-u.Start))
	}
	wrappers := u.rank == aWrapper && n.rank == aWrapper
	u.take(n, self)
	if wrappers {
		u.name(n)
	}
}

// name gives u the name of n, which is nested in it.
func (u *acc) name(n *acc) {
	if n.Swallowed {
		u.Swallowed, u.Keeper = true, n.Keeper
	} else if u.Swallowed = n.Threw && !u.Threw; u.Swallowed {
		u.Keeper = u.Class
	}
	u.rank, u.submitted, u.Class, u.Named = n.rank, n.submitted, n.Class, n.Named
	u.Threw = n.Threw
	u.Unseen = n.Unseen
	if n.Delay.Measured() { // the program asked for that; the scheduler queues its wrapper a little later
		u.Delay, u.Late = n.Delay, n.Late
	}
}

// take adds n, which was nested in u.
func (u *acc) take(n *acc, self []granularity.Metric) {
	for _, m := range self {
		u.Work[m] = u.Work[m].Plus(n.Work[m])
	}
	u.Executions += n.Executions
	u.Depth = max(u.Depth, n.Depth+1)
	if u.rank < n.rank && (n.rank != aPlatformTask || n.submitted) {
		u.name(n)
	}
}

// beside adds n, which was nested next to u.
func (u *acc) beside(n *acc, self []granularity.Metric) {
	depth := max(u.Depth, n.Depth)
	u.take(n, self)
	u.Depth = depth
}
