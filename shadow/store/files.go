package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"stackagent/internal/checksum"
)

// tmpPrefix marks files being written; a reader ignores them and the next
// writer of the session removes them.
const tmpPrefix = ".tmp-"

// ErrDiskFull is a write that failed because the disk or the quota is full.
// What is stored stays readable; writing again works once there is space.
var ErrDiskFull = errors.New("the disk is full; make space, the shadow goes on by itself")

// asides are files of one folder that are written aside and take their names together, so that no reader ever sees a
// part of one. Waiting for the disk costs much more than writing, and the files that follow the first one hardly have to
// wait: their content is on its way already.
type asides struct {
	dir   string
	mark  string // in the names that they have until then, to distinguish them from those of another writer
	files []aside
}

// aside is a file that does not have its name yet.
type aside struct {
	name string
	file *os.File
}

func (a *asides) path(name string) string { return filepath.Join(a.dir, tmpPrefix+a.mark+name) }

// write writes one more and gives its checksum.
func (a *asides) write(name string, fill func(io.Writer) error) (sum checksum.File, err error) {
	tmp := a.path(name)
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return sum, explain("creating", tmp, err)
	}
	a.files = append(a.files, aside{name, f})
	hashed := checksum.NewWriter(f)
	w := fileBuffers.Get().(*bufio.Writer)
	defer func() {
		w.Reset(nil)
		fileBuffers.Put(w)
	}()
	w.Reset(hashed)
	if err := fill(w); err != nil {
		return sum, explain("writing", tmp, err)
	}
	if err := w.Flush(); err != nil {
		return sum, explain("writing", tmp, err)
	}
	startWriteback(f)
	return hashed.File(), nil
}

var fileBuffers = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 256<<10) }}

// sync waits until the content of all of them is on the disk.
func (a *asides) sync() error {
	for i := range a.files {
		x := &a.files[i]
		if x.file == nil {
			continue
		}
		if err := x.file.Sync(); err != nil {
			return explain("syncing", a.path(x.name), err)
		}
		err := x.file.Close()
		x.file = nil
		if err != nil {
			return explain("closing", a.path(x.name), err)
		}
	}
	return nil
}

// rename gives them their names, in the order in which they were written. The names last when the folder is synced.
func (a *asides) rename() error {
	for len(a.files) > 0 {
		x := a.files[0]
		if err := os.Rename(a.path(x.name), filepath.Join(a.dir, x.name)); err != nil {
			return explain("renaming", a.path(x.name), err)
		}
		a.files = a.files[1:]
	}
	return nil
}

// last gives them their names and waits until both content and names last.
func (a *asides) last() error {
	if err := a.sync(); err != nil {
		return err
	}
	if err := a.rename(); err != nil {
		return err
	}
	return syncDir(a.dir)
}

// drop removes those that have no name.
func (a *asides) drop() {
	for _, x := range a.files {
		if x.file != nil {
			x.file.Close()
		}
		os.Remove(a.path(x.name))
	}
	a.files = nil
}

// replace writes dir/name through a temporary file, synced and renamed, and gives its checksum. The name lasts when the
// folder is synced.
func replace(dir, name string, fill func(io.Writer) error) (sum checksum.File, err error) {
	a := asides{dir: dir}
	defer a.drop()
	if sum, err = a.write(name, fill); err != nil {
		return sum, err
	}
	if err := a.sync(); err != nil {
		return sum, err
	}
	return sum, a.rename()
}

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
