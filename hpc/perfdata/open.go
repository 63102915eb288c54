package perfdata

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// ErrNone is a JVM without performance data.
var ErrNone = errors.New("the JVM has no performance data")

// Process reads the counters of a running JVM.
type Process struct {
	file   *os.File
	data   []byte
	layout *Layout
}

// Open finds the file of the JVM with process id pid. It may be in another
// container: it looks for the file where the JVM sees /tmp.
func Open(pid int) (*Process, error) {
	inner, _, err := proc.Process(pid).Inner()
	if err != nil {
		return nil, fmt.Errorf("performance data of process %d: %w", pid, err)
	}
	pattern := fmt.Sprintf("/proc/%d/root/tmp/hsperfdata_*/%d", pid, inner)
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return nil, fmt.Errorf("%s: %w (it was started with -XX:-UsePerfData or -XX:+PerfDisableSharedMem, or its /tmp is closed to this user)", pattern, ErrNone)
	}
	var last error
	for _, path := range paths { // of several users; only the JVM's own file is believed
		p, err := openFile(pid, path)
		if err == nil {
			return p, nil
		}
		last = err
	}
	return nil, last
}

// openFile opens a file if it belongs to the user of process pid: /tmp is open
// to all users, and another user's file says nothing about the process.
func openFile(pid int, path string) (*Process, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("performance data of process %d: %w", pid, err)
	}
	p, err := newProcess(pid, f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("performance data of process %d: %w", pid, err)
	}
	return p, nil
}

func newProcess(pid int, f *os.File) (*Process, error) {
	var file, process unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &file); err != nil {
		return nil, err
	}
	if err := unix.Stat(fmt.Sprintf("/proc/%d", pid), &process); err != nil {
		return nil, err
	}
	if file.Mode&unix.S_IFMT != unix.S_IFREG || file.Uid != process.Uid {
		return nil, fmt.Errorf("%s (of user %d) is not its file: %w", f.Name(), file.Uid, fs.ErrInvalid)
	}
	p := &Process{file: f}
	return p, p.resize()
}

// resize makes room for the file as it is now.
func (p *Process) resize() error {
	var file unix.Stat_t
	if err := unix.Fstat(int(p.file.Fd()), &file); err != nil {
		return err
	}
	if file.Size > MaxBytes {
		return fmt.Errorf("%s has %d bytes, more than a JVM's file (%d): %w", p.file.Name(), file.Size, int64(MaxBytes), fs.ErrInvalid)
	}
	p.data = make([]byte, file.Size)
	return nil
}

// Read takes a snapshot of all counters.
func (p *Process) Read() error {
	if len(p.data) < headerSize { // a JVM that starts makes the file first, and then gives it its size
		if err := p.resize(); err != nil {
			return err
		}
	}
	n, err := p.file.ReadAt(p.data, 0) // a truncated file yields less, never a fault
	if n < headerSize {
		return errors.Join(ErrNotReady, err)
	}
	if p.layout != nil && p.layout.UsedNow(p.data) == p.layout.Used {
		return nil
	}
	l, err := Parse(p.data[:n])
	if err != nil {
		return err
	}
	p.layout = l
	return nil
}

// Long is a counter of the latest snapshot.
func (p *Process) Long(name string) (int64, bool) {
	if p.layout == nil {
		return 0, false
	}
	return p.layout.Long(p.data, name)
}

// Layout is that of the latest snapshot; nil before the first. A new one is another pointer.
func (p *Process) Layout() *Layout { return p.layout }

// Value is the value of a counter of the present layout.
func (p *Process) Value(c Counter) int64 { return p.layout.Value(p.data, c) }

// Text is a counter of the latest snapshot that is a text.
func (p *Process) Text(name string) (string, bool) {
	if p.layout == nil {
		return "", false
	}
	return p.layout.Text(p.data, name)
}

// Close closes the file.
func (p *Process) Close() error { return p.file.Close() }
