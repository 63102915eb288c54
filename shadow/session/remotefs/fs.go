// Package remotefs reads sessions where they are stored, in an object store, without copying them: it makes of a store a
// file system whose files are read by ranges.
package remotefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"stackagent/internal/sessionfs"
	"stackagent/shadow/store/objectstore"
)

const (
	// listedFor is how long a listing of a folder is believed: a session that is stored does not change.
	listedFor = time.Minute
	// mostListed bounds what a listing of a folder holds, and all of them together.
	mostListed = 100_000
)

// FS is an object store as a file system to read from.
type FS struct {
	ctx   context.Context
	store objectstore.Store
	cache *cache

	mu     sync.Mutex
	listed map[string]listing // by folder
	held   int                // names in them
}

// listing is what a folder holds, by name.
type listing struct {
	at      time.Time
	entries map[string]info
}

// New makes a file system of a store. Reading ends with ctx.
func New(ctx context.Context, store objectstore.Store) *FS {
	return &FS{ctx: ctx, store: store, cache: newCache(ctx, store), listed: map[string]listing{}}
}

// info describes an object or what is a folder because objects are below it.
type info struct {
	name   string
	bytes  int64
	at     time.Time
	folder bool
}

func (i info) Name() string               { return i.name }
func (i info) Size() int64                { return i.bytes }
func (i info) ModTime() time.Time         { return i.at }
func (i info) IsDir() bool                { return i.folder }
func (i info) Sys() any                   { return nil }
func (i info) Type() fs.FileMode          { return i.Mode().Type() }
func (i info) Info() (fs.FileInfo, error) { return i, nil }

func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o500
	}
	return 0o400
}

// String describes an entry as other file systems do.
func (i info) String() string { return fs.FormatDirEntry(i) }

// list gives what is directly in a folder. One request tells what is in it and in the folders below.
func (f *FS) list(folder string) (map[string]info, error) {
	if entries, ok := f.known(folder); ok {
		return entries, nil
	}
	prefix := folder + "/"
	if folder == "." {
		prefix = ""
	}
	found, n := map[string]listing{folder: newListing()}, 0
	for o, err := range f.store.List(f.ctx, prefix) {
		if err != nil {
			return nil, err
		}
		if n++; n > mostListed {
			return nil, fmt.Errorf("%s/%s holds more than %d objects: give a session's folder", f.store, folder, mostListed)
		}
		in := path.Dir(o.Key)
		if _, ok := found[in]; !ok {
			n += addFolders(found, folder, in, o.Modified)
		}
		found[in].entries[path.Base(o.Key)] = info{name: path.Base(o.Key), bytes: o.Bytes, at: o.Modified}
	}
	f.keep(found, n)
	return found[folder].entries, nil
}

func newListing() listing { return listing{at: time.Now(), entries: map[string]info{}} }

// addFolders makes the listings of a folder below root and of those between, and says how many.
func addFolders(found map[string]listing, root, folder string, at time.Time) (n int) {
	for folder != root {
		if _, ok := found[folder]; !ok {
			found[folder] = newListing()
			n++
		}
		above := path.Dir(folder)
		if _, ok := found[above]; !ok {
			found[above] = newListing()
			n++
		}
		found[above].entries[path.Base(folder)] = info{name: path.Base(folder), at: at, folder: true}
		folder = above
	}
	return n
}

// known is what is remembered of a folder: its listing, or that it was not in one from further up.
func (f *FS) known(folder string) (map[string]info, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for at := folder; ; at = path.Dir(at) {
		if l, ok := f.listed[at]; ok && time.Since(l.at) < listedFor {
			if at == folder {
				return l.entries, true
			}
			return nil, true
		}
		if at == "." {
			return nil, false
		}
	}
}

func (f *FS) keep(found map[string]listing, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.held += n + 1; f.held > mostListed {
		clear(f.listed)
		f.held = n + 1
	}
	maps.Copy(f.listed, found)
}

// find describes a file or folder. What is in a folder that was listed costs no request.
func (f *FS) find(name string) (info, error) {
	if name == "." {
		return info{name: name, folder: true}, nil
	}
	entries, err := f.list(path.Dir(name))
	if err != nil {
		return info{}, err
	}
	i, ok := entries[path.Base(name)]
	if !ok {
		return info{}, fs.ErrNotExist
	}
	return i, nil
}

// look is find for what is rather a folder: beside a session there may be thousands of others, so these are not listed.
func (f *FS) look(name string) (info, error) {
	if _, ok := f.known(path.Dir(name)); ok || name == "." {
		return f.find(name)
	}
	entries, err := f.list(name)
	if err != nil {
		return info{}, err
	}
	if len(entries) > 0 {
		return info{name: path.Base(name), folder: true}, nil
	}
	body, o, err := f.store.GetRange(f.ctx, name, 0, 0)
	if err != nil {
		return info{}, err
	}
	_ = body.Close()
	return info{name: path.Base(name), bytes: o.Bytes, at: o.Modified}, nil
}

// failed makes an error as file systems do.
func failed(op, name string, err error) error {
	switch {
	case errors.Is(err, objectstore.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		err = fs.ErrNotExist
	case !errors.Is(err, fs.ErrInvalid):
		err = fmt.Errorf("%w: %w", sessionfs.ErrUnreachable, err)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

func (f *FS) check(op, name string) error {
	if !fs.ValidPath(name) {
		return failed(op, name, fs.ErrInvalid)
	}
	return nil
}

// Stat describes a file or folder.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	if err := f.check("stat", name); err != nil {
		return nil, err
	}
	i, err := f.look(name)
	if err != nil {
		return nil, failed("stat", name, err)
	}
	return i, nil
}

// ReadDir lists a folder in the order of names. One that holds nothing does not exist.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.check("readdir", name); err != nil {
		return nil, err
	}
	entries, err := f.list(name)
	if err == nil && len(entries) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, failed("readdir", name, err)
	}
	all := make([]fs.DirEntry, 0, len(entries))
	for _, i := range entries {
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Open opens a file. Nothing of it is read yet.
func (f *FS) Open(name string) (fs.File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	i, err := f.find(name)
	if err != nil {
		return nil, failed("open", name, err)
	}
	if i.folder {
		return &folder{info: i, list: func() ([]fs.DirEntry, error) { return f.ReadDir(name) }}, nil
	}
	return &file{info: i, key: name, cache: f.cache}, nil
}

// file is an object that is read by ranges.
type file struct {
	info  info
	key   string
	cache *cache
	at    int64 // for Read
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *file) Close() error               { return nil }

// ReadAt reads through the cache.
func (f *file) ReadAt(p []byte, off int64) (int, error) {
	return f.cache.readAt(f.key, f.info.bytes, p, off)
}

// Read reads in order.
func (f *file) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 && errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

// folder is open to be listed; it cannot be read as a file.
type folder struct {
	info info
	list func() ([]fs.DirEntry, error)
	at   int // entries that were given
}

func (d *folder) Stat() (fs.FileInfo, error) { return d.info, nil }
func (d *folder) Close() error               { return nil }
func (d *folder) Read([]byte) (int, error)   { return 0, failed("read", d.info.name, fs.ErrInvalid) }

// ReadDir gives the next n entries; n <= 0: all that are left.
func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	all, err := d.list()
	if err != nil {
		return nil, err
	}
	rest := all[min(d.at, len(all)):]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 {
		rest = rest[:min(n, len(rest))]
	}
	d.at += len(rest)
	return rest, nil
}
