package spool

import (
	"os"

	"golang.org/x/sys/unix"
)

// punch gives the space of n bytes from an offset back; the file keeps its length.
func punch(f *os.File, from, n int64) error {
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, n)
}
