// Package sessionfs opens the files of sessions for those that read them. A path that begins with "s3:/", which is what
// filepath.Join makes of an address s3://bucket/prefix, is looked for in the object store that is mounted there; every
// other path is on the disk.
package sessionfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// remoteRoot begins the paths that are not on the disk.
const remoteRoot = "s3:/"

// SmallBytes is up to which size a file in an object store is read whole to compare its checksum. Of larger ones that
// would cost more than the answer to most questions.
const SmallBytes = 256 << 10

// ErrNotRegular is what is no regular file: a link could lead out of a session, and a pipe would never answer.
var ErrNotRegular = errors.New("a link, a pipe or a folder stands where a file of a session should be")

// ErrUnreachable is a file that an object store has and does not give: the file is not damaged.
var ErrUnreachable = errors.New("the object store cannot be read")

// File is an open file.
type File interface {
	io.Reader
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

var (
	mu     sync.RWMutex
	mounts = map[string]fs.FS{}
)

// Mount makes what is below a remote path that of fsys, whose files have to be Files. Mounts within mounts are not looked for.
func Mount(path string, fsys fs.FS) {
	mu.Lock()
	defer mu.Unlock()
	mounts[filepath.Clean(path)] = fsys
}

// Remote says whether a path is one of an object store.
func Remote(path string) bool { return strings.HasPrefix(path, remoteRoot) }

// Whole says whether a file of that size is read whole to compare its checksum.
func Whole(path string, bytes int64) bool { return !Remote(path) || bytes <= SmallBytes }

// find gives the file system of a remote path and the name there.
func find(path string) (fsys fs.FS, name string, err error) {
	path = filepath.Clean(path)
	mu.RLock()
	defer mu.RUnlock()
	for at := path; Remote(at); at = filepath.Dir(at) {
		if fsys = mounts[at]; fsys != nil {
			name, err = filepath.Rel(at, path)
			return fsys, name, err
		}
	}
	return nil, "", fmt.Errorf("%s: no object store is open there", path)
}

// Open opens a regular file for reading.
func Open(path string) (File, error) {
	if Remote(path) {
		return openRemote(path)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ELOOP) {
		return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
	}
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, errors.Join(fmt.Errorf("%s: %w", path, ErrNotRegular), err)
	}
	return f, nil
}

func openRemote(path string) (File, error) {
	fsys, name, err := find(path)
	if err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	if file, ok := f.(File); ok {
		return file, nil
	}
	_ = f.Close()
	return nil, fmt.Errorf("%s: %w", path, ErrNotRegular)
}

// Lstat describes a file or folder, and does not follow a link.
func Lstat(path string) (fs.FileInfo, error) { return describe(path, os.Lstat) }

// Stat describes a file or folder.
func Stat(path string) (fs.FileInfo, error) { return describe(path, os.Stat) }

func describe(path string, onDisk func(string) (fs.FileInfo, error)) (fs.FileInfo, error) {
	if !Remote(path) {
		return onDisk(path)
	}
	fsys, name, err := find(path)
	if err != nil {
		return nil, err
	}
	return fs.Stat(fsys, name)
}

// ReadDir lists a folder in the order of names.
func ReadDir(path string) ([]fs.DirEntry, error) {
	if !Remote(path) {
		return os.ReadDir(path)
	}
	fsys, name, err := find(path)
	if err != nil {
		return nil, err
	}
	return fs.ReadDir(fsys, name)
}

// ReadFile reads a whole file, which a user may have put there as a link.
func ReadFile(path string) ([]byte, error) {
	if !Remote(path) {
		return os.ReadFile(path)
	}
	f, err := openRemote(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(f)
}
