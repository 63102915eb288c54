package attach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A stop is believed when it has lasted this long: tools that take a look, as gcore or pstack, stop a process for a moment.
const (
	stopPoll  = 20 * time.Millisecond
	stopLooks = 40 // 0.8 s; counted, so that a standstill of this process is one look
)

// Standstill says that the process is stopped and how to continue it, or that ctx has ended; nil: it runs. It looks once if
// the process runs, and for nearly a second otherwise.
func (p *Process) Standstill(ctx context.Context) error {
	for looks := 0; ; looks++ {
		err := p.stopped()
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		if looks == stopLooks {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(stopPoll):
		}
	}
}

// stopped says why the process does not run now; nil: it may run.
func (p *Process) stopped() error {
	stat, err := p.dir.Stat()
	if err != nil {
		return nil // who talks to it finds out
	}
	switch stat.State {
	case 'T':
		return &Error{PID: p.PID, Reason: "is stopped (state T: SIGSTOP or Ctrl-Z)", Remedy: fmt.Sprintf("kill -CONT %d continues it", p.PID)}
	case 't':
		return &Error{PID: p.PID, Reason: "is stopped by a debugger" + p.tracer(), Remedy: "continue it there, or detach the debugger"}
	}
	if file := p.frozen(); file != "" {
		return &Error{PID: p.PID, Reason: "is frozen with its cgroup (" + file + ")", Remedy: "thaw it (docker unpause, or the command that froze it)"}
	}
	return nil
}

// tracer names the process that traces it.
func (p *Process) tracer() string {
	status, err := p.dir.Status()
	if err != nil {
		return ""
	}
	if pid, err := status.Tracer(); err == nil && pid != 0 {
		return fmt.Sprintf(" (process %d)", pid)
	}
	return ""
}

// frozen is the file that says that the cgroup of the process is frozen; "": it is not, or not visible from here.
func (p *Process) frozen() string {
	list, err := p.dir.Read("cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(list)) {
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) < 3 {
			continue
		}
		controllers, path := fields[1], fields[2]
		if file := filepath.Join(p.cgroups, path, "cgroup.events"); controllers == "" && says(file, "frozen 1") {
			return file
		}
		if file := filepath.Join(p.cgroups, "freezer", path, "freezer.state"); controllers == "freezer" && says(file, "FROZEN") {
			return file
		}
	}
	return ""
}

// says reports whether a file has a line.
func says(file, line string) bool {
	b, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	for l := range strings.Lines(string(b)) {
		if strings.TrimSpace(l) == line {
			return true
		}
	}
	return false
}
