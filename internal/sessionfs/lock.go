package sessionfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Flock locks an open file as flock(2)'s how says. Signals, which the Go runtime sends itself, do not end the wait.
func Flock(f *os.File, how int) error {
	for {
		err := unix.Flock(int(f.Fd()), how)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
