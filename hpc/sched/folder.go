package sched

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"stackagent/internal/seal"
)

// Folder is the folder of the scheduling record inside a session's folder.
const Folder = "sched"

// Version is the version of the record's files that this package writes and reads.
const Version = 3

const (
	headName      = "record.json"
	slicesPrefix  = "slices-"
	threadsPrefix = "threads-"
	gcPrefix      = "gc-"
	suffix        = ".parquet"
	digits        = 8
	tmpPrefix     = ".tmp-"
)

// Limits on what a record's files may hold.
const (
	maxHeadBytes = 64 << 20 // with the checksums of the parts
	maxPartBytes = 256 << 20
	maxPartRows  = 8 << 20 // slices of a part
	maxThreads   = 16 << 20
	maxGC        = 16 << 20 // samples of the collectors in all
	maxParts     = 1 << 20
)

// Errors of reading a record.
var (
	ErrVersion = errors.New("written by a newer shadow; use that one to read it")
	ErrDamaged = errors.New("the scheduling record is damaged")
)

func partName(prefix string, seq int) string {
	return fmt.Sprintf("%s%0*d%s", prefix, digits, seq, suffix)
}

// parsePart is the inverse of partName.
func parsePart(prefix, name string) (seq int, ok bool) {
	text, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	if text, ok = strings.CutSuffix(text, suffix); !ok || len(text) != digits {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err == nil
}

// replace writes a temporary file and renames it to dir/name, so that a reader never sees half a file. It returns the
// checksum.
func replace(dir, name string, fill func(io.Writer) error) (sum seal.File, err error) {
	tmp := filepath.Join(dir, tmpPrefix+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return sum, fmt.Errorf("writing the scheduling record: %w", err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
			err = fmt.Errorf("writing the scheduling record: %w", err)
		}
	}()
	w := seal.NewWriter(f)
	if err := fill(w); err != nil {
		return sum, err
	}
	if err := f.Close(); err != nil {
		return sum, err
	}
	return w.File(), os.Rename(tmp, filepath.Join(dir, name))
}

// openRegular opens a regular file for reading: a link could lead out of the record,
// and a pipe would never answer.
func openRegular(path string, most int64) (*os.File, int64, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = fmt.Errorf("%s is no file (%s): %w", path, info.Mode().Type(), ErrDamaged)
	case info.Size() > most:
		err = fmt.Errorf("%s has %d bytes, at most %d are read: %w", path, info.Size(), most, ErrDamaged)
	default:
		return f, info.Size(), nil
	}
	f.Close()
	return nil, 0, err
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) }
