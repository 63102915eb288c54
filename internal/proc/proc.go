// Package proc reads what the kernel shows of processes and threads in /proc
// (proc(5)). Every file is read up to a limit and every parser is fuzzed: a
// container may show something else there.
package proc

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/internal/units"
)

// ErrEnded says that the process or thread has ended.
var ErrEnded = errors.New("it has ended")

// Dir is the folder of a process or of a thread: /proc/7, /proc/7/task/8.
type Dir string

// Self is the folder of this process.
const Self Dir = "/proc/self"

// Process is the folder of a process.
func Process(pid int) Dir { return Dir("/proc/" + strconv.Itoa(pid)) }

// Thread is the folder of one of the process's threads.
func (d Dir) Thread(tid int) Dir { return d + Dir("/task/"+strconv.Itoa(tid)) }

// Path is the path of a file in the folder.
func (d Dir) Path(name string) string { return string(d) + "/" + name }

// Threads lists the ids of the process's threads.
func (d Dir) Threads() ([]int, error) {
	entries, err := os.ReadDir(d.Path("task"))
	if err != nil {
		return nil, ended(err)
	}
	ids := make([]int, 0, len(entries))
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id > 0 {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Children lists the processes that this one started and that have not ended, as far as the kernel tells.
func (d Dir) Children() []int {
	threads, _ := d.Threads()
	var out []int
	for _, tid := range threads {
		b, _ := d.Thread(tid).Read("children")
		for word := range strings.FieldsSeq(string(b)) {
			if id, err := strconv.Atoi(word); err == nil && id > 0 {
				out = append(out, id)
			}
		}
	}
	return out
}

// longest bounds a file that is read whole.
const longest = 1 << 20

// Read reads a file of the folder up to 1 MiB.
func (d Dir) Read(name string) ([]byte, error) {
	f, err := os.Open(d.Path(name))
	if err != nil {
		return nil, ended(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, longest))
	return b, ended(err)
}

// short holds the start of stat, schedstat, comm or syscall, as far as it is parsed.
type short [1 << 10]byte

// read fills buf with the start of a file by three system calls. os.ReadFile
// takes ten and allocates; an observer reads two files a thread every second.
func (d Dir) read(name string, buf *short) ([]byte, error) {
	path := d.Path(name)
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, ended(&fs.PathError{Op: "open", Path: path, Err: err})
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, buf[:])
	if err != nil {
		return nil, ended(&fs.PathError{Op: "read", Path: path, Err: err})
	}
	return buf[:n], nil
}

// ended adds ErrEnded to what the kernel answers for an id that is gone.
func ended(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return err
}

// Stat reads the stat file.
func (d Dir) Stat() (Stat, error) {
	var buf short
	b, err := d.read("stat", &buf)
	if err != nil {
		return Stat{}, err
	}
	s, err := ParseStat(b)
	if err != nil {
		return Stat{}, fmt.Errorf("%s/stat: %w", d, err)
	}
	return s, nil
}

// SchedStat reads the scheduler's account of a thread.
func (d Dir) SchedStat() (SchedStat, error) {
	var buf short
	b, err := d.read("schedstat", &buf)
	if err != nil {
		return SchedStat{CPU: units.NotMeasured, Waiting: units.NotMeasured}, err
	}
	s, err := ParseSchedStat(b)
	if err != nil {
		return s, fmt.Errorf("%s/schedstat: %w", d, err)
	}
	return s, nil
}

// Comm reads the name of a thread, at most 15 bytes.
func (d Dir) Comm() (string, error) {
	var buf short
	b, err := d.read("comm", &buf)
	if n := len(b); n > 0 && b[n-1] == '\n' {
		b = b[:n-1]
	}
	return string(b), err
}

// Syscall reads the number of the system call in which a thread sleeps; false
// if it runs or the file is closed to this user.
func (d Dir) Syscall() (int32, bool) {
	var buf short
	b, err := d.read("syscall", &buf)
	if err != nil {
		return 0, false
	}
	return ParseSyscall(b)
}

// Status reads the status file.
func (d Dir) Status() (Status, error) {
	b, err := d.Read("status")
	return Status(b), err
}

// Inner is the id that the process or thread has in its own eyes; see Status.Inner.
func (d Dir) Inner() (id int, own bool, err error) {
	s, err := d.Status()
	if err != nil {
		return 0, false, err
	}
	return s.Inner()
}
