package attach

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A Place is a private folder in the process's file system, for files that it
// has to read. We are often root and the process anybody's, so no file is reached by
// a path that the process could redirect to a file of ours.
type Place struct {
	Inside  string   // path of the folder as the process sees it
	tmp     *os.Root // its /tmp
	dir     *os.Root // the folder in it
	process *Process
}

// Place makes a folder in the process's /tmp that only its user may enter.
func (p *Process) Place() (*Place, error) {
	tmp, err := p.tmp()
	if err != nil {
		return nil, p.forbidden(fmt.Errorf("entering its /tmp: %w", err))
	}
	f := &Place{tmp: tmp, process: p}
	name := "stackagent-" + rand.Text()
	if err := tmp.Mkdir(name, 0o700); err != nil {
		return nil, p.noPlace(errors.Join(fmt.Errorf("making a folder in its /tmp: %w", err), tmp.Close()))
	}
	f.Inside = filepath.Join("/tmp", name)
	if f.dir, err = tmp.OpenRoot(name); err == nil {
		err = f.giveFolder()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a folder for process %d: %w", p.PID, err), f.Remove())
	}
	return f, nil
}

// noPlace explains why no folder can be made there. A JVM whose /tmp is not writable
// cannot be attached to: its attach socket lies there.
func (p *Process) noPlace(err error) error {
	if errors.Is(err, unix.EROFS) || errors.Is(err, unix.ENOSPC) {
		return &Error{PID: p.PID, Reason: "its /tmp cannot be written, where a JVM that is attached to has its socket", Err: err,
			Remedy: "give it one that can be (a tmpfs), or start it with the agent"}
	}
	return p.forbidden(err)
}

// tmp opens the process's /tmp, and no folder outside of its file system.
func (p *Process) tmp() (*os.Root, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot("tmp")
}

func (f *Place) giveFolder() error {
	dir, err := f.dir.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return f.give(dir)
}

// give makes the process's user the owner of an open file.
func (f *Place) give(file *os.File) error {
	if f.process.UID == os.Geteuid() && f.process.GID == os.Getegid() {
		return nil
	}
	if err := file.Chown(f.process.UID, f.process.GID); err != nil {
		return f.process.forbidden(fmt.Errorf("giving it a file: %w", err))
	}
	return nil
}

// Write makes a file that only the process's user may read; it returns the path
// as the process sees it.
func (f *Place) Write(name string, content io.Reader, mode fs.FileMode) (string, error) {
	out, err := f.dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return "", fmt.Errorf("making a file for process %d: %w", f.process.PID, err)
	}
	_, err = io.Copy(out, content)
	if err == nil {
		err = f.give(out)
	}
	if err = errors.Join(err, out.Close()); err != nil {
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

// Remove removes the folder with its content.
func (f *Place) Remove() error {
	err := f.tmp.RemoveAll(filepath.Base(f.Inside))
	if f.dir != nil {
		err = errors.Join(err, f.dir.Close())
	}
	return errors.Join(err, f.tmp.Close())
}

// CanRead reports whether the process can surely read the file at path by the
// same path: it sees our files, and its user has the rights. For another user the
// modes of the file and of all folders above it must allow everybody.
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
