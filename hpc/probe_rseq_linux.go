package hpc

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RseqFacility is the name of what rseqSwitches checks.
const RseqFacility = "CPU time by rseq"

// rseqArea is struct rseq, the descriptor of a critical section, and the signature
// before the code that runs when the section is aborted: <linux/rseq.h>.
type rseqArea struct {
	cpuStart, cpu uint32
	section       uint64
	_             [4]uint32 // to the 32 bytes of the first version

	version, flags               uint32
	start, postCommit, abort     uint64
	signature, afterSignature, _ uint32
}

const (
	rseqBytes      = 32
	rseqUnregister = 1
)

// rseqSignatures are those with which the C library registers.
var rseqSignatures = map[string]uint32{"amd64": 0x53053053, "arm64": 0xd428bc00}

// rseqSwitches checks what the agent's CPU clock relies on first
// (jvmti/clock/rseq.h): that the kernel clears the section of a thread's area when
// it switches the thread, and only then.
func rseqSwitches() Facility {
	f := Facility{Name: RseqFacility}
	if rseqSignatures[runtime.GOARCH] == 0 {
		f.Available, f.Detail = No, "on amd64 and arm64 only"
		return f
	}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: this thread and its area end with the goroutine
		result <- testRseq()
	}()
	switch err := <-result; {
	case err == nil:
		f.Available, f.Detail = Yes, "the kernel marks switches; used if the JVM's C library has it (glibc 2.35)"
	case errors.Is(err, unix.EINVAL):
		f.Available, f.Detail = Unknown, "the C library of this build has the thread's area"
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		f.Available, f.Detail = No, fmt.Sprintf("the kernel refuses rseq: %v", err)
	default:
		f.Available, f.Detail = No, err.Error()
	}
	return f
}

func testRseq() error {
	mem, err := unix.Mmap(-1, 0, unix.Getpagesize(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return fmt.Errorf("map a page: %w", err)
	}
	a := (*rseqArea)(unsafe.Pointer(&mem[0]))
	at := uint64(uintptr(unsafe.Pointer(a)))
	a.cpu = ^uint32(0) // not registered yet
	a.start, a.postCommit = at+uint64(unsafe.Offsetof(a.section)), 1
	a.signature, a.abort = rseqSignatures[runtime.GOARCH], at+uint64(unsafe.Offsetof(a.afterSignature))
	if err := rseq(a, 0); err != nil {
		return err
	}
	defer func() {
		atomic.StoreUint64(&a.section, 0)
		if rseq(a, rseqUnregister) == nil {
			unix.Munmap(mem)
		}
	}()
	return watchRseq(a, at+uint64(unsafe.Offsetof(a.version)))
}

func watchRseq(a *rseqArea, descriptor uint64) error {
	kept := false
	for range 20 { // the thread may be switched at any time
		atomic.StoreUint64(&a.section, descriptor)
		unix.Getppid()
		kept = kept || atomic.LoadUint64(&a.section) == descriptor
	}
	if err := watchSleep(a, descriptor, 50*time.Microsecond); err != nil {
		return err
	}
	if !kept {
		return errors.New("the kernel forgets the section at each system call")
	}
	return nil
}

// watchSleep checks that a wait of the thread shows. A pause may be over before the thread waits, if the hypervisor
// takes the CPU away: then there is no switch to show, and the next pause is longer.
func watchSleep(a *rseqArea, descriptor uint64, pause time.Duration) error {
	for seen, tries := 0, 0; seen < 5; tries++ {
		if tries == 16 {
			return errors.New("the thread did not wait")
		}
		atomic.StoreUint64(&a.section, descriptor)
		before, err := threadSwitches()
		if err != nil {
			return err
		}
		sleepThread(pause)
		if atomic.LoadUint64(&a.section) != descriptor {
			seen++
			continue
		}
		after, err := threadSwitches()
		switch {
		case err != nil:
			return err
		case after == before:
			pause *= 2
		case atomic.LoadUint64(&a.section) == descriptor:
			return errors.New("the kernel does not mark that a thread has waited (Linux 6.19 and later)")
		}
	}
	return nil
}

func threadSwitches() (int64, error) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		return 0, fmt.Errorf("counting the switches of a thread: %w", err)
	}
	return u.Nvcsw + u.Nivcsw, nil
}

func rseq(a *rseqArea, flags uintptr) error {
	if _, _, errno := unix.RawSyscall6(unix.SYS_RSEQ, uintptr(unsafe.Pointer(a)), rseqBytes, flags, uintptr(rseqSignatures[runtime.GOARCH]), 0, 0); errno != 0 {
		return errno
	}
	return nil
}
