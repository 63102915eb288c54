package sched

import (
	"fmt"

	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// list adds the threads that a process has when its observation begins.
func (b *builder) list(pid int) error {
	ids, err := proc.Process(pid).Threads()
	if err != nil {
		return fmt.Errorf("observing process %d: %w", pid, err)
	}
	for _, tid := range ids {
		dir := proc.Process(pid).Thread(tid)
		stat, err := dir.Stat()
		if err != nil {
			continue // it has ended
		}
		state, at := stateByProc(dir, stat), now()
		account, err := dir.SchedStat()
		if err != nil {
			account.CPU = units.NotMeasured
		}
		b.found(int32(tid), stat.Name, state, account.CPU, at)
	}
	return nil
}

// stateByProc is what /proc says a thread does. A thread that is running or runnable
// is Running.
func stateByProc(dir proc.Dir, stat proc.Stat) State {
	switch stat.State {
	case 'R':
		return Running
	case 'D':
		return IO
	case 'S':
		return stateOfSleep(dir.Syscall())
	}
	return Blocked
}

// stateOfSleep is why a thread sleeps in a system call; Blocked if that is unknown.
func stateOfSleep(call int32, known bool) State {
	if !known {
		return Blocked
	}
	return stateOfCall(call)
}

// readInnerIDs looks up the ids that the threads of a container have inside it.
func (b *builder) readInnerIDs(pid int) {
	if !b.inside {
		return
	}
	for _, t := range b.threads {
		if t.inner != 0 || t.frees {
			continue
		}
		if id, _, err := proc.Process(pid).Thread(int(t.TID)).Inner(); err == nil {
			t.inner = int32(id)
		}
	}
}

// refresh reads the names that living threads have now, and settles whether
// those without a record yet were running.
func (b *builder) refresh(pid int) {
	for _, t := range b.threads {
		if name, err := proc.Process(pid).Thread(int(t.TID)).Comm(); err == nil && !t.frees {
			t.Name = name
		}
		if !t.certain && t.state == Running {
			t.state = b.silent(pid, t)
		}
	}
}

// silent is the state of a thread that was running or runnable at the start and
// has not been switched since: its CPU time decides between the two.
func (b *builder) silent(pid int, t *live) State {
	account, err := proc.Process(pid).Thread(int(t.TID)).SchedStat()
	at := now()
	switch {
	case err != nil || !t.base.Measured():
		return Unknown
	case account.CPU-t.base > units.Ns(at-t.readAt)/2:
		return Running
	}
	return Runnable
}
