package kernel

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

func procGroup() monitor.Group {
	return monitor.Group{
		Name: "proc", Layer: monitor.OS, Doc: "CPU time, memory, run queue, network, disks, limits: of the process and of the machine",
		Prefixes: []string{"os.cpu.", "os.cpu_ns", "os.steal_ns", "os.threads", "os.rss_bytes", "os.run_queue", "os.net.", "os.disk.", "os.cgroup.", "os.machine."}, Open: openProc,
	}
}

// slowInterval is for files that cost more than a few microseconds, or show time in steps of 10 ms.
const slowInterval = units.Ns(100 * time.Millisecond)

// part reads one file, or one of a kind.
type part struct {
	interval units.Ns // 0: every sample
	next     units.MonoNs
	read     func(to monitor.Sink) error
	files    []*file
}

// procFiles is the group proc.
type procFiles struct {
	pid   int
	parts []*part
	// What could not be opened, and why.
	absent map[string]string
}

func openProc(o monitor.Target) (monitor.Source, error) {
	if !proc.Alive(o.PID) {
		return nil, fmt.Errorf("process %d: %w", o.PID, proc.ErrEnded)
	}
	p := &procFiles{pid: o.PID, absent: map[string]string{}}
	d := proc.Process(o.PID)
	p.cpuTime()
	p.resident(d.Path("statm"))
	p.runQueue()
	p.stat(d.Path("stat"))
	p.machine()
	p.memory()
	p.network(d.Path("net/dev"))
	p.io(d.Path("io"))
	p.disks()
	p.throttling()
	p.pressure()
	return p, nil
}

// Read reads the files whose turn it is. A file that fails is given up.
func (p *procFiles) Read(at units.MonoNs, to monitor.Sink) error {
	for name, why := range p.absent {
		to.Absent(name, why)
	}
	clear(p.absent)
	kept := p.parts[:0]
	for i, x := range p.parts {
		if at < x.next {
			kept = append(kept, x)
			continue
		}
		if x.interval > 0 { // not all in the same sample
			if x.next == 0 {
				x.next = at + units.MonoNs(x.interval)*units.MonoNs(i+1)/units.MonoNs(len(p.parts))
			}
			for x.next <= at {
				x.next += units.MonoNs(x.interval)
			}
		}
		if err := x.read(to); err != nil {
			if !errors.Is(err, proc.ErrEnded) {
				to.Absent("proc from "+fmt.Sprint(int64(at)), err.Error())
			}
			x.close()
			continue
		}
		kept = append(kept, x)
	}
	p.parts = kept
	return nil
}

func (x *part) close() {
	for _, f := range x.files {
		f.close() // nothing is written; a failure loses nothing
	}
}

// Close closes all files.
func (p *procFiles) Close() error {
	for _, x := range p.parts {
		x.close()
	}
	p.parts = nil
	return nil
}

// add adds a part that reads one file.
func (p *procFiles) add(name, path string, interval units.Ns, read func(text []byte, to monitor.Sink) error) {
	f, err := openFile(path)
	if err == nil {
		_, err = f.read() // some can be opened, but not read
	}
	if err != nil {
		f.close()
		p.absent[name] = err.Error()
		return
	}
	p.parts = append(p.parts, &part{interval: interval, files: []*file{f}, read: func(to monitor.Sink) error {
		text, err := f.read()
		if err != nil {
			return err
		}
		return read(text, to)
	}})
}

// declared declares monitors when they first get a value.
type declared struct {
	all []monitor.Declaration
	ids []monitor.ID
}

func declare(interval units.Ns, source string, all ...monitor.Declaration) *declared {
	for i := range all {
		all[i].Layer, all[i].Source, all[i].Interval = monitor.OS, source, interval
	}
	return &declared{all: all}
}

func (d *declared) id(n int, to monitor.Sink) monitor.ID {
	for len(d.ids) < len(d.all) {
		d.ids = append(d.ids, to.Declare(d.all[len(d.ids)]))
	}
	return d.ids[n]
}

func (d *declared) total(to monitor.Sink, n int, v int64) { to.Total(d.id(n, to), 0, v) }
func (d *declared) value(to monitor.Sink, n int, v int64) { to.Value(d.id(n, to), 0, float64(v)) }

func nsCounter(name, doc string) monitor.Declaration {
	return monitor.Declaration{Name: name, Unit: "ns", Doc: doc}
}

func bytesCounter(name, doc string) monitor.Declaration {
	return monitor.Declaration{Name: name, Unit: "bytes", Doc: doc}
}

func bytesGauge(name, doc string) monitor.Declaration {
	return monitor.Declaration{Name: name, Unit: "bytes", Kind: monitor.Gauge, Doc: doc}
}

// processClock is the clock of a process's CPU time: its threads, the ended ones, too (include/linux/posix-timers.h).
func processClock(pid int) int32 {
	const scheduler = 2 // CPUCLOCK_SCHED
	return int32(^pid)<<3 | scheduler
}

func (p *procFiles) cpuTime() {
	d := declare(0, "clock_gettime of the process's CPU clock", nsCounter("os.cpu_ns", "CPU time of all threads of the process, to the nanosecond"))
	clock := processClock(p.pid)
	p.parts = append(p.parts, &part{read: func(to monitor.Sink) error {
		var t unix.Timespec
		if err := unix.ClockGettime(clock, &t); err != nil {
			return fmt.Errorf("the CPU clock of process %d: %w", p.pid, proc.ErrEnded)
		}
		d.total(to, 0, t.Nano())
		return nil
	}})
}

func (p *procFiles) resident(path string) {
	d := declare(0, "/proc/PID/statm", bytesGauge("os.rss_bytes", "memory of the process that is in RAM; the kernel updates it in batches"))
	page := int64(unix.Getpagesize())
	p.add("os.rss_bytes", path, 0, func(text []byte, to monitor.Sink) error {
		pages, err := parseResident(text)
		d.value(to, 0, pages*page)
		return err
	})
}

func (p *procFiles) runQueue() {
	d := declare(0, "/proc/loadavg", monitor.Declaration{Name: "os.run_queue", Kind: monitor.Gauge,
		Doc: "threads of the machine that run or wait for a CPU, without the one that reads this"})
	p.add("os.run_queue", "/proc/loadavg", 0, func(text []byte, to monitor.Sink) error {
		n, err := parseRunQueue(text)
		d.value(to, 0, n)
		return err
	})
}

func (p *procFiles) stat(path string) {
	const steps = "; in steps of 10 ms"
	d := declare(slowInterval, "/proc/PID/stat",
		nsCounter("os.cpu.user_ns", "CPU time of the process in user mode"+steps),
		nsCounter("os.cpu.system_ns", "CPU time of the process in the kernel"+steps),
		monitor.Declaration{Name: "os.threads", Kind: monitor.Gauge, Doc: "threads of the process"})
	p.add("os.cpu.*", path, slowInterval, func(text []byte, to monitor.Sink) error {
		s, err := parseStat(text)
		if err != nil {
			return err
		}
		d.total(to, 0, s.user*tickNs)
		d.total(to, 1, s.system*tickNs)
		d.value(to, 2, s.threads)
		return nil
	})
}

func (p *procFiles) machine() {
	const cpus = "time of all CPUs of the machine "
	mode := func(name, doc string) monitor.Declaration {
		return nsCounter(fmt.Sprintf("os.machine.cpu_ns{mode=%q}", name), cpus+doc+"; in steps of 10 ms")
	}
	d := declare(slowInterval, "/proc/stat",
		mode("user", "in programs"), mode("nice", "in programs of low priority"), mode("system", "in the kernel"), mode("idle", "without work"),
		mode("iowait", "without work, while a disk works"), mode("irq", "in interrupts"), mode("softirq", "in soft interrupts"),
		nsCounter("os.steal_ns", cpus+"that the hypervisor gave to others; in steps of 10 ms"),
		monitor.Declaration{Name: "os.machine.context_switches", Doc: "switches between threads on all CPUs of the machine"},
		monitor.Declaration{Name: "os.machine.blocked", Kind: monitor.Gauge, Doc: "threads of the machine that wait for a disk"})
	p.add("os.machine.cpu_ns", "/proc/stat", slowInterval, func(text []byte, to monitor.Sink) error {
		m, err := parseMachine(text)
		if err != nil {
			return err
		}
		for i, ticks := range m.ticks {
			d.total(to, i, ticks*tickNs)
		}
		d.total(to, modes, m.switches)
		d.value(to, modes+1, m.blocked)
		return nil
	})
}

func (p *procFiles) memory() {
	d := declare(slowInterval, "/proc/meminfo", bytesGauge("os.machine.available_bytes", "memory of the machine that programs can still get without swapping"))
	p.add("os.machine.available_bytes", "/proc/meminfo", slowInterval, func(text []byte, to monitor.Sink) error {
		kib, ok := parseKey(text, "MemAvailable:")
		if !ok || kib > 1<<50 {
			return errors.New("/proc/meminfo has no MemAvailable")
		}
		d.value(to, 0, kib<<10)
		return nil
	})
}

func (p *procFiles) network(path string) {
	const where = " of the process's network namespace, by all its programs"
	d := declare(slowInterval, "/proc/PID/net/dev",
		bytesCounter(`os.net.received_bytes{of="loopback"}`, "bytes that came in by the loopback device"+where),
		bytesCounter(`os.net.received_bytes{of="network"}`, "bytes that came in by the other devices"+where),
		bytesCounter(`os.net.sent_bytes{of="loopback"}`, "bytes that went out by the loopback device"+where),
		bytesCounter(`os.net.sent_bytes{of="network"}`, "bytes that went out by the other devices"+where))
	p.add("os.net.*", path, slowInterval, func(text []byte, to monitor.Sink) error {
		n, err := parseNetwork(text)
		if err != nil {
			return err
		}
		for of := range 2 {
			d.total(to, of, n.received[of])
			d.total(to, 2+of, n.sent[of])
		}
		return nil
	})
}

func (p *procFiles) io(path string) {
	d := declare(slowInterval, "/proc/PID/io",
		bytesCounter("os.disk.read_bytes", "bytes that disks read for the process; not what the page cache had"),
		bytesCounter("os.disk.written_bytes", "bytes of the page cache that the process made dirty, or wrote past it; the disk may write them later"))
	p.add("os.disk.*", path, slowInterval, func(text []byte, to monitor.Sink) error {
		read, ok1 := parseKey(text, "read_bytes:")
		written, ok2 := parseKey(text, "write_bytes:")
		if !ok1 || !ok2 {
			return errors.New("/proc/PID/io has no read_bytes or no write_bytes")
		}
		d.total(to, 0, read)
		d.total(to, 1, written)
		return nil
	})
}

func (p *procFiles) disks() {
	wanted := physicalDisks("/sys/block")
	d := declare(slowInterval, "/proc/diskstats",
		bytesCounter("os.machine.disk.read_bytes", "bytes that the machine's disks read"),
		bytesCounter("os.machine.disk.written_bytes", "bytes that the machine's disks wrote"),
		nsCounter("os.machine.disk.busy_ns", "time in which a disk of the machine had a request, summed over disks"))
	if len(wanted) == 0 {
		p.absent["os.machine.disk.*"] = "/sys/block lists no disk"
		return
	}
	p.add("os.machine.disk.*", "/proc/diskstats", slowInterval, func(text []byte, to monitor.Sink) error {
		sum, err := parseDisks(text, wanted)
		if err != nil {
			return err
		}
		d.total(to, 0, sum.read)
		d.total(to, 1, sum.written)
		d.total(to, 2, sum.busyMs*int64(time.Millisecond))
		return nil
	})
}

// maxDisks bounds how many are summed.
const maxDisks = 1024

// physicalDisks are the disks that do not lie on others, and are no files or memory.
func physicalDisks(dir string) map[string]bool {
	entries, _ := os.ReadDir(dir)
	wanted := map[string]bool{}
	for _, e := range entries[:min(len(entries), maxDisks)] {
		name := e.Name()
		below, _ := os.ReadDir(filepath.Join(dir, name, "slaves"))
		if len(below) > 0 || strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") || strings.HasPrefix(name, "zram") {
			continue
		}
		wanted[name] = true
	}
	return wanted
}

func (p *procFiles) throttling() {
	membership, err := openFile(proc.Process(p.pid).Path("cgroup"))
	if err != nil {
		p.absent["os.cgroup.*"] = err.Error()
		return
	}
	files, err := openThrottling(p.pid)
	if err != nil { // it may be moved into one
		p.absent["os.cgroup.*"] = "at the start: " + err.Error()
	}
	const around = " of the process's cgroup and those around it, summed"
	d := declare(slowInterval, "cpu.stat of the cgroup",
		nsCounter("os.cgroup.throttled_ns", "time in which the CPU limit kept threads from running, summed over CPUs,"+around),
		monitor.Declaration{Name: "os.cgroup.throttled", Doc: "periods in which the CPU limit was reached," + around},
		monitor.Declaration{Name: "os.cgroup.periods", Doc: "periods in which threads ran under a CPU limit," + around})
	x := &part{interval: slowInterval, files: append([]*file{membership}, files...)}
	var last, shift throttling // what was passed on, and what the totals of another cgroup lack to go on from there
	text, _ := membership.read()
	known := string(text)
	x.read = func(to monitor.Sink) error {
		text, err := membership.read()
		if moved := err == nil && string(text) != known; moved {
			known = string(text)
			for _, f := range x.files[1:] {
				f.close() // nothing is written
			}
			files, _ := openThrottling(p.pid) // none: it has no limit there
			x.files = append(x.files[:1], files...)
			sum, err := sumThrottling(files)
			if err != nil {
				return err
			}
			shift = last.minus(sum)
		}
		if len(x.files) == 1 {
			return nil
		}
		sum, err := sumThrottling(x.files[1:])
		if err != nil {
			return err
		}
		last = sum.plus(shift)
		d.total(to, 0, last.ns)
		d.total(to, 1, last.throttled)
		d.total(to, 2, last.periods)
		return nil
	}
	p.parts = append(p.parts, x)
}

func (p *procFiles) pressure() {
	for _, of := range []string{"cpu", "io", "memory"} {
		name := fmt.Sprintf("os.machine.pressure_ns{of=%q}", of)
		d := declare(slowInterval, "/proc/pressure/"+of, nsCounter(name, "time in which at least one thread of the machine had to wait for: "+of))
		p.add(name, "/proc/pressure/"+of, slowInterval, func(text []byte, to monitor.Sink) error {
			us, err := parsePressure(text)
			if err != nil {
				return err
			}
			d.total(to, 0, us*1000)
			return nil
		})
	}
}
