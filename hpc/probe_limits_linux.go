package hpc

import (
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// lockedMemory: rings of perf events are locked memory. The kernel gives each
// user perf_event_mlock_kb per CPU, then RLIMIT_MEMLOCK (perf_event_open(2)).
func lockedMemory(r roots) Facility {
	f := Facility{Name: "locked memory for rings"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil {
		f.Available, f.Detail = Unknown, fmt.Sprintf("reading RLIMIT_MEMLOCK: %v", err)
		return f
	}
	rlimit := "unlimited"
	if limit.Cur != unix.RLIM_INFINITY {
		rlimit = strconv.FormatUint(limit.Cur/1024, 10) + " KiB"
	}
	f.Detail = "RLIMIT_MEMLOCK " + rlimit
	perUser, err := r.read("/proc/sys/kernel/perf_event_mlock_kb")
	if err != nil {
		f.Available, f.Detail = Unknown, f.Detail+"; "+err.Error()
		return f
	}
	f.Detail += ", perf_event_mlock_kb " + perUser
	kb, err := strconv.ParseUint(perUser, 10, 64)
	switch {
	case err != nil:
		f.Available, f.Detail = Unknown, f.Detail+" (not a number)"
	case kb*1024 < uint64(2*os.Getpagesize()) && limit.Cur < uint64(2*os.Getpagesize()):
		f.Available, f.Remedy = No, "ulimit -l 8192, or as root: sysctl kernel.perf_event_mlock_kb=516"
	default:
		f.Available = Yes
	}
	return f
}

// cpus counts the CPUs that this process may use, and the share of them that
// its control groups allow.
func cpus(r roots) Facility {
	f := Facility{Name: "more than one CPU", Available: Yes}
	n := runtime.NumCPU()
	f.Detail = fmt.Sprintf("%d usable", n)
	if n < 2 {
		f.Available, f.Remedy = No, "tasks cannot run in parallel here: use a machine with more CPUs, or a wider taskset"
	}
	quota, err := cgroupCPUs(r)
	switch {
	case err != nil:
		f.Detail += ", limit of the control group unknown (" + err.Error() + ")"
	case quota == 0:
		f.Detail += ", no limit by a control group"
	default:
		f.Detail += fmt.Sprintf(", limited by the control group to %.4g", quota)
		if quota < 2 {
			f.Available, f.Remedy = No, "raise the CPU limit of the container (docker run --cpus=...)"
		}
	}
	return f
}

// cgroupCPUs is the smallest CPU limit from this process's control group up to
// the root; 0 without a limit. Version 2 (cpu.max) and version 1 (cpu.cfs_*).
func cgroupCPUs(r roots) (float64, error) {
	text, err := r.read("/proc/self/cgroup")
	if err != nil {
		return 0, err
	}
	least, seen := 0.0, false
	consider := func(cpus float64, ok bool) {
		seen = seen || ok
		if cpus > 0 && (least == 0 || cpus < least) {
			least = cpus
		}
	}
	for line := range strings.Lines(text) {
		field := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(field) != 3 {
			continue
		}
		var v2 bool
		switch {
		case field[0] == "0" && field[1] == "":
			v2 = true
		case !slices.Contains(strings.Split(field[1], ","), "cpu"):
			continue
		}
		for dir := path.Clean("/" + field[2]); ; dir = path.Dir(dir) {
			consider(cgroupLimit(r, dir, v2))
			if dir == "/" {
				break
			}
		}
	}
	if !seen {
		return 0, fmt.Errorf("the control group file system is not mounted on /sys/fs/cgroup")
	}
	return least, nil
}

// cgroupLimit is the limit of one group in CPUs, 0 for none; ok reports whether
// the group could be read at all.
func cgroupLimit(r roots, dir string, v2 bool) (cpus float64, ok bool) {
	var quota, period string
	if v2 {
		// The root group has no cpu.max, but then it has cgroup.procs.
		text, err := r.read(path.Join("/sys/fs/cgroup", dir, "cpu.max"))
		if err != nil {
			return 0, r.exists(path.Join("/sys/fs/cgroup", dir, "cgroup.controllers")) == Yes
		}
		quota, period, _ = strings.Cut(text, " ")
	} else {
		base := path.Join("/sys/fs/cgroup/cpu", dir)
		var err1, err2 error
		quota, err1 = r.read(base + "/cpu.cfs_quota_us")
		period, err2 = r.read(base + "/cpu.cfs_period_us")
		if err1 != nil || err2 != nil {
			return 0, false
		}
	}
	q, err1 := strconv.ParseFloat(quota, 64)
	p, err2 := strconv.ParseFloat(period, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, true // "max", -1
	}
	return q / p, true
}

// container reports whether this process runs in one: its threads, names and
// limits are then those of the container.
func container(r roots) Facility {
	f := Facility{Name: "container", Available: No, Detail: "no sign of one"}
	for _, mark := range []struct{ path, name string }{
		{"/.dockerenv", "Docker"}, {"/run/.containerenv", "Podman"},
		{"/var/run/secrets/kubernetes.io", "Kubernetes"},
	} {
		if r.exists(mark.path) == Yes {
			f.Available, f.Detail = Yes, mark.name+" ("+mark.path+" exists)"
			return f
		}
	}
	if text, err := r.read("/proc/1/cgroup"); err == nil {
		for _, word := range []string{"docker", "kubepods", "containerd", "lxc", "libpod"} {
			if strings.Contains(text, word) {
				f.Available, f.Detail = Yes, word+" in /proc/1/cgroup"
				return f
			}
		}
	}
	return f
}
