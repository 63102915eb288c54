package attach

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// A Place is a private folder in the process's file system, for files that it
// has to read.
type Place struct {
	Outside string // path of the folder as we see it
	Inside  string // the same as the process sees it
	process *Process
}

// Place makes a folder in the process's /tmp that only its user may enter.
func (p *Process) Place() (*Place, error) {
	dir, err := os.MkdirTemp(filepath.Join(p.Root, "tmp"), "stackagent-") // mode 0700
	if err != nil {
		return nil, p.forbidden(fmt.Errorf("making a folder in its /tmp: %w", err))
	}
	f := &Place{Outside: dir, Inside: filepath.Join("/tmp", filepath.Base(dir)), process: p}
	if err := f.give(dir); err != nil {
		return nil, errors.Join(err, f.Remove())
	}
	return f, nil
}

// give hands a file over to the process's user.
func (f *Place) give(path string) error {
	if f.process.UID == os.Geteuid() && f.process.GID == os.Getegid() {
		return nil
	}
	if err := os.Lchown(path, f.process.UID, f.process.GID); err != nil {
		return f.process.forbidden(fmt.Errorf("giving it a file: %w", err))
	}
	return nil
}

// Write makes a file that only the process's user may read; it returns the path
// as the process sees it.
func (f *Place) Write(name string, content io.Reader, mode fs.FileMode) (string, error) {
	path := filepath.Join(f.Outside, name)
	out, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return "", fmt.Errorf("making a file for process %d: %w", f.process.PID, err)
	}
	_, err = io.Copy(out, content)
	if err = errors.Join(err, out.Close()); err == nil {
		err = f.give(path)
	}
	if err != nil {
		return "", fmt.Errorf("making a file for process %d: %w", f.process.PID, err)
	}
	return filepath.Join(f.Inside, name), nil
}

// Copy makes a copy of a file that the process may read and execute.
func (f *Place) Copy(path string) (string, error) {
	in, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("copying for process %d: %w", f.process.PID, err)
	}
	defer in.Close()
	return f.Write(filepath.Base(path), in, 0o500)
}

// Remove takes the folder away with all that is in it.
func (f *Place) Remove() error { return os.RemoveAll(f.Outside) }

// CanRead tells whether the process can surely read the file at path by the
// same path: it sees our files, and its user may. For another user than ours
// the modes of the file and of all folders above it must allow everybody.
func (p *Process) CanRead(path string) bool {
	if !p.SharesFiles() {
		return false
	}
	if p.UID == os.Geteuid() || p.UID == 0 {
		return true
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o004 == 0 {
		return false
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
