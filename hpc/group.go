package hpc

import (
	"stackagent/internal/units"
)

// GroupCounter is some events of one thread that the kernel counts at the same time, or not at all, so that their ratios are
// right. One system call reads them. They may be read after the thread's end.
type GroupCounter interface {
	// Read fills values, one for each event. The times are those of all of them; see Reading.
	Read(values []uint64) (enabled, running units.Ns, err error)
	Close() error
}

// GroupSource opens groups of events; the kernel's, or a test's.
type GroupSource interface {
	// OpenGroup starts counting in thread tid. The errors are those of Source.
	OpenGroup(tid int, events []Event) (GroupCounter, error)
}

// PerfGroups is the kernel's source of groups.
func PerfGroups() GroupSource { return perfSource{} }

// ProcThreads lists the threads of one process from /proc.
func ProcThreads() Lister { return &procLister{} }
