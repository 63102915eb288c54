package measure

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Background is a process that runs until it is stopped.
type Background struct {
	cmd   *exec.Cmd
	start time.Time
	peak  func() int64
	said  *lines
}

// StartBackground starts c and waits for a line on its stderr for which ready is true.
func StartBackground(ctx context.Context, c Command, ready func(line string) bool) (*Background, error) {
	cmd := command(ctx, c)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Args[0], err)
	}
	b := &Background{cmd: cmd, start: time.Now(), said: &lines{ready: ready, found: make(chan struct{}), ended: make(chan struct{})}}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running %s: %w", c.Args[0], err)
	}
	b.peak = watchPeak(cmd.Process.Pid)
	go b.said.read(stderr)
	select {
	case <-b.said.found:
		return b, nil
	case <-b.said.ended:
		err = errors.New("it ended before it was ready")
	case <-time.After(30 * time.Second):
		err = errors.New("it is not ready after 30 s")
	}
	_, stopped := b.Stop()
	return nil, &Error{c.Args, errors.Join(err, stopped), b.said.text()}
}

// CPU is the CPU time of the process so far, without its children.
func (b *Background) CPU() (time.Duration, error) {
	var t unix.Timespec
	clock := int32(^b.cmd.Process.Pid<<3 | 2) // CPUCLOCK_SCHED of the process, clock_getcpuclockid(3)
	if err := unix.ClockGettime(clock, &t); err != nil {
		return 0, fmt.Errorf("the CPU clock of process %d: %w", b.cmd.Process.Pid, err)
	}
	return time.Duration(t.Nano()), nil
}

// Stop interrupts the process, waits for its end and returns its usage.
func (b *Background) Stop() (Usage, error) {
	_ = b.cmd.Process.Signal(os.Interrupt) // it may have ended already
	<-b.said.ended
	err := b.cmd.Wait()
	u := Usage{Wall: time.Since(b.start), PeakBytes: b.peak()}
	if s := b.cmd.ProcessState; s != nil {
		u.CPU = s.UserTime() + s.SystemTime()
	}
	if err != nil {
		return u, &Error{b.cmd.Args, err, b.said.text()}
	}
	return u, nil
}

// lines collects the lines of a process.
type lines struct {
	ready        func(string) bool
	found, ended chan struct{}
	mu           sync.Mutex
	all          string // guarded by mu
}

func (l *lines) read(r io.Reader) {
	defer close(l.ended)
	waiting := true
	for s := bufio.NewScanner(r); s.Scan(); {
		l.mu.Lock()
		l.all += s.Text() + "\n"
		l.mu.Unlock()
		if waiting && l.ready(s.Text()) {
			waiting = false
			close(l.found)
		}
	}
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}
