package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

// Processors is the time of all processors of the machine since it booted, in steps of 10 ms.
type Processors struct {
	Busy   time.Duration // in programs, interrupts and the hypervisor
	Idle   time.Duration
	Stolen time.Duration // the part of Busy that interrupts and the hypervisor took: it is charged to no thread
}

// ReadProcessors reads /proc/stat.
func ReadProcessors() (Processors, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Processors{}, err
	}
	return ParseProcessors(text)
}

// Fields of the first line of /proc/stat, after "cpu".
const (
	cpuIdle = 3
	cpuWait = 4 // idle, while a disk works
	cpuIRQ  = 5 // then soft interrupts and stolen time
	cpuAll  = 8
	cpuBits = 37 // of a field: the sum of six, in nanoseconds, fits into 63
)

// ParseProcessors parses the first line of /proc/stat.
func ParseProcessors(text []byte) (Processors, error) {
	first, rest := word(text[:max(0, bytes.IndexByte(text, '\n'))])
	if string(first) != "cpu" {
		return Processors{}, errors.New("/proc/stat does not begin with a line cpu")
	}
	var p Processors
	for n := range cpuAll {
		first, rest = word(rest)
		ticks, err := strconv.ParseUint(string(first), 10, cpuBits)
		if err != nil {
			return Processors{}, fmt.Errorf("/proc/stat, field %d of cpu: %w", n+1, err)
		}
		d := time.Duration(ticks) * (time.Second / userHz)
		switch {
		case n == cpuIdle || n == cpuWait:
			p.Idle += d
		default:
			p.Busy += d
			if n >= cpuIRQ {
				p.Stolen += d
			}
		}
	}
	return p, nil
}

// NewestThread is the id that the machine gave to a thread or process last, from /proc/loadavg. While it stays the same,
// nothing has begun.
func NewestThread() (int, error) {
	var buf short
	text, err := Dir("/proc").read("loadavg", &buf)
	if err != nil {
		return 0, err
	}
	return ParseNewestThread(text)
}

// ParseNewestThread parses /proc/loadavg, whose fifth word it is.
func ParseNewestThread(text []byte) (int, error) {
	var last []byte
	for range 5 {
		last, text = word(text)
	}
	id, err := strconv.ParseUint(string(last), 10, 31)
	if err != nil {
		return 0, fmt.Errorf("/proc/loadavg: %w", err)
	}
	return int(id), nil
}
