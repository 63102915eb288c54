package kernel

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/cilium/ebpf"
	"golang.org/x/sys/unix"
)

// iterator runs a program of the kernel for each thread of a process.
type iterator struct {
	link int
	one  [1]byte
}

// iterate prepares it. cilium/ebpf cannot restrict an iterator to a process; kernels before 6.1 cannot either, there the program
// runs for all threads of the machine and chooses.
func iterate(program *ebpf.Program, pid int) (*iterator, error) {
	fd, err := linkIterator(program, pid)
	if errors.Is(err, unix.EINVAL) {
		fd, err = linkIterator(program, 0)
	}
	if err != nil {
		return nil, fmt.Errorf("attaching the program %s: %w", programRead, err)
	}
	return &iterator{link: fd}, nil
}

// Commands of bpf(2), from include/uapi/linux/bpf.h.
const (
	bpfLinkCreate = 28
	bpfIterCreate = 33
	bpfTraceIter  = 28
)

func linkIterator(program *ebpf.Program, pid int) (int, error) {
	which := &struct{ tid, pid, pidFD uint32 }{pid: uint32(pid)}
	attr := struct {
		program, target, attachType, flags uint32
		which                              uint64
		size, _                            uint32
	}{program: uint32(program.FD()), attachType: bpfTraceIter, which: uint64(uintptr(unsafe.Pointer(which))), size: uint32(unsafe.Sizeof(*which))}
	var pinned runtime.Pinner
	pinned.Pin(which)
	defer pinned.Unpin()
	return bpf(bpfLinkCreate, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
}

func bpf(command uintptr, attr unsafe.Pointer, size uintptr) (int, error) {
	fd, _, errno := unix.Syscall(unix.SYS_BPF, command, uintptr(attr), size)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// run runs the program once for each thread.
func (i *iterator) run() error {
	attr := struct{ link, flags uint32 }{link: uint32(i.link)}
	fd, err := bpf(bpfIterCreate, unsafe.Pointer(&attr), unsafe.Sizeof(attr))
	if err != nil {
		return fmt.Errorf("asking the kernel for the threads' counts: %w", err)
	}
	defer unix.Close(fd)
	if _, err := unix.Read(fd, i.one[:]); err != nil && !errors.Is(err, unix.EAGAIN) && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("asking the kernel for the threads' counts: %w", err)
	}
	return nil
}

func (i *iterator) close() error { return unix.Close(i.link) }
