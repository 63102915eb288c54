package testjvm

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RefusedVariable is for programs that call BecomeRefused first of all: with it in the environment they are a command
// that runs another one without perf.
const RefusedVariable = "STACKAGENT_TEST_REFUSED"

// BecomeRefused gives up what a kernel with perf_event_paranoid 4 refuses, and becomes the command of the arguments,
// if RefusedVariable asks for it.
func BecomeRefused() {
	if os.Getenv(RefusedVariable) == "" {
		return
	}
	os.Unsetenv(RefusedVariable)
	runtime.LockOSThread() // the filter is this thread's
	err := refuseSight()
	if err == nil {
		err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
	}
	fmt.Fprintln(os.Stderr, "without sight:", err)
	os.Exit(99)
}

// refuseSight answers perf_event_open and bpf with EACCES, for this process and
// all that it starts, as a kernel with perf_event_paranoid 4 does to users.
func refuseSight() error {
	const refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 2, K: unix.SYS_PERF_EVENT_OPEN},
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: 1, K: unix.SYS_BPF},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		{Code: unix.BPF_RET | unix.BPF_K, K: refuse},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("giving up new privileges: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("setting a filter of system calls: %w", err)
	}
	return nil
}
