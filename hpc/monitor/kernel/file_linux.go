package kernel

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sys/unix"

	"stackagent/internal/proc"
)

// file is a file of /proc, /sys or a cgroup that is kept open and read again: that takes one system call and no memory.
type file struct {
	path string
	fd   int
	buf  []byte
}

const (
	firstBuffer = 4 << 10
	maxBuffer   = 1 << 20
)

func openFile(path string) (*file, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	return &file{path: path, fd: fd, buf: make([]byte, firstBuffer)}, nil
}

// read reads the file from its begin, up to 1 MiB. The bytes are those of the next reading, too.
func (f *file) read() ([]byte, error) {
	n := 0
	for {
		m, err := unix.Pread(f.fd, f.buf[n:], int64(n))
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ESRCH):
			return nil, fmt.Errorf("%s: %w", f.path, proc.ErrEnded)
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", f.path, err)
		}
		n += m
		if n < len(f.buf) && (m == 0 || n > 0 && f.buf[n-1] == '\n') { // these files end with a whole line
			return f.buf[:n], nil
		}
		if n == len(f.buf) {
			if n >= maxBuffer {
				return f.buf, nil
			}
			f.buf = append(f.buf, make([]byte, n)...)
		}
	}
}

func (f *file) close() error {
	if f == nil {
		return nil
	}
	return unix.Close(f.fd)
}

// procStat is what the group reads of /proc/PID/stat.
type procStat struct {
	minor, major int64
	user, system int64 // clock ticks
	threads      int64
}

// Fields of a stat line after the name; field 3 of proc(5) is 0.
const (
	statMinor   = 7
	statMajor   = 9
	statUser    = 11
	statSystem  = 12
	statThreads = 17
)

// parseStat parses a stat line. The name may hold blanks, brackets and line ends; the last bracket ends it.
func parseStat(line []byte) (s procStat, err error) {
	end := bytes.LastIndexByte(line, ')')
	if end < 0 {
		return s, errors.New("/proc/PID/stat has no name")
	}
	rest := line[end+1:]
	for n := 0; n <= statThreads; n++ {
		var field []byte
		field, rest = nextWord(rest)
		var into *int64
		switch n {
		case statMinor:
			into = &s.minor
		case statMajor:
			into = &s.major
		case statUser:
			into = &s.user
		case statSystem:
			into = &s.system
		case statThreads:
			into = &s.threads
		default:
			continue
		}
		v, left, ok := number(field)
		if !ok || len(left) > 0 {
			return s, fmt.Errorf("/proc/PID/stat: field %d is %s", n+3, strconv.Quote(string(field[:min(len(field), 32)])))
		}
		*into = v
	}
	return s, nil
}
