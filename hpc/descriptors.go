package hpc

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// reserve is how many of limit descriptors events leave for files and connections.
// Every event takes one for each thread, and there may be more threads than that.
func reserve(limit uint64) uint64 { return min(limit/4, 1024) }

// errReserve says that the rest of the descriptors is not for events.
var errReserve = fmt.Errorf("the last descriptors are kept for files: %w", unix.EMFILE)

// CheckReserve returns an error (EMFILE) for a descriptor that an event must not
// keep. A new descriptor is the lowest that is free, so its number shows how many
// are in use. The limit is the hard one: Go's package os raises the soft one to it.
func CheckReserve(fd int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil // the kernel refuses later
	}
	if fd >= 0 && uint64(fd) >= limit.Cur-reserve(limit.Cur) {
		return errReserve
	}
	return nil
}

// descriptorLimit is why a thread has no counters when there are too few
// descriptors.
const descriptorLimit = "descriptor limit (ulimit -n)"

// whyUnopened is why the counters of a thread could not be opened.
func whyUnopened(err error) string {
	var na *NotAvailableError
	switch {
	case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE):
		return descriptorLimit
	case errors.As(err, &na):
		return na.Reason
	}
	return err.Error()
}
