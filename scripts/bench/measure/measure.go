// Package measure runs a process and measures its wall time, CPU time and memory. A
// process that another one starts (the JVM under `shadow run`) is measured through a
// trampoline: this program starts itself in between and writes what it measured.
package measure

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Trampoline as the first argument turns this program into one: see Inner.
const Trampoline = "-measure-inner"

// patience bounds one run: a benchmark that hangs must not block the others.
const patience = 30 * time.Minute

// Usage is what a process took, including the children it waited for.
type Usage struct {
	Wall, CPU time.Duration
	Own       time.Duration // CPU time without the children's, to 10 ms
	PeakBytes int64         // the process's own peak of resident memory; 0: not known
}

// Command is a process to run.
type Command struct {
	Args []string
	Dir  string   // "": the current one
	Env  []string // more of it
}

// Result of a run.
type Result struct {
	Usage
	Stdout, Stderr string
}

// Error is a run that failed.
type Error struct {
	Args   []string
	Err    error
	Stderr string
}

// Error shows the end of the process's output.
func (e *Error) Error() string {
	said := strings.TrimSpace(e.Stderr)
	if len(said) > 2000 {
		said = "..." + said[len(said)-2000:]
	}
	return fmt.Sprintf("running %s: %v\n%s", strings.Join(e.Args, " "), e.Err, said)
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Run runs c to its end.
func Run(ctx context.Context, c Command) (Result, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := command(ctx, c)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	u, err := run(cmd)
	r := Result{Usage: u, Stdout: stdout.String(), Stderr: stderr.String()}
	if err != nil {
		return r, &Error{c.Args, err, r.Stderr}
	}
	return r, nil
}

func command(ctx context.Context, c Command) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(os.Environ(), c.Env...)
	// After an interrupt a shadow can end its JVM; later it is killed.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func run(cmd *exec.Cmd) (Usage, error) {
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return Usage{}, err
	}
	watch := watchPeak(cmd.Process.Pid)
	own := ownCPU(cmd.Process.Pid)
	err := cmd.Wait()
	u := Usage{Wall: time.Since(start), PeakBytes: watch(), Own: own}
	if s := cmd.ProcessState; s != nil {
		u.CPU = s.UserTime() + s.SystemTime()
	}
	return u, err
}

// Under is a command whose last arguments are another command, which is measured separately.
type Under struct {
	Outer Command  // `shadow run ... --`
	Inner []string // java ...
}

// Both runs u and measures the two: outer's usage contains inner's, except for the
// peak of memory.
func (u Under) Both(ctx context.Context, scratch string) (outer Result, inner Usage, err error) {
	self, err := os.Executable()
	if err != nil {
		return outer, inner, fmt.Errorf("finding this program: %w", err)
	}
	file := filepath.Join(scratch, "usage.json")
	c := u.Outer
	c.Args = append(append(append([]string{}, c.Args...), self, Trampoline, file), u.Inner...)
	if outer, err = Run(ctx, c); err != nil {
		return outer, inner, err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return outer, inner, fmt.Errorf("reading what %s took: %w", u.Inner[0], err)
	}
	if err := json.Unmarshal(b, &inner); err != nil {
		return outer, inner, fmt.Errorf("reading what %s took: %w", u.Inner[0], err)
	}
	return outer, inner, os.Remove(file)
}

// Inner is the trampoline: it runs args[1:] with its own streams, writes their
// Usage to the file args[0] and returns the exit code.
func Inner(args []string) int {
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "measure: want a file and a command")
		return 2
	}
	cmd := command(context.Background(), Command{Args: args[1:]})
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	u, err := run(cmd)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return max(1, exit.ExitCode())
	case err != nil:
		fmt.Fprintln(os.Stderr, "measure:", err)
		return 1
	}
	b, err := json.Marshal(u)
	if err == nil {
		err = os.WriteFile(args[0], b, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "measure: writing what the command took:", err)
		return 1
	}
	return 0
}
