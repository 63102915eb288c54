package kernel

import (
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"stackagent/hpc"
	"stackagent/hpc/monitor"
	"stackagent/internal/proc"
	"stackagent/internal/units"
)

// BenchmarkRead measures what a sample of each group costs for a process with 50 threads, and what that is of a CPU at each
// interval. docs/internals/monitor-costs.md has the figures.
func BenchmarkRead(b *testing.B) {
	const threads = 50
	for _, every := range []units.MonoNs{1e6, 10e6, 100e6} {
		for _, g := range Groups() {
			b.Run(g.Name+"/"+strconv.Itoa(int(every/1e6))+"ms", func(b *testing.B) {
				w := startSleepers(b, threads)
				source := openGroupOrSkip(b, g, w)
				d := &discard{}
				at := proc.Now()
				read := func() {
					at += every // as if the time had passed: the slow files are read at their intervals
					if err := source.Read(at, d); err != nil {
						b.Fatal(err)
					}
				}
				for range 3 {
					read()
				}
				before := threadCPU(b)
				b.ResetTimer()
				b.ReportAllocs()
				for b.Loop() {
					read()
				}
				cost := float64(threadCPU(b)-before) / float64(b.N)
				b.ReportMetric(100*cost/float64(every), "%core")
			})
		}
	}
}

// openGroupOrSkip opens a group. Without hardware counters it counts two of the kernel's own events in their place.
func openGroupOrSkip(b *testing.B, g monitor.Group, pid int) monitor.Source {
	b.Helper()
	if g.Name != "hardware" {
		return openOrSkip(b, g, pid)
	}
	source, err := openHardware(pid, softwareGroups{hpc.PerfGroups()}, hpc.ProcThreads(), newThreadNumbers(pid))
	if err != nil {
		b.Skip(err)
	}
	b.Cleanup(func() { source.Close() })
	return source
}

// softwareGroups opens groups of the same size that every machine has.
type softwareGroups struct{ hpc.GroupSource }

func (s softwareGroups) OpenGroup(tid int, events []hpc.Event) (hpc.GroupCounter, error) {
	return s.GroupSource.OpenGroup(tid, []hpc.Event{hpc.PageFaults, hpc.ContextSwitches, hpc.CPUMigrations}[:len(events)])
}

func threadCPU(b *testing.B) int64 {
	b.Helper()
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t); err != nil {
		b.Fatal(err)
	}
	return t.Nano()
}

func startSleepers(b *testing.B, threads int) (pid int) {
	b.Helper()
	w := startWork(b, "sleep", strconv.Itoa(threads))
	w.start()
	w.line()
	return w.pid()
}

// BenchmarkObserved measures what the programs in the kernel cost the observed process: a system call and a page fault, without
// and with the group that counts them.
func BenchmarkObserved(b *testing.B) {
	const pages = 1024
	page := unix.Getpagesize()
	memory, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		b.Fatal(err)
	}
	defer unix.Munmap(memory)
	if err := unix.Madvise(memory, unix.MADV_NOHUGEPAGE); err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		group monitor.Group
		do    func()
	}{
		{"1024 calls", callGroup(), func() {
			for range pages {
				unix.Getppid()
			}
		}},
		{"1024 faults", faultGroup(), func() {
			_ = unix.Madvise(memory, unix.MADV_DONTNEED) // it has succeeded before
			for i := range pages {
				memory[i*page] = 1
			}
		}},
	} {
		for _, observed := range []struct {
			name string
			pid  int // of the observed process; 0: none
		}{{"without", 0}, {"with", unix.Getpid()}, {"of another process", 1}} {
			b.Run(c.name+"/"+observed.name, func(b *testing.B) {
				if observed.pid != 0 {
					openOrSkip(b, c.group, observed.pid)
				}
				before := threadCPU(b)
				for b.Loop() {
					c.do()
				}
				b.ReportMetric(float64(threadCPU(b)-before)/float64(b.N)/pages, "cpu-ns/each")
			})
		}
	}
}
