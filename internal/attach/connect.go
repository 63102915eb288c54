package attach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Bounds of the wait for a JVM.
const (
	wakePatience = 30 * time.Second // for its attach listener to start, which a stop of all threads delays
	wakePoll     = 20 * time.Millisecond
	wakeLooks    = int(wakePatience / wakePoll) // counted, so that a standstill of this process is one look
	loadPatience = 5 * time.Minute              // for an agent to be loaded
	lingerLooks  = 10                           // after a wait that was given up
	slowAfter    = 2 * time.Second              // what takes longer is said
)

func (p *Process) socket() string {
	return filepath.Join(p.Root, "tmp", ".java_pid"+strconv.Itoa(p.InnerPID))
}

// wake makes the JVM listen if it does not yet.
func (p *Process) wake(ctx context.Context) error {
	if p.listens() {
		return nil
	}
	if !p.catchesQuit { // a SIGQUIT would end it
		return &Error{PID: p.PID, Reason: "does not handle SIGQUIT: it is still starting, or was started with -Xrs",
			Remedy: "try again in a second, or start it without -Xrs"}
	}
	if !p.Alive() { // the signal would end the process that has its id now
		return &Error{PID: p.PID, Reason: "has ended"}
	}
	if err := p.Standstill(ctx); err != nil { // before it gets anything that it could find later
		return err
	}
	file, err := p.trigger()
	if err != nil {
		return p.forbidden(err)
	}
	defer p.removeTrigger(file)
	if err := unix.Kill(p.PID, unix.SIGQUIT); err != nil {
		return p.forbidden(err)
	}
	defer p.slow("its attach listener", wakePatience)()
	for looks := 0; !p.listens(); looks++ {
		select {
		case <-ctx.Done():
			p.linger()
			return ctx.Err()
		case <-time.After(wakePoll):
		}
		if !p.Alive() {
			return &Error{PID: p.PID, Reason: "has ended"}
		}
		if err := p.Standstill(ctx); err != nil {
			return err
		}
		if looks == wakeLooks {
			return &Error{PID: p.PID, Reason: fmt.Sprintf("does not answer: no socket %s after %v", p.socket(), wakePatience),
				Remedy: "is it at a very long safepoint, or not allowed to write in its /tmp?"}
		}
	}
	return nil
}

// linger gives a process that runs a moment to find the file: without it, it would print its threads.
func (p *Process) linger() {
	for looks := 0; looks < lingerLooks && !p.listens() && p.stopped() == nil; looks++ {
		time.Sleep(wakePoll)
	}
}

// removeTrigger removes the file, unless the signal waits for a process that was stopped meanwhile: without the file it would
// print its threads when it continues. The next attach removes it.
func (p *Process) removeTrigger(file string) {
	if status, err := p.dir.Status(); err == nil && p.stopped() != nil {
		if waits, err := status.Pending(quitSignal); err == nil && waits {
			return
		}
	}
	_ = os.Remove(file)
}

// slow says what is waited for if that takes long; call done when it does not any more.
func (p *Process) slow(what string, patience time.Duration) (done func()) {
	if p.Slow == nil {
		return func() {}
	}
	t := time.AfterFunc(slowAfter, func() {
		p.Slow(fmt.Sprintf("waiting for %s of process %d, %v at most", what, p.PID, patience))
	})
	return func() { t.Stop() }
}

func (p *Process) listens() bool {
	info, err := os.Lstat(p.socket())
	return err == nil && info.Mode().Type() == fs.ModeSocket
}

// trigger makes the file that turns a SIGQUIT into a request to listen. Without it
// the JVM would print its threads.
func (p *Process) trigger() (string, error) {
	name := ".attach_pid" + strconv.Itoa(p.InnerPID)
	var err error
	for _, dir := range []string{p.dir.Path("cwd"), filepath.Join(p.Root, "tmp")} {
		path := filepath.Join(dir, name)
		var f *os.File
		if f, err = newFile(path); err != nil {
			continue
		}
		if os.Geteuid() == 0 { // it must belong to the JVM's user, or to root
			err = f.Chown(p.UID, p.GID)
		}
		if err = errors.Join(err, f.Close()); err != nil {
			err = errors.Join(err, os.Remove(path))
		}
		return path, err
	}
	return "", fmt.Errorf("making the file %s for it: %w", name, err)
}

// newFile replaces a leftover file by an empty one. The leftover may be a hard link
// to another file, whose owner must not change.
func newFile(path string) (*os.File, error) {
	const flags = os.O_CREATE | os.O_EXCL | os.O_RDWR | unix.O_NOFOLLOW
	f, err := os.OpenFile(path, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, flags, 0o600)
	}
	return f, err
}

// A PendingError is a failure after which the process still carries out the request, when it can.
type PendingError struct{ Err error }

func (e *PendingError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *PendingError) Unwrap() error { return e.Err }

// Pending reports whether the process carries out the request that has failed, later.
func Pending(err error) bool {
	var p *PendingError
	return errors.As(err, &p)
}

// execute sends one request and reads the reply. The last byte of a request that must not be carried out when nobody waits
// for it any more, as late, is sent when the process has read the others: it is not stopped then.
func (p *Process) execute(ctx context.Context, late bool, version int, command string, args ...string) (string, error) {
	message, err := request(version, command, args...)
	if err != nil {
		return "", err
	}
	if err := p.mayConnect(); err != nil {
		return "", err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", p.socket())
	if err != nil {
		return "", p.noConnection(err)
	}
	defer conn.Close()
	defer p.slow("the answer to \""+command+"\"", loadPatience)()
	if err := conn.SetDeadline(time.Now().Add(loadPatience)); err != nil {
		return "", fmt.Errorf("process %d: %w", p.PID, err)
	}
	last := len(message)
	if !late {
		last--
	}
	if err := p.send(conn, command, message[:last]); err != nil {
		return "", err
	}
	if !late {
		if err := p.taken(ctx, conn.(*net.UnixConn)); err != nil {
			return "", err
		}
		if err := p.send(conn, command, message[last:]); err != nil {
			return "", err
		}
	}
	return p.answer(ctx, conn, command)
}

// noConnection explains why the socket takes no connection.
func (p *Process) noConnection(err error) error {
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return &Error{PID: p.PID, Reason: "its attach socket is dead (" + p.socket() + ")", Remedy: "remove the socket file and try again"}
	case errors.Is(err, unix.EAGAIN):
		return cmp.Or(p.stopped(), error(&Error{PID: p.PID, Reason: "does not answer: others wait at its attach socket already", Remedy: "try again in a minute"}))
	}
	return p.forbidden(err)
}

func (p *Process) send(conn net.Conn, command string, message []byte) error {
	if _, err := conn.Write(message); err != nil && !errors.Is(err, unix.EPIPE) { // read what it said before it closed the connection
		return fmt.Errorf("process %d: sending it %q: %w", p.PID, command, err)
	}
	return nil
}

// taken waits until the process has read what was sent.
func (p *Process) taken(ctx context.Context, conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return fmt.Errorf("process %d: %w", p.PID, err)
	}
	for looks := 0; looks < wakeLooks; looks++ {
		left := 0
		if err := raw.Control(func(fd uintptr) { left, err = unsent(fd) }); err != nil {
			return fmt.Errorf("process %d: %w", p.PID, err)
		}
		if err != nil || left == 0 {
			return nil // or the kernel does not tell
		}
		if err := p.Standstill(ctx); err != nil {
			return err
		}
		if !p.Alive() {
			return &Error{PID: p.PID, Reason: "has ended"}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(wakePoll, time.Millisecond<<min(looks, 10))):
		}
	}
	return &Error{PID: p.PID, Reason: fmt.Sprintf("does not answer: its attach listener has read nothing for %v", wakePatience),
		Remedy: "is another request of it under way?"}
}

// answer reads the reply.
func (p *Process) answer(ctx context.Context, conn net.Conn, command string) (string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		for ctx.Err() == nil {
			if err := p.Standstill(ctx); err != nil {
				cancel(err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(10 * stopPoll):
			}
		}
	}()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	text, err := reply(conn, command)
	switch {
	case ctx.Err() != nil:
		err = &PendingError{context.Cause(ctx)}
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = &PendingError{&Error{PID: p.PID, Reason: fmt.Sprintf("has not answered %q for %v", command, loadPatience), Remedy: "it is still busy with it"}}
	case errors.Is(err, errNoAnswer) || errors.Is(err, unix.ECONNRESET):
		err = &Error{PID: p.PID, Reason: "hung up without an answer", Remedy: "most likely it was about to end; if it still runs, try again"}
	}
	return text, err
}

// mayConnect checks what the JVM checks: if it refuses, it only closes the connection.
func (p *Process) mayConnect() error {
	uid, gid := os.Geteuid(), os.Getegid()
	if uid == 0 || uid == p.UID && gid == p.GID {
		return nil
	}
	if uid != p.UID {
		return p.forbidden(fs.ErrPermission)
	}
	return &Error{PID: p.PID, Reason: fmt.Sprintf("runs in group %d, this command in group %d, and the JVM wants both equal", p.GID, gid),
		Remedy: fmt.Sprintf("run this command in group %d (sg) or as root", p.GID)}
}

// Load makes the JVM load the library at path, as it sees it, and call its
// Agent_OnAttach with options. A *CodeError is what that returned.
func (p *Process) Load(ctx context.Context, path, options string) error {
	return p.load(ctx, false, path, options)
}

func (p *Process) load(ctx context.Context, late bool, path, options string) error {
	if err := p.wake(ctx); err != nil {
		return err
	}
	version := version1
	if len(path) > maxArgument || len(options) > maxArgument {
		var err error
		if version, err = newestVersion(p.execute(ctx, false, version1, "getversion", "options")); err != nil {
			return err
		}
	}
	text, err := p.execute(ctx, late, version, "load", path, "true", options)
	if err != nil {
		return err
	}
	return loadResult(text)
}

// Start loads our agent, the library at path as the JVM sees it, and starts a
// session with the agent's options.
func (p *Process) Start(ctx context.Context, path, options string) error {
	return explain(p.PID, p.Load(ctx, path, options))
}

// Stop ends the session of our agent and removes the probes from the JVM: now, or, after an error that is Pending, when the
// JVM continues.
func (p *Process) Stop(ctx context.Context) error {
	if p.Agent == "" {
		return &Error{PID: p.PID, Reason: "refused", Err: ErrNone}
	}
	err := explain(p.PID, p.load(ctx, true, p.Agent, "detach"))
	if Pending(err) {
		err = fmt.Errorf("%w; it removes the probes as soon as it can", err)
	}
	return err
}
