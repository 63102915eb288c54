package sched

import "golang.org/x/sys/unix"

func init() {
	for _, n := range []int32{unix.SYS_OPEN, unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_POLL, unix.SYS_SELECT, unix.SYS_EPOLL_WAIT, unix.SYS_UNLINK, unix.SYS_RENAME} {
		blockingCalls[n] = IO
	}
	blockingCalls[unix.SYS_PAUSE] = Blocked
}
