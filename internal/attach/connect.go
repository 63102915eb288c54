package attach

import (
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
	file, err := p.trigger()
	if err != nil {
		return p.forbidden(err)
	}
	defer os.Remove(file)
	if err := unix.Kill(p.PID, unix.SIGQUIT); err != nil {
		return p.forbidden(err)
	}
	for looks := 0; !p.listens(); looks++ {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wakePoll):
		}
		if !p.Alive() {
			return &Error{PID: p.PID, Reason: "has ended"}
		}
		if looks == wakeLooks {
			return &Error{PID: p.PID, Reason: fmt.Sprintf("does not answer: no socket %s after %v", p.socket(), wakePatience),
				Remedy: "is it stopped, at a very long safepoint, or not allowed to write in its /tmp?"}
		}
	}
	return nil
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

// execute sends one request and reads the reply.
func (p *Process) execute(ctx context.Context, version int, command string, args ...string) (string, error) {
	message, err := request(version, command, args...)
	if err != nil {
		return "", err
	}
	if err := p.mayConnect(); err != nil {
		return "", err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", p.socket())
	if err != nil {
		if errors.Is(err, unix.ECONNREFUSED) {
			return "", &Error{PID: p.PID, Reason: "its attach socket is dead (" + p.socket() + ")", Remedy: "remove the socket file and try again"}
		}
		return "", p.forbidden(err)
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if err := conn.SetDeadline(time.Now().Add(loadPatience)); err != nil {
		return "", fmt.Errorf("process %d: %w", p.PID, err)
	}
	if _, err := conn.Write(message); err != nil && !errors.Is(err, unix.EPIPE) { // read what it said before it closed the connection
		return "", fmt.Errorf("process %d: sending it %q: %w", p.PID, command, err)
	}
	text, err := reply(conn, command)
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
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
	if err := p.wake(ctx); err != nil {
		return err
	}
	version := version1
	if len(path) > maxArgument || len(options) > maxArgument {
		var err error
		if version, err = newestVersion(p.execute(ctx, version1, "getversion", "options")); err != nil {
			return err
		}
	}
	text, err := p.execute(ctx, version, "load", path, "true", options)
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

// Stop ends the session of our agent and removes the probes from the JVM.
func (p *Process) Stop(ctx context.Context) error {
	if p.Agent == "" {
		return &Error{PID: p.PID, Reason: "refused", Err: ErrNone}
	}
	return explain(p.PID, p.Load(ctx, p.Agent, "detach"))
}
