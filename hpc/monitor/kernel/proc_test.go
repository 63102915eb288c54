package kernel

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
	"stackagent/internal/testjvm"
	"stackagent/internal/units"
)

// all lets each part of the group read again.
func (p *procFiles) all() {
	for _, x := range p.parts {
		x.next = 0
	}
}

func openProcOf(t testing.TB, pid int) *procFiles {
	t.Helper()
	source, err := openProc(monitor.Target{PID: pid, Interval: monitor.DefaultInterval})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return source.(*procFiles)
}

// Busy threads show in the CPU time, as getrusage has it, and in the run queue. The machine may be busy with more.
func TestProc(t *testing.T) {
	const spinners = 5
	testjvm.OneGood(t, func(a *testjvm.Attempt) {
		w := startWork(t, "spin", strconv.Itoa(spinners), "300")
		p := openProcOf(t, w.pid())
		s := newSums(t)
		s.read(p)
		before := readStat(t, w.pid())
		w.start()
		time.Sleep(100 * time.Millisecond)
		p.all()
		s.read(p)
		if n := s.value("os.run_queue"); n < spinners {
			t.Errorf("%v threads run, %d of them are busy", n, spinners)
		}
		if n := s.value("os.threads"); n != spinners+1 {
			a.Errorf("%v threads, want %d", n, spinners+1)
		}
		_, _, micros := w.counted()
		after := readStat(t, w.pid())
		p.all()
		s.read(p)
		if got, want := s.of("os.cpu_ns"), micros*1000; got < want-int64(time.Millisecond) || got > want+int64(20*time.Millisecond) {
			a.Errorf("%d ns of CPU time, getrusage says %d", got, want)
		}
		ticks := after.user + after.system - before.user - before.system
		if got := s.of("os.cpu.user_ns") + s.of("os.cpu.system_ns"); got != ticks*tickNs {
			t.Errorf("%d ns in user mode and the kernel, /proc/PID/stat says %d", got, ticks*tickNs)
		}
		if got := s.of(`os.machine.cpu_ns{mode="user"}`) + s.of(`os.machine.cpu_ns{mode="nice"}`); got < s.of("os.cpu.user_ns")-4*tickNs {
			a.Errorf("the machine was %d ns in user mode, the process %d", got, s.of("os.cpu.user_ns"))
		}
	})
}

// Memory, disk and their owners: a process that has written to memory and to a file.
func TestProcMemoryAndDisk(t *testing.T) {
	const pages = 5000
	w := startWork(t, "anonymous", strconv.Itoa(pages))
	p := openProcOf(t, w.pid())
	s := newSums(t)
	s.read(p)
	before := s.value("os.rss_bytes")
	w.start()
	w.counted()
	p.all()
	s.read(p)
	if grown := s.value("os.rss_bytes") - before; grown < pages*4096*0.9 || grown > pages*4096*1.1 {
		t.Errorf("the process grew by %v bytes, it touched %d", grown, pages*4096)
	}
	if available := s.value("os.machine.available_bytes"); available <= 0 {
		t.Errorf("%v bytes are available", available)
	}
	for name, why := range s.absent {
		if why == "" {
			t.Errorf("%s is absent without a reason", name)
		}
		t.Log(name, why)
	}
	w.end()
	p.all()
	s.read(p) // of a process that has ended nothing is left but the machine
	if len(p.parts) == 0 {
		t.Error("the machine's files are given up with the process")
	}
}

// A slow file is read at its interval, another one each time, and not all slow ones in the same sample.
func TestProcIntervals(t *testing.T) {
	p := openProcOf(t, os.Getpid())
	reads := map[*part]int{}
	for _, x := range p.parts {
		read := x.read
		x.read = func(to monitor.Sink) error { reads[x]++; return read(to) }
	}
	most, begin := 0, proc.Now()
	for at := range units.MonoNs(100) {
		before := 0
		for _, n := range reads {
			before += n
		}
		if err := p.Read(begin+at*10_000_000, &discard{}); err != nil {
			t.Fatal(err)
		}
		now := 0
		for _, n := range reads {
			now += n
		}
		if at > 0 {
			most = max(most, now-before)
		}
	}
	for _, x := range p.parts {
		want := 100
		if x.interval > 0 {
			want = 10
		}
		if n := reads[x]; n < want || n > want+1 {
			t.Errorf("a file with the interval %d was read %d times in a second", x.interval, n)
		}
	}
	if fast := 3; most > fast+3 {
		t.Errorf("%d files were read in one sample", most)
	}
}

// A process under a limit of its cgroup is throttled. The test needs the right to make a cgroup.
func TestThrottling(t *testing.T) {
	mounts, err := proc.Self.Read("mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	dir, limit := limitedCgroup(t, mounts)
	w := startWork(t, "spin", "2", "400")
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(w.pid())), 0); err != nil {
		t.Skipf("joining a cgroup is not permitted: %v", err)
	}
	t.Log(limit)
	p := openProcOf(t, w.pid())
	s := newSums(t)
	s.read(p)
	w.start()
	w.counted()
	p.all()
	s.read(p)
	// Two threads want 200 % of a CPU for 0.4 s and get 20 %.
	if n, throttled, ns := s.of("os.cgroup.periods"), s.of("os.cgroup.throttled"), s.of("os.cgroup.throttled_ns"); n < 5 || throttled < 5 || ns < 10e6 {
		t.Errorf("throttled in %d of %d periods, %d ns", throttled, n, ns)
	}
	w.end()
}

// limitedCgroup makes a cgroup with 4 ms of CPU time in each 20 ms.
func limitedCgroup(t *testing.T, mounts []byte) (dir, limit string) {
	t.Helper()
	for _, second := range []bool{true, false} {
		_, mount, ok := cgroupMount(mounts, second)
		if !ok {
			continue
		}
		dir := filepath.Join(mount, fmt.Sprintf("stackagent-test-%d", os.Getpid()))
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { os.Remove(dir) })
		files := map[string]string{"cpu.max": "4000 20000"}
		if !second {
			files = map[string]string{"cpu.cfs_period_us": "20000", "cpu.cfs_quota_us": "4000"}
		}
		written := true
		for _, name := range slices.Sorted(maps.Keys(files)) {
			written = os.WriteFile(filepath.Join(dir, name), []byte(files[name]), 0) == nil && written
		}
		if written {
			return dir, fmt.Sprint(files)
		}
	}
	t.Skip("a cgroup with a CPU limit cannot be made here")
	return "", ""
}

func TestCPUFolders(t *testing.T) {
	const first = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
	const second = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
	const inner = "30 24 0:26 /kubepods/pod1 /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
	for _, c := range []struct {
		groups, mounts string
		want           []string
	}{
		{"4:cpu,cpuacct:/a/b\n1:memory:/x\n", first, []string{"/sys/fs/cgroup/cpu,cpuacct/a/b", "/sys/fs/cgroup/cpu,cpuacct/a", "/sys/fs/cgroup/cpu,cpuacct"}},
		{"0::/user.slice\n", second, []string{"/sys/fs/cgroup/user.slice", "/sys/fs/cgroup"}},
		{"0::/kubepods/pod1/c\n", inner, []string{"/sys/fs/cgroup/c", "/sys/fs/cgroup"}},
		{"0::/kubepods/pod12\n", inner, nil}, // another pod
		{"0::/../../etc\n", second, []string{"/sys/fs/cgroup/etc", "/sys/fs/cgroup"}},
		{"0::/a:b\n", second, []string{"/sys/fs/cgroup/a:b", "/sys/fs/cgroup"}},
		{"5:cpuset:/a\n", first, nil}, {"", second, nil}, {"0::/a\n", "", nil}, {"0::a\n", second, nil},
	} {
		if got := cpuFolders([]byte(c.groups), []byte(c.mounts)); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.groups, got, c.want)
		}
	}
}

func TestProcParsers(t *testing.T) {
	m, err := parseMachine([]byte("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 99 1\nctxt 77\nprocs_running 3\nprocs_blocked 2\n"))
	if want := (machine{ticks: [modes]int64{1, 2, 3, 4, 5, 6, 7, 8}, switches: 77, blocked: 2}); m != want || err != nil {
		t.Errorf("%+v, %v", m, err)
	}
	n, err := parseNetwork([]byte("Inter-| Receive | Transmit\n face |bytes packets errs drop fifo frame compressed multicast|bytes packets\n" +
		"    lo: 10 1 0 0 0 0 0 0 20 1\neth0:1:300 1 0 0 0 0 0 0 400 1\n  bad: 1 2\n wlan0:1000 1 0 0 0 0 0 0 2000 1 0\n"))
	if want := (network{received: [2]int64{10, 1300}, sent: [2]int64{20, 2400}}); n != want || err != nil {
		t.Errorf("%+v, %v", n, err)
	}
	d, err := parseDisks([]byte(" 254 0 vda 1 2 100 4 5 6 200 8 9 50 11\n 254 1 vda1 1 2 9 4 5 6 9 8 9 9 11\n 7 0 loop0 1 2 9 4 5 6 9 8 9 9\n"), map[string]bool{"vda": true})
	if want := (disks{read: 51200, written: 102400, busyMs: 50}); d != want || err != nil {
		t.Errorf("%+v, %v", d, err)
	}
	for text, want := range map[string]throttling{
		"nr_periods 5\nnr_throttled 3\nthrottled_time 900\n":                          {5, 3, 900},
		"usage_usec 1\nnr_periods 5\nnr_throttled 3\nthrottled_usec 9\nnr_bursts 0\n": {5, 3, 9000},
	} {
		if got, ok := parseThrottling([]byte(text)); got != want || !ok {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if got, err := parsePressure([]byte("some avg10=0.00 avg60=0.00 avg300=0.00 total=123\nfull avg10=0.00 total=9\n")); got != 123 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	if got, err := parseRunQueue([]byte("0.2 0.3 0.4 12/345 678\n")); got != 11 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	s, err := parseStat([]byte("7 (a) S 1 (b\n) S 1 2 3 4 5 6 70 8 90 10 110 120 13 14 15 16 17 18 12345"))
	if want := (procStat{minor: 70, major: 90, user: 110, system: 120, threads: 17}); s != want || err != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestPhysicalDisks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"vda", "loop0", "zram0", "dm-0/slaves/vda", "md0/slaves"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if got := physicalDisks(dir); len(got) != 2 || !got["vda"] || !got["md0"] {
		t.Errorf("%v", got)
	}
}

// Whatever a file says, a parser neither panics nor returns a negative number without an error.
func FuzzParse(f *testing.F) {
	for _, path := range []string{"/proc/stat", "/proc/loadavg", "/proc/self/statm", "/proc/self/stat", "/proc/self/net/dev", "/proc/diskstats", "/proc/self/maps",
		"/proc/self/mountinfo", "/proc/self/cgroup", "/proc/pressure/cpu", "/proc/meminfo"} {
		if b, err := os.ReadFile(path); err == nil {
			f.Add(b)
		}
	}
	f.Add([]byte("cpu " + strings.Repeat("9", 30)))
	f.Add([]byte("nr_periods 9223372036854775807\nnr_throttled 1\nthrottled_usec 9223372036854775807\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseMachine(b); err == nil && (slices.Min(m.ticks[:]) < 0 || m.switches < 0) {
			t.Errorf("%+v", m)
		}
		if s, err := parseStat(b); err == nil && min(s.minor, s.major, s.user, s.system, s.threads) < 0 {
			t.Errorf("%+v", s)
		}
		if d, err := parseDisks(b, map[string]bool{"vda": true}); err == nil && d.busyMs < 0 {
			t.Errorf("%+v", d)
		}
		parseNetwork(b)
		parseResident(b)
		parseRunQueue(b)
		parsePressure(b)
		parseThrottling(b)
		cpuFolders(b, b)
		all, _ := table(nil, readMaps(b, 4096).mapped)
		checkTable(t, all)
	})
}

// checkTable: entries are in order, do not overlap, and are not too many.
func checkTable(t *testing.T, all []addresses) {
	t.Helper()
	if len(all) > nEntries {
		t.Fatalf("%d entries", len(all))
	}
	for i, a := range all {
		if a.from >= a.to || i > 0 && a.from < all[i-1].to {
			t.Fatalf("entry %d is %x to %x", i, a.from, a.to)
		}
	}
}

// No allocation once everything is known: the sampler reads a hundred times a second.
func TestNoAllocations(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	p := openProcOf(t, os.Getpid())
	sources := map[string]monitor.Source{"proc": p}
	for _, g := range []monitor.Group{faultGroup(), callGroup()} {
		if source, err := g.Open(monitor.Target{PID: os.Getpid(), Interval: monitor.DefaultInterval}); err == nil {
			defer source.Close()
			sources[g.Name] = source
		}
	}
	for name, source := range sources {
		d, at := &discard{}, proc.Now()
		read := func() {
			p.all()
			at++ // the maps are looked at seldom
			if err := source.Read(at, d); err != nil {
				t.Fatal(err)
			}
		}
		read()
		if n := testing.AllocsPerRun(20, read); n > 1 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
