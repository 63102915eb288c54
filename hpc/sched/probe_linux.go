package sched

import (
	"errors"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
)

// Probe opens each source of the scheduling record and reports which of them this
// machine and this user have.
func Probe() []hpc.Facility {
	e, errE := openEBPF()
	if errE == nil {
		e.close()
	}
	return []hpc.Facility{
		facility("scheduling by eBPF", "every switch, wake-up and reason", errE),
		facility("scheduling by perf", "switches; reasons of longer stays from /proc", probePerf()),
	}
}

// probePerf opens what a thread needs, beyond the rings.
func probePerf() error {
	s, err := openPerf()
	if err != nil {
		return err
	}
	defer s.close()
	events, err := s.open(switchAttr(true), unix.Gettid())
	if err != nil {
		return explainPerf(err)
	}
	closeAll(events)
	return nil
}

func facility(name, detail string, err error) hpc.Facility {
	f := hpc.Facility{Name: name, Available: hpc.Yes, Detail: detail}
	var u *UnavailableError
	switch {
	case errors.As(err, &u):
		f.Available, f.Detail, f.Remedy = hpc.No, u.Reason, u.Remedy
	case err != nil:
		f.Available, f.Detail = hpc.Unknown, err.Error()
	}
	return f
}
