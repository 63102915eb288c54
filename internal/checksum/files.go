package checksum

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"stackagent/internal/sessionfs"
)

// TmpPrefix begins the names of files that are being written.
const TmpPrefix = ".tmp-"

// Replace writes a temporary file and renames it to dir/name, so that a reader never sees half a file. It returns the
// checksum.
func Replace(dir, name string, fill func(io.Writer) error) (sum File, err error) {
	tmp := filepath.Join(dir, TmpPrefix+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return sum, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
		}
	}()
	w := NewWriter(f)
	if err := fill(w); err != nil {
		return sum, err
	}
	if err := f.Close(); err != nil {
		return sum, err
	}
	return w.File(), os.Rename(tmp, filepath.Join(dir, name))
}

// OpenRegular opens a regular file for reading. If path is something else, or larger than most bytes, the error is also odd.
func OpenRegular(path string, most int64, odd error) (sessionfs.File, int64, error) {
	f, err := sessionfs.Open(path)
	if errors.Is(err, sessionfs.ErrNotRegular) {
		return nil, 0, fmt.Errorf("%w: %w", err, odd)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case info.Size() > most:
		err = fmt.Errorf("%s has %d bytes, at most %d are read: %w", path, info.Size(), most, odd)
	default:
		return f, info.Size(), nil
	}
	_ = f.Close()
	return nil, 0, err
}

// Missing reports whether an error is that there is no such file.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }
