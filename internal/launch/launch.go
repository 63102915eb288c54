// Package launch runs the command that is to be profiled, as if it had been
// typed without the profiler: its input and output untouched, signals passed
// on, its exit code or signal reported exactly.
package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is what to run.
type Command struct {
	Args     []string // Args[0] is looked up in PATH
	Env      []string
	In       io.Reader // an *os.File is handed through as it is
	Out, Err io.Writer
	Dir      string        // where it runs; "": here
	Limit    time.Duration // after which it and what it started are ended; 0: there is none
	// Until ends it and what it started; they have a moment to end by the signal that was passed on. nil: they end by themselves.
	Until context.Context
}

// Result is how a command ended.
type Result struct {
	Code   int            // its exit code; 128 + the signal's number when a signal ended it
	Signal syscall.Signal // 0: it ended by itself
	Wall   time.Duration
	// TimedOut is the bound that it exceeded, so that it was ended; 0: it was not.
	TimedOut time.Duration
	// Usage is of it and the children it waited for; nil: the system does not
	// report it. Its Maxrss begins, on Linux, at the peak of the process that starts
	// the command, which is this one: 0 where the command's own was not above that.
	Usage *syscall.Rusage
}

// NotStartedError says why a command could not be started.
type NotStartedError struct {
	Name   string
	Reason string
	Err    error
}

func (e *NotStartedError) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Reason) }

// Unwrap gives the cause.
func (e *NotStartedError) Unwrap() error { return e.Err }

// forwarded are the signals that a user or a supervisor sends to a program; with nohup, all but SIGHUP.
var forwarded = []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT, unix.SIGUSR1, unix.SIGUSR2}

// outputDelay bounds the wait for output of grandchildren that outlive the
// command; it matters only when Out or Err is not a file.
const outputDelay = 2 * time.Second

// Process is a running command.
type Process struct {
	cmd     *exec.Cmd
	started time.Time
	peak    int64 // resident memory of this process when it started the command, as Maxrss
	signals chan os.Signal
	done    chan struct{}
	late    *deadline
}

// Start runs c. From here on signals are passed on to it.
func Start(c Command) (*Process, error) {
	p := &Process{signals: make(chan os.Signal, 16), done: make(chan struct{}), started: time.Now()}
	signal.Notify(p.signals, slices.DeleteFunc(slices.Clone(forwarded), func(s os.Signal) bool { return s == unix.SIGHUP && signal.Ignored(s) })...)
	cmd, err := start(c)
	if err != nil {
		signal.Stop(p.signals)
		return nil, err
	}
	p.cmd, p.peak = cmd, ownPeak()
	p.late = endAfter(c.Limit, cmd.Process.Pid)
	if c.Until != nil {
		p.late.endWith(c.Until)
	}
	go p.forward()
	return p, nil
}

func ownPeak() int64 {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.MaxInt64 // not known: no command's is above it
	}
	return r.Maxrss
}

func start(c Command) (*exec.Cmd, error) {
	if len(c.Args) == 0 {
		return nil, &NotStartedError{Reason: "no command given"}
	}
	name := c.Args[0]
	if c.Dir != "" && strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name) {
		name = filepath.Join(c.Dir, name)
	}
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return nil, explain(c.Args[0], err)
	}
	cmd := command(c, path, c.Args)
	err = cmd.Start()
	if errors.Is(err, unix.ENOEXEC) {
		// A script without "#!": a shell runs it with sh, and so do we.
		cmd = command(c, "/bin/sh", append([]string{"sh", path}, c.Args[1:]...))
		err = cmd.Start()
	}
	if err != nil {
		return nil, explain(c.Args[0], err)
	}
	return cmd, nil
}

func command(c Command, path string, args []string) *exec.Cmd {
	return &exec.Cmd{Path: path, Args: args, Env: c.Env, Dir: c.Dir, Stdin: c.In, Stdout: c.Out, Stderr: c.Err, WaitDelay: outputDelay}
}

func explain(name string, err error) error {
	e := &NotStartedError{Name: name, Err: err}
	switch {
	case errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist):
		e.Reason = "no such command"
		if !strings.ContainsRune(name, filepath.Separator) {
			e.Reason += " in PATH"
		}
	case errors.Is(err, fs.ErrPermission):
		e.Reason = "is not executable"
	case errors.Is(err, unix.E2BIG):
		e.Reason = "arguments and environment are too long"
	default:
		e.Reason = err.Error()
	}
	return e
}

// PID of the command.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// forward passes signals on until the command has ended.
func (p *Process) forward() {
	for {
		select {
		case sig := <-p.signals:
			if (sig == unix.SIGINT || sig == unix.SIGQUIT) && atTerminal() {
				continue // the terminal has sent it to the command as well
			}
			_ = p.cmd.Process.Signal(sig) // fails only when it has ended
		case <-p.done:
			return
		}
	}
}

// atTerminal reports whether our process group, and so the command, is the one
// to which the terminal sends the signals of its keys.
func atTerminal() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDONLY|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}

// Wait waits for the end of the command.
func (p *Process) Wait() (Result, error) {
	p.awaitEnd()
	wall := time.Since(p.started) // without the time that its output still takes, where that goes through this process
	err := p.cmd.Wait()
	exceeded := p.late.stop()
	close(p.done)
	signal.Stop(p.signals)
	state := p.cmd.ProcessState
	if state == nil {
		return Result{}, fmt.Errorf("waiting for %s: %w", p.cmd.Path, err)
	}
	usage, _ := state.SysUsage().(*syscall.Rusage)
	if usage != nil && usage.Maxrss <= p.peak {
		usage.Maxrss = 0
	}
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Result{Code: 128 + int(status.Signal()), Signal: status.Signal(), Wall: wall, Usage: usage, TimedOut: exceeded}, nil
	}
	return Result{Code: state.ExitCode(), Wall: wall, Usage: usage, TimedOut: exceeded}, nil
}
