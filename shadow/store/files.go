package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"stackagent/internal/seal"
)

// tmpPrefix marks files being written; a reader ignores them and the next
// writer of the session removes them.
const tmpPrefix = ".tmp-"

// ErrDiskFull is a write that failed because the disk or the quota is full.
// What is stored stays readable; writing again works once there is space.
var ErrDiskFull = errors.New("the disk is full; make space, the shadow goes on by itself")

// writeAside is replace, and syncs the folder.
func writeAside(dir, name string, fill func(io.Writer) error) error {
	if _, err := replace(dir, name, fill); err != nil {
		return err
	}
	return syncDir(dir)
}

// replace writes dir/name through a temporary file, synced and renamed, so
// that no reader ever sees a part of it, and gives its checksum. The name lasts when the folder is synced.
func replace(dir, name string, fill func(io.Writer) error) (sum seal.File, err error) {
	tmp := filepath.Join(dir, tmpPrefix+name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return sum, explain("creating", tmp, err)
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
		}
	}()
	hashed := seal.NewWriter(f)
	w := bufio.NewWriterSize(hashed, 256<<10)
	if err := fill(w); err != nil {
		return sum, explain("writing", tmp, err)
	}
	if err := w.Flush(); err != nil {
		return sum, explain("writing", tmp, err)
	}
	if err := f.Sync(); err != nil {
		return sum, explain("syncing", tmp, err)
	}
	if err := f.Close(); err != nil {
		return sum, explain("closing", tmp, err)
	}
	if err := os.Rename(tmp, filepath.Join(dir, name)); err != nil {
		return sum, explain("renaming", tmp, err)
	}
	return hashed.File(), nil
}

// openRegular opens a file of a session for reading. A link could lead to what
// is no part of the session, and a pipe would never answer.
func openRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: %w", path, errNotRegular)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(fmt.Errorf("%s: %w", path, errNotRegular), err)
	}
	return f, nil
}

var errNotRegular = errors.New("a link, a pipe or a folder stands where a file of a session should be")

// checkNoLink refuses a folder that is a link: what is stored would go elsewhere.
func checkNoLink(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain("looking at", dir, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder of its own (%s); remove it or choose another session name", dir, info.Mode().Type())
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
