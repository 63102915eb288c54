package kernel

import "golang.org/x/sys/unix"

// moreCalls are calls that newer architectures do not have.
var moreCalls = map[string][]int32{
	"poll": {unix.SYS_EPOLL_WAIT, unix.SYS_POLL, unix.SYS_SELECT}, "open": {unix.SYS_OPEN, unix.SYS_CREAT},
	"clone": {unix.SYS_FORK, unix.SYS_VFORK},
}
