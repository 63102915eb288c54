package launch

import (
	"context"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// How long a command that is ended may take to end by itself: after its time is over, and when nobody waits for its result.
const (
	grace     = 5 * time.Second
	lastGrace = 400 * time.Millisecond
)

// deadline ends a command that runs too long, and what it started: first with SIGTERM, so that a JVM runs its
// shutdown hooks, then with SIGKILL.
type deadline struct {
	limit time.Duration
	pid   int

	mu       sync.Mutex
	timer    *time.Timer // nil: there is no limit
	exceeded bool
	unhook   func() bool // nil: only the time ends it
	stopped  bool
}

func endAfter(limit time.Duration, pid int) *deadline {
	d := &deadline{limit: limit, pid: pid}
	if limit > 0 {
		d.timer = time.AfterFunc(limit, func() { d.end(unix.SIGTERM) })
	}
	return d
}

func (d *deadline) end(sig syscall.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped {
		return // its number may be another process's by now
	}
	d.exceeded = true
	d.signal(sig)
	if sig != unix.SIGKILL {
		d.timer = time.AfterFunc(grace, func() { d.end(unix.SIGKILL) })
	}
}

// signal needs d.mu.
func (d *deadline) signal(sig syscall.Signal) {
	for _, pid := range family(d.pid) {
		_ = unix.Kill(pid, sig) // fails only if it has ended
	}
}

// endWith ends the command lastGrace after ctx.
func (d *deadline) endWith(ctx context.Context) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.unhook = context.AfterFunc(ctx, func() {
		time.AfterFunc(lastGrace, func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			if !d.stopped {
				d.signal(unix.SIGKILL)
			}
		})
	})
}

// stop is called when the command has ended. It gives the limit if that was why.
func (d *deadline) stop() time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.timer != nil {
		d.timer.Stop()
	}
	if d.unhook != nil {
		d.unhook()
	}
	if !d.exceeded {
		return 0
	}
	return d.limit
}

// family is a process and all that descend from it and have not lost their parent.
func family(pid int) []int {
	out := []int{pid}
	for i := 0; i < len(out); i++ {
		out = append(out, proc.Process(out[i]).Children()...)
	}
	return out
}
