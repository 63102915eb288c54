package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Bounds of a folder over all JVMs: agents that never find a bus must not fill the
// disk.
const (
	// MaxAge is how long an undelivered file is kept.
	MaxAge = 7 * 24 * time.Hour
	// MaxFolderBytes is the size above which no file is added.
	MaxFolderBytes = 1 << 30
)

// ErrFolderFull is returned if a folder already holds MaxFolderBytes.
var ErrFolderFull = errors.New("the folder of spool files is full; deliver them with `shadow deliver`, or delete them")

// DefaultFolder is where this user's agents keep their files unless configured
// otherwise.
func DefaultFolder() string {
	return filepath.Join(os.TempDir(), "stackagent-spool-"+strconv.Itoa(os.Getuid()))
}

// Prepare makes the folder, private to this user, or checks an existing one: under a
// known name where everybody may write, it could be somebody else's. It deletes files
// older than MaxAge.
func Prepare(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("folder for spool files: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("folder for spool files: %w", err)
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("folder for spool files: %w", err)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.IsDir():
		return fmt.Errorf("folder for spool files: %s is no folder; choose another with spool=", dir)
	case !ok || int(st.Uid) != os.Geteuid():
		return fmt.Errorf("folder for spool files: %s belongs to another user; choose another with spool=", dir)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("folder for spool files: others may enter %s (mode %v); chmod 700, or choose another with spool=", dir, info.Mode().Perm())
	}
	return tidy(dir)
}

// tidy deletes what is too old and reports whether there is room for more.
func tidy(dir string) error {
	bytes := int64(0)
	for _, path := range append(Files(dir), Kept(dir)...) {
		info, err := os.Lstat(path)
		if err != nil {
			continue // another process has just delivered it
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			continue
		}
		if time.Since(info.ModTime()) > MaxAge {
			if l, err := Open(path); err == nil {
				_ = l.Remove()
				continue
			}
			if info.Size() == 0 || strings.HasSuffix(path, KeptSuffix) { // its JVM was killed at once
				_ = os.Remove(path)
			}
		}
		bytes += st.Blocks * 512
	}
	if bytes >= MaxFolderBytes {
		return fmt.Errorf("%s: %w", dir, ErrFolderFull)
	}
	return nil
}

// Files lists the spool files of a folder; none if it cannot be read.
func Files(dir string) []string { return list(dir, Suffix) }

// Kept lists the files that were set aside, see Left.Keep.
func Kept(dir string) []string { return list(dir, Suffix+KeptSuffix) }

func list(dir, suffix string) []string {
	entries, _ := os.ReadDir(dir)
	var paths []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths
}
