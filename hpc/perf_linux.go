package hpc

import (
	"errors"
	"fmt"

	"github.com/elastic/go-perf"
	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// perfSource is the kernel's perf_event_open.
type perfSource struct{}

func (perfSource) Open(tid int, e Event) (Counter, error) {
	ev, err := openPerf(tid, e)
	if err == nil {
		if err = checkReserve(ev); err == nil {
			return perfCounter{ev}, nil
		}
		ev.Close() // nothing is written; a failure loses nothing
	}
	return nil, unavailable(tid, e, err)
}

// unavailable explains why e cannot be counted in thread tid.
func unavailable(tid int, e Event, err error) error {
	reason, remedy, known := explain(err, e.Hardware())
	if e.Cache() && (errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL)) {
		reason, remedy, known = "this processor, or its virtual machine, does not count this event", "", true
	}
	if known {
		return &NotAvailableError{Event: e, Reason: reason, Remedy: remedy, Err: err}
	}
	return fmt.Errorf("opening %s of thread %d: %w", e, tid, err)
}

func checkReserve(ev *perf.Event) error {
	fd, err := ev.FD()
	if err != nil {
		return err
	}
	return CheckReserve(fd)
}

var configurators = [eventCount]perf.Configurator{
	perf.TaskClock, perf.ContextSwitches, perf.PageFaults, perf.CPUMigrations,
	perf.Instructions, perf.CPUCycles, perf.RefCPUCycles,
	loads(perf.L1D, perf.Access), loads(perf.L1D, perf.Miss), loads(perf.LL, perf.Access), loads(perf.LL, perf.Miss), loads(perf.DTLB, perf.Miss),
}

func loads(cache perf.Cache, result perf.CacheOpResult) perf.Configurator {
	return perf.HardwareCacheCounter{Cache: cache, Op: perf.Read, Result: result}
}

// openPerf opens e on a thread. Software events happen in the kernel: without
// the kernel, as paranoid level 2 demands of a user, switches and migrations count
// zero without an error. So only the task clock, which has no modes, is opened that way.
func openPerf(tid int, e Event) (*perf.Event, error) {
	attr, err := attrOf(e)
	if err != nil {
		return nil, err
	}
	ev, err := perf.Open(attr, tid, perf.AnyCPU, nil)
	if err != nil && e == TaskClock && (errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM)) {
		attr.Options.ExcludeKernel = true
		ev, err = perf.Open(attr, tid, perf.AnyCPU, nil)
	}
	return ev, err
}

func attrOf(e Event) (*perf.Attr, error) {
	attr := &perf.Attr{
		Label:       e.String(), // set, so that go-perf does not search sysfs for one
		CountFormat: perf.CountFormat{Enabled: true, Running: true},
		Options:     perf.Options{ExcludeHypervisor: true, ExcludeKernel: e.Hardware()},
	}
	return attr, configurators[e].Configure(attr)
}

type perfCounter struct{ ev *perf.Event }

func (c perfCounter) Read() (Reading, error) {
	n, err := c.ev.ReadCount()
	if err != nil {
		return Reading{}, fmt.Errorf("reading %s: %w", n.Label, err)
	}
	return Reading{Value: n.Value, Enabled: units.Ns(n.Enabled), Running: units.Ns(n.Running)}, nil
}

func (c perfCounter) Close() error { return c.ev.Close() }
