// Package files writes files that appear whole or not at all, and figures into them.
package files

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"

	"stackagent/shadow/store"
)

// Write lets f write to out, if path is empty or "-", or to a file that appears whole or not at all. What is no regular
// file (a device, a pipe) is written to as it is, and a link to a file stays one.
func Write(out io.Writer, path string, f func(io.Writer) error) error {
	if path == "" || path == "-" {
		w := bufio.NewWriterSize(out, 1<<16)
		if err := f(w); err != nil {
			return err
		}
		if err := w.Flush(); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
		return nil
	}
	if info, err := os.Stat(path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("writing %s: it is a folder; name a file", path)
		case !info.Mode().IsRegular():
			return writeThrough(path, f)
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return failed(path, err)
		}
	}
	if ofSession(path) {
		return fmt.Errorf("writing %s: this file is part of the session in %s; choose another file", path, filepath.Dir(path))
	}
	tmp, err := Aside(path)
	if err != nil {
		return failed(path, err)
	}
	defer drop(tmp.Name()) // gone already if all went well
	if err := fill(tmp, path, f); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), path); err != nil {
		return failed(path, err)
	}
	return nil
}

// writeThrough writes to a device or a pipe.
func writeThrough(path string, f func(io.Writer) error) error {
	to, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return failed(path, err)
	}
	return fill(to, path, f)
}

// fill lets f write to a file that stands for path, and closes it.
func fill(to io.WriteCloser, path string, f func(io.Writer) error) error {
	defer to.Close()
	w := bufio.NewWriterSize(to, 1<<16)
	if err := f(w); err != nil {
		return err
	}
	if err := errors.Join(w.Flush(), to.Close()); err != nil {
		return failed(path, err)
	}
	return nil
}

// ofSession reports whether a file is one of those that make a session. Others may lie beside them: a report, a figure.
func ofSession(path string) bool {
	m, err := store.ReadManifest(filepath.Dir(path))
	if err != nil {
		return false
	}
	name := filepath.Base(path)
	_, listed := m.Files[name]
	return listed || name == store.ManifestName
}

// Check reports, before the work, whether the folder of a file is missing.
func Check(path string) error {
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return failed(path, err)
	}
	return nil
}

// failed says why the file at path could not be written, and what to do. It does not name the temporary file, of which
// the user knows nothing.
func failed(path string, err error) error {
	var of *fs.PathError
	var to *os.LinkError
	switch {
	case errors.As(err, &of):
		err = of.Err
	case errors.As(err, &to):
		err = to.Err
	}
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("writing %s: there is no folder %s (%w); make it, or choose another file", path, dir, err)
	case errors.Is(err, unix.ENOTDIR):
		return fmt.Errorf("writing %s: %s is not a folder (%w); choose another file", path, dir, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fmt.Errorf("writing %s: %s cannot be written to (%w); choose another file", path, dir, err)
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		return fmt.Errorf("writing %s: %w; make space, or choose another file", path, err)
	}
	return fmt.Errorf("writing %s: %w", path, err)
}

// aside are the files that are not finished.
var aside struct {
	mu    sync.Mutex
	names map[string]bool
}

// Discard removes the files that are not finished, for a process that ends without going back through their writers.
// None is made or renamed after that.
func Discard() {
	aside.mu.Lock() // for ever
	for name := range aside.names {
		_ = os.Remove(name)
	}
}

// drop removes a file of Aside that was not renamed.
func drop(name string) {
	_ = os.Remove(name)
	aside.mu.Lock()
	defer aside.mu.Unlock()
	delete(aside.names, name)
}

// Aside creates a file beside path with the permissions that its user gives to new files (os.CreateTemp
// gives others none). In a session's folder it is as private as the session.
func Aside(path string) (*os.File, error) {
	dir, base := filepath.Split(path)
	mode := fs.FileMode(0o666)
	if _, err := os.Lstat(filepath.Join(dir, store.ManifestName)); err == nil {
		mode = 0o600
	}
	for range 100 { // a name is hardly ever taken
		name := dir + "." + base + "." + rand.Text()
		f, err := create(name, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
	return nil, fs.ErrExist
}

func create(name string, mode fs.FileMode) (*os.File, error) {
	aside.mu.Lock()
	defer aside.mu.Unlock()
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err == nil {
		if aside.names == nil {
			aside.names = map[string]bool{}
		}
		aside.names[name] = true
	}
	return f, err
}
