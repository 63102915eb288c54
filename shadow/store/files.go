package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// tmpPrefix marks files being written; a reader ignores them and the next
// writer of the session removes them.
const tmpPrefix = ".tmp-"

// ErrDiskFull is a write that failed because the disk or the quota is full.
// What is stored stays readable; writing again works once there is space.
var ErrDiskFull = errors.New("the disk is full; make space, the shadow goes on by itself")

// writeAside is replace, and syncs the folder.
func writeAside(dir, name string, fill func(io.Writer) error) error {
	if err := replace(dir, name, fill); err != nil {
		return err
	}
	return syncDir(dir)
}

// replace writes dir/name through a temporary file, synced and renamed, so
// that no reader ever sees a part of it. The name lasts when the folder is synced.
func replace(dir, name string, fill func(io.Writer) error) (err error) {
	tmp := filepath.Join(dir, tmpPrefix+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return explain("creating", tmp, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
		}
	}()
	w := bufio.NewWriterSize(f, 256<<10)
	if err := fill(w); err != nil {
		return explain("writing", tmp, err)
	}
	if err := w.Flush(); err != nil {
		return explain("writing", tmp, err)
	}
	if err := f.Sync(); err != nil {
		return explain("syncing", tmp, err)
	}
	if err := f.Close(); err != nil {
		return explain("closing", tmp, err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return explain("renaming", tmp, err)
	}
	return nil
}

// syncDir makes the names in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return explain("syncing", dir, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return explain("syncing", dir, err)
	}
	return nil
}

func explain(doing, path string, err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s %s: %w (%w)", doing, path, ErrDiskFull, err)
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}
