package remotefs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"time"

	"stackagent/shadow/session/catalog"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

const (
	// parallel bounds the requests of a listing or a deletion at one time.
	parallel = 16
	// maxManifest bounds what is read of a manifest to list its session.
	maxManifest = 16 << 20
	// silence is how long the manifest of a session that goes on may be old: a shadow stores it every few minutes.
	silence = 15 * time.Minute
	// Unfinished is how old the files of a session without a manifest have to be before they can be deleted: its upload
	// may go on.
	Unfinished = 24 * time.Hour
)

// stored is a session in a store, by its files.
type stored struct {
	key             string // of its folder
	manifest, label objectstore.Object
}

// at splits an address or path into the store of its bucket and the key there, "" for the whole bucket.
func at(ctx context.Context, address string) (s objectstore.Store, key string, err error) {
	dir, s, err := open(ctx, address)
	if err != nil {
		return nil, "", err
	}
	_, key, _ = strings.Cut(strings.TrimPrefix(dir, "s3:/"), "/")
	return s, key, nil
}

func below(key string) string {
	if key == "" {
		return ""
	}
	return key + "/"
}

// sessions finds the visible sessions below a key: those that have a manifest.
func sessions(ctx context.Context, s objectstore.Store, key string, use func(stored) error) error {
	var now stored // keys come in order, so those of a session are together
	done := func() error {
		if now.manifest.Key == "" {
			return nil
		}
		return use(now)
	}
	for o, err := range s.List(ctx, below(key)) {
		if err != nil {
			return err
		}
		dir, name := path.Split(o.Key)
		if name != store.ManifestName && name != catalog.LabelName {
			continue
		}
		if dir = strings.TrimSuffix(dir, "/"); dir != now.key {
			if err := done(); err != nil {
				return err
			}
			now = stored{key: dir}
		}
		if name == store.ManifestName {
			now.manifest = o
		} else {
			now.label = o
		}
	}
	return done()
}

// Dirs are the addresses of the visible sessions at an address and below, at most so many.
func Dirs(ctx context.Context, address string, most int) ([]string, error) {
	s, key, err := at(ctx, address)
	if err != nil {
		return nil, err
	}
	var dirs []string
	err = sessions(ctx, s, key, func(x stored) error {
		if dirs = append(dirs, s.String()+"/"+x.key); len(dirs) > most {
			return fmt.Errorf("more than %d sessions in %s: name fewer", most, s.String()+"/"+key)
		}
		return nil
	})
	return dirs, err
}

// List lists the visible sessions at an address and below, the newest first. It reads their manifests, some at a time.
func List(ctx context.Context, address string) ([]catalog.Found, error) {
	s, key, err := at(ctx, address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		mu    sync.Mutex
		all   []catalog.Found
		group sync.WaitGroup
	)
	places := make(chan struct{}, parallel)
	err = sessions(ctx, s, key, func(x stored) error {
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			e, ok, err := entry(ctx, s, x)
			if err != nil {
				cancel(err)
			}
			if ok {
				mu.Lock()
				defer mu.Unlock()
				all = append(all, catalog.Found{Dir: s.String() + "/" + x.key, Entry: e})
			}
		})
		return ctx.Err()
	})
	group.Wait()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	catalog.Sort(all)
	return all, nil
}

// entry reads what a listing shows of a session.
func entry(ctx context.Context, s objectstore.Store, x stored) (e catalog.Entry, ok bool, err error) {
	folder := path.Base(x.key)
	if x.manifest.Bytes > maxManifest {
		return catalog.Entry{Folder: folder, Started: x.manifest.Modified, Stored: x.manifest.Modified, Damaged: "its manifest is too large"}, true, nil
	}
	manifest, err := read(ctx, s, x.manifest)
	if errors.Is(err, objectstore.ErrNotFound) { // deleted meanwhile
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	var label []byte
	if x.label.Key != "" && x.label.Bytes <= maxManifest {
		if label, err = read(ctx, s, x.label); err != nil && !errors.Is(err, objectstore.ErrNotFound) {
			return e, false, err
		}
	}
	e, ok = catalog.Parse(folder, manifest, label, x.manifest.Modified)
	e.Silence = silence
	return e, ok, nil
}

func read(ctx context.Context, s objectstore.Store, o objectstore.Object) ([]byte, error) {
	body, _, err := s.GetRange(ctx, o.Key, 0, o.Bytes)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	return io.ReadAll(body)
}

// Leftover describes what is at an address without a manifest, and so is no visible session: an upload that goes on, or
// what one or a deletion left behind. ok is false if there is nothing, or a session.
func Leftover(ctx context.Context, address string) (bytes int64, latest time.Time, ok bool, err error) {
	s, key, err := at(ctx, address)
	if err != nil || !strings.HasPrefix(path.Base(key), sessionName) {
		return 0, latest, false, err
	}
	for o, err := range s.List(ctx, below(key)) {
		if err != nil {
			return 0, latest, false, err
		}
		if o.Key == below(key)+store.ManifestName {
			return 0, latest, false, nil
		}
		ok, bytes = true, bytes+o.Bytes
		if o.Modified.After(latest) {
			latest = o.Modified
		}
	}
	return bytes, latest, ok, nil
}

// sessionName begins the last element of a session's key in a fleet's store.
const sessionName = "session="

// Delete removes the session at an address: its manifest first, so that a deletion that is cut leaves nothing that
// anybody sees.
func Delete(ctx context.Context, address string) error {
	s, key, err := at(ctx, address)
	if err != nil {
		return err
	}
	if key == "" {
		return fmt.Errorf("%s: %w: it is a bucket", address, store.ErrNoSession)
	}
	if err := s.Delete(ctx, below(key)+store.ManifestName); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	places := make(chan struct{}, parallel)
	for o, err := range s.List(ctx, below(key)) {
		if err != nil {
			cancel(err)
			break
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			if err := s.Delete(ctx, o.Key); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("it is no longer listed, but files are left; delete it again: %w", err)
	}
	return nil
}
