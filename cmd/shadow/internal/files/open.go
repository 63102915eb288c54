package files

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OpenPlain opens a file that is none of ours, and nothing that could keep the reader waiting.
func OpenPlain(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // opening a pipe waits for who writes to it
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.IsDir():
		err = fmt.Errorf("%s is a folder; name the files in it", path)
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is not a regular file (%s); write its content to one first", path, info.Mode().Type())
	default:
		return f, nil
	}
	f.Close()
	return nil, err
}
