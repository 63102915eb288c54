package agent

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// osThreads reads the kernel's own account of this process's threads. The JVM's
// service threads have no other voice.
type osThreads struct {
	last time.Time
	took time.Duration // by the last snapshot
	buf  [128]byte
}

const (
	osThreadsEvery = time.Second
	osThreadsShare = 50 // at most one part in so many of the time goes into snapshots
)

// snapshot returns the account, or nil when the last one is recent.
func (o *osThreads) snapshot() []wire.OSThread {
	if time.Since(o.last) < max(osThreadsEvery, osThreadsShare*o.took) {
		return nil
	}
	o.last = time.Now()
	defer func() { o.took = time.Since(o.last) }()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var list []wire.OSThread
	for _, e := range entries {
		if t, err := o.readThread(e.Name()); err == nil { // it may just have ended
			list = append(list, t)
		}
	}
	return list
}

// expire makes the next snapshot due.
func (o *osThreads) expire() { o.last = time.Time{} }

func (o *osThreads) readThread(tid string) (wire.OSThread, error) {
	id, err := strconv.ParseInt(tid, 10, 32)
	if err != nil {
		return wire.OSThread{}, fmt.Errorf("thread id %q: %w", tid, err)
	}
	comm, err := o.read("/proc/self/task/" + tid + "/comm")
	if err != nil {
		return wire.OSThread{}, fmt.Errorf("name of thread %s: %w", tid, err)
	}
	t := wire.OSThread{OSID: int32(id), Name: strings.TrimSuffix(comm, "\n"),
		CPU: units.NotMeasured, Run: units.NotMeasured}
	stat, err := o.read("/proc/self/task/" + tid + "/schedstat")
	if err == nil {
		t.CPU, t.Run = parseSchedstat(stat)
	}
	return t, nil
}

// read reads a short file of /proc with three system calls. The library's way takes ten and half a KiB of memory;
// there are two files for each thread, every second.
func (o *osThreads) read(path string) (string, error) {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer syscall.Close(fd)
	n, err := syscall.Read(fd, o.buf[:])
	if err != nil {
		return "", err
	}
	return string(o.buf[:n]), nil
}

// parseSchedstat reads "cpu_ns wait_ns timeslices".
func parseSchedstat(s string) (cpu, wait units.Ns) {
	cpu, wait = units.NotMeasured, units.NotMeasured
	fields := strings.Fields(s)
	if len(fields) < 2 {
		return cpu, wait
	}
	if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
		cpu = units.Ns(n)
	}
	if n, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
		wait = units.Ns(n)
	}
	return cpu, wait
}
