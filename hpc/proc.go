package hpc

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// ErrProcessEnded says that the process has no threads any more.
var ErrProcessEnded = errors.New("the process has ended")

// TaskID names a kernel thread for ever: thread ids are used again, but not
// with the same start time.
type TaskID struct {
	TID   int
	Start uint64 // field 22 of /proc/PID/task/TID/stat, in clock ticks since boot
}

// Task is a thread as the kernel lists it.
type Task struct {
	ID   TaskID
	Name string // comm
}

// Tasks lists the threads of a process; /proc, or a test's.
type Tasks interface {
	List(pid int) ([]Task, error)
	// CPU is the CPU time of a thread so far, or NotMeasured.
	CPU(pid, tid int) units.Ns
}

// procTasks lists the threads of one process by /proc. Only the number of a
// thread is looked at each time; its name, and whether it is another thread of
// that number, once in a while.
type procTasks struct {
	known map[int]knownTask
	read  time.Time // when all of them were
}

type knownTask struct {
	Task
	reads int
}

const (
	renewEvery = time.Second // a number is given away again only after all others were, 32,768 of them or more
	youngReads = 2           // most threads get their name right after they began
)

// userHz is how many clock ticks /proc counts in a second, on every Linux.
const userHz = 100

// Alive tells whether a process runs; one that only waits to be reaped does not.
// A process whose first thread has ended lives on in its others.
func Alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return false
	}
	rest := bytes.TrimSpace(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(rest) > 0 && rest[0] != 'Z' && rest[0] != 'X' {
		return true
	}
	tasks, err := os.ReadDir(dir + "/task")
	return err == nil && len(tasks) > 1
}

// Started is when a process began, by CLOCK_MONOTONIC, to 10 ms.
func Started(pid int) (units.MonoNs, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("when process %d began: %w", pid, err)
	}
	_, ticks, err := parseStat(stat)
	if err != nil {
		return 0, fmt.Errorf("when process %d began: %w", pid, err)
	}
	var boot, mono unix.Timespec
	err = errors.Join(unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot), unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono))
	if err != nil {
		return 0, fmt.Errorf("the kernel's clocks: %w", err)
	}
	const tick = int64(time.Second / userHz)
	return units.MonoNs(int64(ticks)*tick - (boot.Nano() - mono.Nano())), nil // CLOCK_BOOTTIME counts while the machine sleeps
}

// List reads /proc/PID/task. Threads that end meanwhile are left out.
func (p *procTasks) List(pid int) ([]Task, error) {
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
			return nil, fmt.Errorf("process %d: %w", pid, ErrProcessEnded)
		}
		return nil, fmt.Errorf("listing the threads of process %d: %w", pid, err)
	}
	before := p.known
	if now := time.Now(); now.Sub(p.read) >= renewEvery {
		before, p.read = nil, now
	}
	p.known = make(map[int]knownTask, len(entries))
	tasks := make([]Task, 0, len(entries))
	for _, entry := range entries {
		tid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		t, ok := before[tid]
		if ok && t.reads >= youngReads {
			p.known[tid] = t
			tasks = append(tasks, t.Task)
			continue
		}
		stat, err := os.ReadFile(dir + "/" + entry.Name() + "/stat")
		if err != nil {
			continue
		}
		name, start, err := parseStat(stat)
		if err != nil {
			return nil, fmt.Errorf("%s/%d/stat: %w", dir, tid, err)
		}
		t = knownTask{Task{ID: TaskID{TID: tid, Start: start}, Name: name}, t.reads + 1}
		p.known[tid] = t
		tasks = append(tasks, t.Task)
	}
	return tasks, nil
}

// CPU reads the scheduler's account.
func (*procTasks) CPU(pid, tid int) units.Ns {
	cpu, _, err := SchedStat(pid, tid)
	if err != nil {
		return units.NotMeasured
	}
	return cpu
}

// parseStat takes comm (field 2) and starttime (field 22) out of a stat line
// (proc(5)). The name may hold blanks and parentheses; the last ')' ends it.
func parseStat(line []byte) (name string, start uint64, err error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return "", 0, fmt.Errorf("no thread name in %q", cut(line))
	}
	fields := strings.Fields(string(line[end+1:])) // from field 3 on
	const startTime = 22 - 3
	if len(fields) <= startTime {
		return "", 0, fmt.Errorf("%d fields after the name, need %d", len(fields), startTime+1)
	}
	start, err = strconv.ParseUint(fields[startTime], 10, 64)
	if err != nil {
		return "", 0, fmt.Errorf("start time: %w", err)
	}
	return string(line[open+1 : end]), start, nil
}

func cut(b []byte) string {
	if len(b) > 40 {
		b = b[:40]
	}
	return string(b)
}

// SchedStat is the kernel's own account of a thread, /proc/PID/task/TID/schedstat:
// time on a CPU, and time spent runnable but waiting for one, nanoseconds.
func SchedStat(pid, tid int) (cpu, waiting units.Ns, err error) {
	path := fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, fmt.Errorf("reading the scheduler's account: %w", err)
	}
	return parseSchedStat(b)
}

func parseSchedStat(b []byte) (cpu, waiting units.Ns, err error) {
	fields := strings.Fields(string(b))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("schedstat has %d fields, need 2 or more: %q", len(fields), cut(b))
	}
	run, err1 := strconv.ParseInt(fields[0], 10, 64)
	wait, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return 0, 0, fmt.Errorf("schedstat %q: %w", cut(b), err)
	}
	return units.Ns(run), units.Ns(wait), nil
}
