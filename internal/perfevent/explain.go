package perfevent

import (
	"fmt"
	"syscall"
)

// Explain says why the kernel does not count e and what to do.
func Explain(e Event, err syscall.Errno) string {
	switch err {
	case syscall.EACCES, syscall.EPERM:
		return "the kernel does not allow it: set kernel.perf_event_paranoid to " + paranoid(e) +
			" (sysctl), or give the JVM the capability CAP_PERFMON; in a container also allow perf_event_open in its seccomp profile"
	case syscall.ENOENT, syscall.EOPNOTSUPP, syscall.ENODEV, syscall.EINVAL:
		return missing(e)
	case syscall.EMFILE, syscall.ENFILE:
		return "no file descriptor left: raise ulimit -n"
	case syscall.ENOSYS:
		return "this kernel has no performance events (CONFIG_PERF_EVENTS)"
	}
	return fmt.Sprintf("the kernel refuses it: %v", err)
}

func paranoid(e Event) string {
	if e.UserOnly || e.Narrow {
		return "2 or less"
	}
	return "1 or less"
}

func missing(e Event) string {
	switch {
	case e.Type == Software:
		return "this kernel does not count it"
	case e.Type == Hardware && e.Config == 9:
		return "no reference cycles on this machine (virtual machine without hardware counters, or a processor that does not " +
			"count them); cpu, the time on a processor, stands in: reference cycles are its length at a constant frequency"
	}
	return "no hardware counters for it on this machine (virtual machine without them, or a processor that does not count this); " +
		"measure on a machine whose /sys/bus/event_source/devices/cpu exists, or ask for bytecodes, which need no hardware"
}
