package sched

import "golang.org/x/sys/unix"

// blockingCalls are the system calls in which threads wait, by what for. They
// are those that every architecture has; each file of one adds its own.
var blockingCalls = map[int32]State{
	unix.SYS_FUTEX: Futex, unix.SYS_FUTEX_WAITV: Futex, unix.SYS_FUTEX_WAIT: Futex, unix.SYS_FUTEX_REQUEUE: Futex,
	unix.SYS_NANOSLEEP: Sleeping, unix.SYS_CLOCK_NANOSLEEP: Sleeping,

	unix.SYS_READ: IO, unix.SYS_WRITE: IO, unix.SYS_READV: IO, unix.SYS_WRITEV: IO,
	unix.SYS_PREAD64: IO, unix.SYS_PWRITE64: IO, unix.SYS_PREADV: IO, unix.SYS_PWRITEV: IO, unix.SYS_PREADV2: IO, unix.SYS_PWRITEV2: IO,
	unix.SYS_PPOLL: IO, unix.SYS_PSELECT6: IO, unix.SYS_EPOLL_PWAIT: IO, unix.SYS_EPOLL_PWAIT2: IO,
	unix.SYS_ACCEPT: IO, unix.SYS_ACCEPT4: IO, unix.SYS_CONNECT: IO,
	unix.SYS_RECVFROM: IO, unix.SYS_RECVMSG: IO, unix.SYS_RECVMMSG: IO, unix.SYS_SENDTO: IO, unix.SYS_SENDMSG: IO, unix.SYS_SENDMMSG: IO,
	unix.SYS_FSYNC: IO, unix.SYS_FDATASYNC: IO, unix.SYS_SYNC_FILE_RANGE: IO, unix.SYS_MSYNC: IO, unix.SYS_FLOCK: IO, unix.SYS_FCNTL: IO,
	unix.SYS_OPENAT: IO, unix.SYS_CLOSE: IO, unix.SYS_GETDENTS64: IO, unix.SYS_SENDFILE: IO, unix.SYS_SPLICE: IO, unix.SYS_COPY_FILE_RANGE: IO,
	unix.SYS_IO_GETEVENTS: IO, unix.SYS_IO_PGETEVENTS: IO, unix.SYS_IO_URING_ENTER: IO,
}

// endsFutexWait: a thread that exits wakes the one that waits for it, and a signal ends any wait.
func endsFutexWait(call int32) bool {
	return blockingCalls[call] == Futex || call == unix.SYS_EXIT || call == unix.SYS_TGKILL
}

// waker says who ended a wait. An interrupt (a time limit, a device) ends a wait in the name of the thread that it
// stopped: that thread ended it only if it is in a system call, and for a futex in one that can end such a wait.
// An interrupt in such a call is rare.
func (b *builder) waker(s State, limited bool, c onCPU) Waker {
	// The end of the process ends no wait: what the thread waited for did not happen.
	switch {
	case c.known && c.call == unix.SYS_EXIT_GROUP && c.pid == int32(b.pid) && s == Futex && limited:
		return CutLimited
	case c.known && c.call == unix.SYS_EXIT_GROUP && c.pid == int32(b.pid):
		return Cut
	case !c.known || c.call == unix.SYS_EXIT_GROUP && s != Futex || c.call == unix.SYS_KILL:
		return NoWaker
	}
	if c.call < 0 || c.pid != int32(b.pid) || s == Futex && !endsFutexWait(c.call) || s == Sleeping && c.call != unix.SYS_TGKILL {
		return Outside
	}
	if t := b.threads[c.tid]; t != nil {
		return WakerThread(t.index)
	}
	return NoWaker
}
