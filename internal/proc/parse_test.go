package proc

import (
	"errors"
	"os"
	"testing"

	"stackagent/internal/units"
)

const tail = " S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 12345 20"

func TestParseStat(t *testing.T) {
	for line, want := range map[string]Stat{
		"7 (a) b) (c)" + tail:    {"a) b) (c", 'S', 12345},
		"7 (GC Thread#0)" + tail: {"GC Thread#0", 'S', 12345},
		"7 ()" + tail:            {"", 'S', 12345},
	} {
		if got, err := ParseStat([]byte(line)); err != nil || got != want {
			t.Errorf("%q: %+v, %v", line, got, err)
		}
	}
	for _, bad := range []string{"", "7 a b", "7 (a) S 1", "7 (cut", "7 (x)", "7 )a( S", "7 (a)" + tail[:len(tail)-8] + "x"} {
		if s, err := ParseStat([]byte(bad)); err == nil {
			t.Errorf("%q is accepted: %+v", bad, s)
		}
	}
}

func TestParseSchedStat(t *testing.T) {
	const none = units.NotMeasured
	for text, want := range map[string]SchedStat{
		"1234 56 7\n":                 {1234, 56},
		"":                            {none, none},
		"1":                           {none, none},
		"x 56 7":                      {none, 56},
		"99999999999999999999999 5 1": {none, 5},
	} {
		got, err := ParseSchedStat([]byte(text))
		if got != want || (err == nil) != (want.CPU != none) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}

func TestParseSyscall(t *testing.T) {
	for text, want := range map[string]int32{"202 0x7f 0x80 0x0\n": 202, "-1 0x7ffd 0x1": -1, "0 0x3\n": 0} {
		if got, ok := ParseSyscall([]byte(text)); got != want || !ok {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"running\n", "", "99999999999 0x1"} {
		if n, ok := ParseSyscall([]byte(text)); ok {
			t.Errorf("%q: %d", text, n)
		}
	}
}

func TestStatus(t *testing.T) {
	s := Status("Name:\tNSpid: 5\nUid:\t1000\t1001\t1000\nGid:\t100\t101\nNSpid:\t77\t12\t1\nSigCgt:\t0000000000000004\n" +
		"CapEff:\t0000000000080000\nVmHWM:\t    2048 kB\n")
	if uid, gid, err := s.Owner(); uid != 1001 || gid != 101 || err != nil {
		t.Errorf("owner %d, %d, %v", uid, gid, err)
	}
	if set, err := s.Capabilities(); set != 1<<19 || err != nil {
		t.Errorf("capabilities %x, %v", set, err)
	}
	for signal, want := range map[int]bool{2: false, 3: true, 4: false} {
		if got, err := s.Catches(signal); got != want || err != nil {
			t.Errorf("signal %d is caught: %v, %v", signal, got, err)
		}
	}
	if n, err := s.PeakBytes(); n != 2<<20 || err != nil {
		t.Errorf("peak %d, %v", n, err)
	}
	if _, _, err := Status("Name:\tx\n").Owner(); !errors.Is(err, ErrNoField) {
		t.Errorf("no owner: %v", err)
	}
	if _, _, err := Status("Uid:\t1\tx\nGid:\t1\t1\n").Owner(); err == nil {
		t.Error("a damaged owner is accepted")
	}
}

func TestPeakBytes(t *testing.T) {
	for text, want := range map[string]int64{"Name:\tx\nVmHWM:\t   12 kB\nVmRSS:\t 3 kB\n": 12 << 10, "Name: x\n": 0, "VmHWM:\tmuch kB\n": 0, "": 0} {
		if got, err := Status(text).PeakBytes(); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

func TestInner(t *testing.T) {
	for _, c := range []struct {
		status     string
		id         int
		own, fails bool
	}{
		{"Name:\tjava\nNSpid:\t4711\nThreads:\t3\n", 4711, false, false},
		{"Name:\tjava\nNSpid:\t4711\t12\t1\n", 1, true, false},
		{"Name:\tNSpid: 5\n", 0, false, true},
		{"NSpid:\n", 0, false, true},
		{"NSpid:\tx\n", 0, false, true},
		{"", 0, false, true},
	} {
		id, own, err := Status(c.status).Inner()
		if id != c.id || own != c.own || (err != nil) != c.fails {
			t.Errorf("%q: %d, own namespace %v, %v", c.status, id, own, err)
		}
	}
}

// Whatever a file says, a parser neither panics nor reads past a word.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"stat", "schedstat", "status", "syscall"} {
		if b, err := os.ReadFile("/proc/self/" + name); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte("7 (a)" + tail))
	f.Add([]byte("cpu 1 2 3 4 5 6 7 8 9 10\n"))
	f.Add([]byte(")("))
	f.Add([]byte("Uid:\t1\t2\nGid:\t1\t2\nNSpid:\t7\t1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		ParseStat(b)
		ParseSyscall(b)
		ParseNewestThread(b)
		if p, err := ParseProcessors(b); err == nil && (p.Idle < 0 || p.Stolen < 0 || p.Busy < p.Stolen) {
			t.Errorf("%q: %+v without an error", b, p)
		}
		if s, err := ParseSchedStat(b); err == nil && !(s.CPU.Measured() && s.Waiting.Measured()) {
			t.Errorf("%q: %+v without an error", b, s)
		}
		s := Status(b)
		s.Owner()
		s.Inner()
		s.Capabilities()
		s.Catches(3)
		s.PeakBytes()
	})
}
