package jvmprocess

import (
	"errors"
	"fmt"
	"io/fs"

	"stackagent/internal/announce"
	"stackagent/internal/attach"
	"stackagent/internal/launch"
	"stackagent/internal/proc"
)

// maxAnnounced bounds the JVMs that are remembered; the oldest are forgotten.
const maxAnnounced = 16 << 10

// announced are processes of announced JVMs, as this side numbers them, by their name on the bus.
type announced struct {
	pids  map[string]int
	order []string // of pids, oldest first
}

func (a *announced) add(process string, pid int) {
	if a.pids == nil {
		a.pids = map[string]int{}
	}
	if _, known := a.pids[process]; !known {
		a.order = append(a.order, process)
	}
	a.pids[process] = pid
	if len(a.order) > maxAnnounced {
		delete(a.pids, a.order[0])
		a.order = a.order[1:]
	}
}

// Announced finds the process of an announced JVM and remembers it for its session. Processes are numbered anew in each
// namespace of process ids; when a process began is the same in all.
func (f *Finder) Announced(jvm announce.JVM) (pid int, err error) {
	if pid, err = find(jvm); err != nil {
		return 0, err
	}
	p, err := attach.Look(pid, launch.LibraryName)
	switch {
	case errors.Is(err, fs.ErrPermission): // without that its number and its begin must do
	case err != nil:
		return 0, err
	case p.LibJVM == "":
		return 0, fmt.Errorf("process %d announces itself as a JVM and is none", pid)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.announced.add(jvm.Process, pid)
	return pid, nil
}

// find looks for the process among those that can be seen here.
func find(jvm announce.JVM) (int, error) {
	if own, err := proc.Self.PIDNamespace(); err == nil && own == jvm.PIDNamespace && is(jvm.PID, jvm) {
		return jvm.PID, nil
	}
	pids, err := proc.Processes()
	if err != nil {
		return 0, fmt.Errorf("looking for an announced JVM: %w", err)
	}
	for _, pid := range pids {
		if is(pid, jvm) {
			return pid, nil
		}
	}
	return 0, fmt.Errorf("the JVM that calls itself process %d is not among the processes that can be seen here; "+
		"run the observer with the host's process numbers (hostPID: true, docker run --pid host)", jvm.PID)
}

// is reports whether a process is the announced one: by its own number, by when it began and, if this user may know it,
// by its namespace.
func is(pid int, jvm announce.JVM) bool {
	d := proc.Process(pid)
	stat, err := d.Stat()
	if err != nil || stat.Start != jvm.StartTicks {
		return false
	}
	status, err := d.Status()
	if err != nil {
		return false
	}
	inner, _, err := status.Inner()
	if err != nil || inner != jvm.PID {
		return false
	}
	namespace, err := d.PIDNamespace()
	return err != nil || jvm.PIDNamespace == 0 || namespace == jvm.PIDNamespace
}
