package sched

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"stackagent/hpc"
	"stackagent/internal/units"
)

// list adds the threads that a process has when its observation begins.
func (b *builder) list(pid int) error {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("observing process %d: %w", pid, err)
	}
	for _, e := range entries {
		tid, err := strconv.ParseInt(e.Name(), 10, 32)
		if err != nil {
			continue
		}
		dir := fmt.Sprintf("/proc/%d/task/%d/", pid, tid)
		state, name, ok := stateByProc(dir)
		if !ok {
			continue // it has ended
		}
		at := now()
		cpu, _, err := hpc.SchedStat(pid, int(tid))
		if err != nil {
			cpu = units.NotMeasured
		}
		b.found(int32(tid), name, state, cpu, at)
	}
	return nil
}

// stateByProc is what /proc says that a thread does. A thread that is running or
// runnable is Running.
func stateByProc(dir string) (state State, name string, ok bool) {
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return 0, "", false
	}
	name, letter, ok := parseStat(stat)
	switch {
	case !ok:
		return 0, "", false
	case letter == 'R':
		return Running, name, true
	case letter == 'D':
		return IO, name, true
	case letter != 'S':
		return Blocked, name, true
	}
	return stateBySyscall(dir), name, true
}

// stateBySyscall is why a sleeping thread sleeps; Blocked where that is not told.
func stateBySyscall(dir string) State {
	text, err := os.ReadFile(dir + "syscall")
	if err != nil {
		return Blocked
	}
	return parseSyscall(text)
}

// parseSyscall takes the number out of /proc/PID/task/TID/syscall (proc(5)).
func parseSyscall(text []byte) State {
	word, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(word)), 10, 32)
	if err != nil { // "running"
		return Blocked
	}
	return stateOfCall(int32(n))
}

// parseStat takes the name and the state's letter out of a stat line. The name
// may hold anything; the last ')' ends it.
func parseStat(line []byte) (name string, letter byte, ok bool) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open || len(line) < end+3 {
		return "", 0, false
	}
	return string(line[open+1 : end]), line[end+2], true
}

// number looks for the numbers that the threads of a container have inside.
func (b *builder) number(pid int) {
	if !b.inside {
		return
	}
	for _, t := range b.threads {
		if t.inner != 0 {
			continue
		}
		if n, _, err := hpc.Inner(fmt.Sprintf("/proc/%d/task/%d", pid, t.TID)); err == nil {
			t.inner = int32(n)
		}
	}
}

// refresh looks for the names that living threads have now, and whether those
// of which nothing has been heard ran.
func (b *builder) refresh(pid int) {
	for _, t := range b.threads {
		comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/comm", pid, t.TID))
		if err == nil {
			t.Name = string(bytes.TrimRight(comm, "\n"))
		}
		if !t.certain && t.state == Running {
			t.state = b.silent(pid, t)
		}
	}
}

// silent is what a thread did that was running or runnable at the begin and has
// not been switched since: its CPU time tells which of the two.
func (b *builder) silent(pid int, t *live) State {
	cpu, _, err := hpc.SchedStat(pid, int(t.TID))
	at := now()
	switch {
	case err != nil || !t.base.Measured():
		return Unknown
	case cpu-t.base > units.Ns(at-t.readAt)/2:
		return Running
	}
	return Runnable
}
