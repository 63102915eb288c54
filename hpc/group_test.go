package hpc

import (
	"errors"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// A group of the kernel's own events counts what this thread does. Linux 6.18 does not count the task clock beside others of them.
func TestGroup(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := PerfGroups().OpenGroup(unix.Gettid(), []Event{ContextSwitches, PageFaults, CPUMigrations})
	var na *NotAvailableError
	if errors.As(err, &na) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	var before, after [3]uint64
	if _, _, err := g.Read(before[:]); err != nil {
		t.Fatal(err)
	}
	const pages = 200
	b, err := unix.Mmap(-1, 0, pages*unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(b)
	if err := unix.Madvise(b, unix.MADV_NOHUGEPAGE); err != nil {
		t.Fatal(err)
	}
	for i := range pages {
		b[i*unix.Getpagesize()] = 1
	}
	enabled, running, err := g.Read(after[:])
	if err != nil || enabled <= 0 || running != enabled {
		t.Errorf("enabled %d ns, running %d ns, %v", enabled, running, err)
	}
	if n := after[1] - before[1]; n < pages || n > pages+20 {
		t.Errorf("%d page faults, want %d", n, pages)
	}
	if n := testing.AllocsPerRun(10, func() { g.Read(after[:]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// A refusal names the event and the reason.
func TestGroupRefused(t *testing.T) {
	if _, err := PerfGroups().OpenGroup(1<<31-1, []Event{TaskClock}); !errors.Is(err, unix.ESRCH) {
		t.Errorf("no thread: %v", err)
	}
	var na *NotAvailableError
	if _, err := PerfGroups().OpenGroup(0, []Event{Cycles, Instructions}); err != nil && (!errors.As(err, &na) || na.Reason == "") {
		t.Errorf("hardware: %v", err)
	}
}
