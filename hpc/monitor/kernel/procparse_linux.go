package kernel

import (
	"bytes"
	"errors"
)

// Parsers of what the group proc reads. None allocates; each skips what it does not know.

// nextLine cuts the first line off text.
func nextLine(text []byte) (line, rest []byte) {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, nil
}

// numbers parses the numbers at the begin of line into all, as far as there are any, and returns how many.
func numbers(line []byte, all []int64) (n int) {
	for n < len(all) {
		var word []byte
		word, line = nextWord(line)
		v, rest, ok := number(word)
		if !ok || len(rest) > 0 {
			break
		}
		all[n] = v
		n++
	}
	return n
}

// tickNs is a clock tick of /proc, on every Linux.
const tickNs = 10_000_000

// Modes of a CPU, in the order of /proc/stat.
const (
	modeUser = iota
	modeNice
	modeSystem
	modeIdle
	modeWait
	modeIRQ
	modeSoftIRQ
	modeSteal
	modes
)

// machine is what /proc/stat says.
type machine struct {
	ticks    [modes]int64
	switches int64
	blocked  int64
}

func parseMachine(text []byte) (m machine, err error) {
	var found int
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		key, rest := nextWord(line)
		switch string(key) {
		case "cpu":
			found += numbers(rest, m.ticks[:])
		case "ctxt":
			found += single(rest, &m.switches)
		case "procs_blocked":
			found += single(rest, &m.blocked)
		}
	}
	if found < modes+2 {
		return m, errors.New("/proc/stat lacks cpu, ctxt or procs_blocked")
	}
	for _, v := range m.ticks {
		if v > 1<<62/tickNs {
			return m, errors.New("/proc/stat: times that are too long")
		}
	}
	return m, nil
}

// single parses the number at the begin of line, and returns how many there are.
func single(line []byte, n *int64) int {
	word, _ := nextWord(line)
	v, rest, ok := number(word)
	if !ok || len(rest) > 0 {
		return 0
	}
	*n = v
	return 1
}

// parseRunQueue reads the fourth word of /proc/loadavg, "running/all", less the thread that reads it.
func parseRunQueue(text []byte) (int64, error) {
	var word []byte
	for range 4 {
		word, text = nextWord(text)
	}
	n, rest, ok := number(word)
	if !ok || len(rest) == 0 || rest[0] != '/' {
		return 0, errors.New("/proc/loadavg does not say how many threads run")
	}
	return max(n-1, 0), nil
}

// parseResident is the second number of /proc/PID/statm, in pages.
func parseResident(text []byte) (int64, error) {
	var all [2]int64
	if numbers(text, all[:]) < 2 {
		return 0, errors.New("/proc/PID/statm has fewer than two numbers")
	}
	return all[1], nil
}

// parseKey is the number after a key at the begin of a line: "MemAvailable:   123 kB".
func parseKey(text []byte, key string) (n int64, ok bool) {
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		word, rest := nextWord(line)
		if string(word) == key {
			ok = single(rest, &n) == 1
			return n, ok
		}
	}
	return 0, false
}

// network is what /proc/PID/net/dev says: bytes through the loopback device and through all others.
type network struct{ received, sent [2]int64 }

const (
	loopback = iota
	outside
)

const (
	netReceived = 0 // columns after the colon
	netSent     = 8
)

// parseNetwork sums the devices. The name of a device may hold a colon; it ends at the last one.
func parseNetwork(text []byte) (n network, err error) {
	_, text = nextLine(text)
	header, text := nextLine(text)
	if !bytes.Contains(header, []byte("|bytes")) {
		return n, errors.New("/proc/PID/net/dev has an unknown header")
	}
	for len(text) > 0 {
		var line []byte
		line, text = nextLine(text)
		i := bytes.LastIndexByte(line, ':')
		if i < 0 {
			continue
		}
		var all [netSent + 1]int64
		if numbers(line[i+1:], all[:]) < len(all) {
			continue
		}
		of := outside
		if string(bytes.TrimSpace(line[:i])) == "lo" {
			of = loopback
		}
		n.received[of] += all[netReceived]
		n.sent[of] += all[netSent]
	}
	return n, nil
}

// disks is what /proc/diskstats says of the disks.
type disks struct{ read, written, busyMs int64 }

// Columns of /proc/diskstats after the name; sectors have 512 bytes.
const (
	diskRead    = 2
	diskWritten = 6
	diskBusy    = 9
	sector      = 512
)

// parseDisks sums the disks that are wanted: a partition or a mirror would count twice.
func parseDisks(text []byte, wanted map[string]bool) (d disks, err error) {
	found := false
	for len(text) > 0 {
		var line, name []byte
		line, text = nextLine(text)
		_, line = nextWord(line)
		_, line = nextWord(line)
		name, line = nextWord(line)
		var all [diskBusy + 1]int64
		if !wanted[string(name)] || numbers(line, all[:]) < len(all) || max(all[diskRead], all[diskWritten]) > 1<<50 {
			continue
		}
		found = true
		d.read += sector * all[diskRead]
		d.written += sector * all[diskWritten]
		d.busyMs += all[diskBusy]
	}
	if !found {
		return d, errors.New("/proc/diskstats has no disk of /sys/block")
	}
	return d, nil
}

// parsePressure is the total of a line "some avg10=.. total=123", in microseconds.
func parsePressure(text []byte) (int64, error) {
	line, _ := nextLine(text)
	if i := bytes.Index(line, []byte("total=")); i >= 0 && bytes.HasPrefix(line, []byte("some ")) {
		if n, _, ok := number(line[i+len("total="):]); ok && n < 1<<62/1000 {
			return n, nil
		}
	}
	return 0, errors.New("a pressure file without a total of some")
}

// throttling is what cpu.stat of a cgroup says.
type throttling struct{ periods, throttled, ns int64 }

// parseThrottling knows both versions: throttled_usec in the second, throttled_time in ns in the first.
func parseThrottling(text []byte) (t throttling, ok bool) {
	var found [3]bool
	t.periods, found[0] = parseKey(text, "nr_periods")
	t.throttled, found[1] = parseKey(text, "nr_throttled")
	if t.ns, found[2] = parseKey(text, "throttled_usec"); found[2] {
		t.ns *= 1000
	} else {
		t.ns, found[2] = parseKey(text, "throttled_time")
	}
	return t, found == [3]bool{true, true, true} && t.ns >= 0
}
