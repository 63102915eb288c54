package proc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"stackagent/internal/units"
)

// Stat is what the stat file says of a process or thread.
type Stat struct {
	Name  string // comm
	State byte   // 'R' running or runnable, 'S' asleep, 'D' in the kernel, 'Z' a zombie, ...
	Start uint64 // when it began, in clock ticks since boot: ids are reused, but not with the same start
}

// Ended reports whether only the exit code is left of the process.
func (s Stat) Ended() bool { return s.State == 'Z' || s.State == 'X' }

// Fields of a stat line after the name: fields 3 and 22 of proc(5), the first of them at 0.
const (
	fieldState = 0
	fieldStart = 19
)

// ParseStat parses a stat line. The name may hold blanks and parentheses; the
// last ')' ends it.
func ParseStat(line []byte) (Stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return Stat{}, fmt.Errorf("no thread name in %q", cut(line))
	}
	s := Stat{Name: string(line[open+1 : end])}
	for n, rest := 0, line[end+1:]; ; n++ {
		var field []byte
		field, rest = word(rest)
		switch {
		case len(field) == 0:
			return Stat{}, fmt.Errorf("%d fields after the name, need %d", n, fieldStart+1)
		case n == fieldState:
			s.State = field[0]
		case n == fieldStart:
			start, err := strconv.ParseUint(string(field), 10, 64)
			if err != nil {
				return Stat{}, fmt.Errorf("start time: %w", err)
			}
			s.Start = start
			return s, nil
		}
	}
}

// word cuts the first word off b; empty at the end. Unlike bytes.Fields it lets
// the caller's buffer stay on the stack.
func word(b []byte) (first, rest []byte) {
	const blanks = " \t\n"
	b = bytes.TrimLeft(b, blanks)
	if i := bytes.IndexAny(b, blanks); i >= 0 {
		return b[:i], b[i:]
	}
	return b, nil
}

// SchedStat is the scheduler's account of a thread.
type SchedStat struct {
	CPU     units.Ns // on a CPU
	Waiting units.Ns // runnable, waiting for a CPU
}

// ParseSchedStat parses "cpu_ns waiting_ns timeslices". A field that cannot be
// read is NotMeasured.
func ParseSchedStat(b []byte) (SchedStat, error) {
	s := SchedStat{CPU: units.NotMeasured, Waiting: units.NotMeasured}
	cpu, rest := word(b)
	waiting, _ := word(rest)
	if len(waiting) == 0 {
		return s, fmt.Errorf("need 2 fields or more: %q", cut(b))
	}
	return s, errors.Join(parseNs(cpu, &s.CPU), parseNs(waiting, &s.Waiting))
}

func parseNs(field []byte, ns *units.Ns) error {
	n, err := strconv.ParseInt(string(field), 10, 64)
	if err == nil {
		*ns = units.Ns(n)
	}
	return err
}

// ParseSyscall parses the number of the system call; false for a thread that runs.
func ParseSyscall(text []byte) (int32, bool) {
	word, _, _ := bytes.Cut(text, []byte(" "))
	n, err := strconv.ParseInt(string(bytes.TrimSpace(word)), 10, 32)
	return int32(n), err == nil
}

// Status is a status file: one field a line.
type Status []byte

// words are the words of a field; nil if the kernel does not list it.
func (s Status) words(key string) []string {
	for line := range bytes.Lines(s) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok || string(name) != key {
			continue
		}
		var words []string
		for w := range bytes.FieldsSeq(value) {
			words = append(words, string(w))
		}
		return words
	}
	return nil
}

// ErrNoField says that a status file lacks a field.
var ErrNoField = errors.New("no such field")

// number parses one word of a field; a negative index counts from the last word.
func (s Status) number(key string, index, base int) (uint64, error) {
	words := s.words(key)
	if index < 0 {
		index += len(words)
	}
	if index < 0 || index >= len(words) {
		return 0, fmt.Errorf("status: %s: %w", key, ErrNoField)
	}
	n, err := strconv.ParseUint(words[index], base, 64)
	if err != nil {
		return 0, fmt.Errorf("status: %s: %w", key, err)
	}
	return n, nil
}

// Owner is the effective user and group.
func (s Status) Owner() (uid, gid int, err error) {
	const effective = 1 // after the real one
	u, err1 := s.number("Uid", effective, 10)
	g, err2 := s.number("Gid", effective, 10)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("no user and group: %w", cmp.Or(err1, err2))
	}
	return int(u), int(g), nil
}

// Inner is the id in the innermost pid namespace, and whether that is not ours:
// inside a container our id means nothing.
func (s Status) Inner() (id int, own bool, err error) {
	n, err := s.number("NSpid", -1, 10)
	return int(n), err == nil && len(s.words("NSpid")) > 1, err
}

// Capabilities is the set of effective capabilities.
func (s Status) Capabilities() (uint64, error) { return s.number("CapEff", 0, 16) }

// Catches reports whether the process handles a signal.
func (s Status) Catches(signal int) (bool, error) {
	set, err := s.number("SigCgt", 0, 16)
	return set&(1<<(signal-1)) != 0, err
}

// Tracer is the process that traces it; 0: none does.
func (s Status) Tracer() (int, error) {
	n, err := s.number("TracerPid", 0, 10)
	return int(n), err
}

// Pending reports whether a signal waits to be delivered to the process.
func (s Status) Pending(signal int) (bool, error) {
	set, err := s.number("ShdPnd", 0, 16)
	return set&(1<<(signal-1)) != 0, err
}

// PeakBytes is the most memory the process has held.
func (s Status) PeakBytes() (int64, error) {
	kib, err := s.number("VmHWM", 0, 10)
	return int64(kib) << 10, err
}

func cut(b []byte) string { return string(b[:min(len(b), 40)]) }
