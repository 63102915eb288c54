package objectstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Folder is a store in a folder of a file system that has hard links and atomic renames.
type Folder struct {
	root *os.Root
	path string
}

// OpenFolder opens a folder and makes it if it does not exist.
func OpenFolder(dir string) (*Folder, error) {
	dir, err := filepath.Abs(dir) // files beside sessions keep it
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir) // no link below it leads out of it
	if err != nil {
		return nil, err
	}
	return &Folder{root: root, path: dir}, nil
}

// String is the folder's path.
func (f *Folder) String() string { return f.path }

// Put writes beside the object and renames.
func (f *Folder) Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	return f.place(ctx, key, content, size, f.root.Rename)
}

// PutIfAbsent links the written file to its name, which fails if the name exists.
func (f *Folder) PutIfAbsent(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	err := f.place(ctx, key, content, size, f.root.Link)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", key, ErrExists)
	}
	return err
}

// place writes content to the disk and then gives it its name.
func (f *Folder) place(ctx context.Context, key string, content io.ReadSeeker, size int64, name func(from, to string) error) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := f.root.MkdirAll(uploads, 0o700); err != nil {
		return err
	}
	tmp := path.Join(uploads, rand.Text())
	defer func() { _ = f.root.Remove(tmp) }() // after a rename there is none; after a link it is the second name
	if err := f.write(ctx, tmp, content, size); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	for try := 1; ; try++ {
		err := f.root.MkdirAll(path.Dir(key), 0o700)
		if err == nil {
			err = name(tmp, key)
		}
		if errors.Is(err, fs.ErrNotExist) && try < 100 { // somebody deleted the last object of the folder and the folder
			continue
		}
		if err != nil {
			return err
		}
		return f.syncAbove(key)
	}
}

// write makes one file and waits until the disk has it.
func (f *Folder) write(ctx context.Context, tmp string, content io.ReadSeeker, size int64) (err error) {
	if err := checkSize(content, size); err != nil {
		return err
	}
	file, err := f.root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, file.Close()) }()
	n, err := io.Copy(file, io.LimitReader(reader{ctx, content}, size))
	if err != nil {
		return err
	}
	if n != size {
		return fmt.Errorf("has %d bytes, want %d: %w", n, size, io.ErrUnexpectedEOF)
	}
	return file.Sync()
}

// syncAbove makes the new name, and those of folders that may be new, survive a power cut.
func (f *Folder) syncAbove(key string) error {
	for dir := path.Dir(key); ; dir = path.Dir(dir) {
		d, err := f.root.Open(dir)
		if errors.Is(err, fs.ErrNotExist) { // deleted at once
			return nil
		}
		if err != nil {
			return err
		}
		if err := cmp.Or(d.Sync(), d.Close()); err != nil {
			return err
		}
		if dir == "." {
			return nil
		}
	}
}

// GetRange reads a regular file.
func (f *Folder) GetRange(ctx context.Context, key string, offset, n int64) (io.ReadCloser, Object, error) {
	if err := checkRange(key, offset); err != nil {
		return nil, Object{}, err
	}
	// os.Root resolves links itself, inside the root, whatever the flags say; List knows no links either.
	if info, err := f.root.Lstat(key); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return nil, Object{}, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	file, err := f.root.OpenFile(key, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, Object{}, fmt.Errorf("%s: %w", key, ErrNotFound)
	}
	if err != nil {
		return nil, Object{}, err
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s: %w", key, ErrNotFound)
	} else if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", key)
	}
	if err != nil {
		_ = file.Close()
		return nil, Object{}, err
	}
	if n < 0 {
		n = max(0, info.Size()-offset)
	}
	body := struct {
		io.Reader
		io.Closer
	}{reader{ctx, io.NewSectionReader(file, offset, n)}, file}
	return body, describe(key, info), nil
}

func checkRange(key string, offset int64) error {
	if offset < 0 {
		return fmt.Errorf("%s: offset %d", key, offset)
	}
	return CheckKey(key)
}

func describe(key string, info fs.FileInfo) Object {
	return Object{Key: key, Bytes: info.Size(), Modified: info.ModTime()}
}

// Delete removes the file and the folders that are empty then, as an object store has none.
func (f *Folder) Delete(_ context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if info, err := f.root.Lstat(key); err == nil && info.IsDir() {
		return nil // no object
	}
	err := f.root.Remove(key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
		return err
	}
	for dir := path.Dir(key); dir != "."; dir = path.Dir(dir) {
		if f.root.Remove(dir) != nil { // not empty
			return nil
		}
	}
	return nil
}

// List walks the folders, in the order of whole keys: "a.b" is before "a/b".
func (f *Folder) List(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Object{}, err)
			return
		}
		dir, _ := path.Split(prefix)
		if err := f.walk(ctx, strings.TrimSuffix(dir, "/"), prefix, yield); err != nil && !errors.Is(err, errStop) {
			yield(Object{}, err)
		}
	}
}

// errStop ends a walk whose caller wants no more.
var errStop = errors.New("stop")

func (f *Folder) walk(ctx context.Context, dir, prefix string, yield func(Object, error) bool) error {
	entries, err := f.readDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		key := path.Join(dir, e.Name())
		switch {
		case CheckKey(key) != nil: // nothing of ours
		case e.IsDir() && (strings.HasPrefix(key+"/", prefix) || strings.HasPrefix(prefix, key+"/")):
			if err := f.walk(ctx, key, prefix, yield); err != nil {
				return err
			}
		case e.Type().IsRegular() && strings.HasPrefix(key, prefix):
			info, err := e.Info()
			if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile
				continue
			}
			if err != nil {
				return err
			}
			if !yield(describe(key, info), nil) {
				return errStop
			}
		}
	}
	return nil
}

// readDir gives a folder's entries in the order in which keys below them come.
func (f *Folder) readDir(dir string) ([]fs.DirEntry, error) {
	d, err := f.root.Open(cmp.Or(dir, "."))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = d.Close() }()
	entries, err := d.ReadDir(-1)
	if errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	name := func(e fs.DirEntry) string {
		if e.IsDir() {
			return e.Name() + "/"
		}
		return e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(name(a), name(b)) })
	return entries, err
}

// CleanUploads removes what writers that died left behind more than age ago, and says how many.
func (f *Folder) CleanUploads(ctx context.Context, _ string, age time.Duration) (int, error) {
	entries, err := f.readDir(uploads)
	if err != nil {
		return 0, err
	}
	removed := 0
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < age {
			continue
		}
		if err := f.root.Remove(path.Join(uploads, e.Name())); err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return removed, err
		}
	}
	return removed, nil
}

// reader stops when its context ends.
type reader struct {
	ctx  context.Context
	from io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(p)
}
