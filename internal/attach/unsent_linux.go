package attach

import "golang.org/x/sys/unix"

// unsent is how many bytes the other end of a socket has not read yet.
func unsent(fd uintptr) (int, error) { return unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) }
