package launch

import (
	"errors"

	"golang.org/x/sys/unix"
)

// awaitEnd returns when the command has ended, and leaves it to be waited for.
func (p *Process) awaitEnd() {
	for {
		err := unix.Waitid(unix.P_PID, p.PID(), nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return // or it cannot be asked, and the caller waits
		}
	}
}
