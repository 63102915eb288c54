package upload

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"stackagent/internal/checksum"
	"stackagent/shadow/collect/ingest"
	"stackagent/shadow/fleet/rollup"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// maxManifestBytes bounds what is read of a manifest.
const maxManifestBytes = 64 << 20

// pass is a look at one session.
type pass struct {
	u        *Uploader
	root     *os.Root // its folder
	folder   string
	manifest []byte
	m        *store.Manifest
	written  time.Time // when the manifest was
	now      time.Time
	ended    bool // for so long that nothing more is expected
	state    *state
}

// quiet is a session of which nothing is due before a moment, unless its manifest changes.
type quiet struct {
	modified time.Time
	bytes    int64
	until    time.Time
}

// never is later than any pass.
var never = time.Unix(1<<60, 0)

// session puts what is due of a session; left is how many bytes still wait. A store has the sessions of months: one of
// which nothing is due costs a look at its manifest's time.
func (u *Uploader) session(ctx context.Context, folder string) (left int64, err error) {
	info, err := os.Lstat(filepath.Join(u.o.Root, folder, store.ManifestName))
	if err != nil {
		return 0, nil // no session, or gone
	}
	u.mu.Lock()
	q, known := u.quiet[folder]
	u.mu.Unlock()
	if known && q.modified.Equal(info.ModTime()) && q.bytes == info.Size() && u.o.Now().Before(q.until) {
		return 0, nil
	}
	left, until, err := u.due(ctx, folder)
	u.mu.Lock()
	defer u.mu.Unlock()
	if err != nil || left > 0 {
		delete(u.quiet, folder)
		return left, err
	}
	u.quiet[folder] = quiet{info.ModTime(), info.Size(), until}
	return 0, nil
}

// open looks at a session; nil: there is none, or it has no place in the store yet. Its root is to be closed.
func (u *Uploader) open(folder string) (*pass, error) {
	root, err := os.OpenRoot(filepath.Join(u.o.Root, folder))
	if err != nil {
		return nil, err
	}
	p := &pass{u: u, root: root, folder: folder, now: u.o.Now()}
	ok, err := p.look()
	if ok && err == nil {
		p.state, err = readState(root, u.o.Store.String())
	}
	if !ok || err != nil {
		root.Close()
		return nil, err
	}
	return p, nil
}

// verify asks the store whether it has all of a session that was put. What is lost is put again by the next look at it.
func (u *Uploader) verify(ctx context.Context, folder string) error {
	p, err := u.open(folder)
	if p == nil || err != nil {
		return err
	}
	defer p.root.Close()
	return p.verify(ctx)
}

// due is session for one of which something may be due; until is when something is next.
func (u *Uploader) due(ctx context.Context, folder string) (left int64, until time.Time, err error) {
	p, err := u.open(folder)
	if p == nil || err != nil {
		return 0, until, err
	}
	root := p.root
	defer root.Close()
	digest := digestOf(p.manifest)
	if p.ended && p.state.Whole && p.state.Manifest == digest {
		until, err = p.settled(ctx)
		return 0, until, err
	}
	prefix := func(name string) string {
		return objectstore.SessionPrefix(time.Unix(0, p.m.WallUnixNs), serviceOf(p.m), name)
	}
	if err := p.state.claim(ctx, u.o.Store, root, folder, prefix); err != nil {
		for _, f := range p.m.Files {
			left += f.Bytes
		}
		return left, until, err
	}
	shown := p.state.Put
	if shown.IsZero() {
		shown = time.Unix(0, p.m.WallUnixNs)
	}
	next := shown.Add(u.o.ManifestEvery)
	visible := p.ended || p.m.Ended == store.EndedRunning && !p.now.Before(next) && p.state.Manifest != digest
	left, err = p.putFiles(ctx, visible)
	if err == nil {
		err = p.rollUp(ctx)
	}
	if err == nil && visible && left == 0 {
		err = p.putManifest(ctx, digest)
	}
	if until = next; visible {
		until = p.now.Add(u.o.ManifestEvery)
	}
	if next := p.state.Rolled.Add(u.o.RollEvery); !u.o.NoRollUps && next.Before(until) {
		until = next
	}
	if p.m.Ended != store.EndedRunning && !p.ended {
		until = p.written.Add(u.o.Settle)
	}
	return left, until, errors.Join(err, p.removeReplaced(ctx))
}

// rollUp has what came summed up: now and then, and at the end.
func (p *pass) rollUp(ctx context.Context) error {
	if p.u.o.NoRollUps || !p.ended && p.now.Sub(p.state.Rolled) < p.u.o.RollEvery {
		return nil
	}
	if err := rollup.RollUp(ctx, p.u.o.Store, filepath.Join(p.u.o.Root, p.folder), p.state.Name, p.ended); err != nil {
		return err
	}
	p.state.Rolled = p.now
	return p.state.write(p.root)
}

// serviceOf is the service that a session belongs to.
func serviceOf(m *store.Manifest) string { return m.Labels.Service }

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// look reads the manifest; ok is false for what is no session, or not known well enough yet to have a place in the store.
func (p *pass) look() (ok bool, err error) {
	f, err := open(p.root, store.ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	if p.manifest, err = io.ReadAll(io.LimitReader(f, maxManifestBytes+1)); err != nil {
		return false, err
	}
	if p.m, err = store.ParseManifest(p.manifest); err != nil {
		return false, err
	}
	p.written = info.ModTime()
	p.ended = p.m.Ended != store.EndedRunning && p.now.Sub(p.written) >= p.u.o.Settle
	return p.ended || p.m.WallUnixNs != 0, nil
}

// open opens a file of a session for reading. A link could lead out of it, and a pipe would never answer.
func open(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(fmt.Errorf("%s is no file", name), err)
	}
	return f, nil
}

// putFiles puts the files that the manifest names, and of a session that has ended also those beside them. all: also
// parts that are young. left is how much the manifest names that is not in the store.
func (p *pass) putFiles(ctx context.Context, all bool) (left int64, err error) {
	for _, name := range slices.Sorted(maps.Keys(p.m.Files)) {
		want := p.m.Files[name]
		if p.state.Files[name] == want {
			continue
		}
		switch err := p.putFile(ctx, name, want, all); {
		case errors.Is(err, errYoung):
			left += want.Bytes
		case errors.Is(err, fs.ErrNotExist): // merged into another part; the next manifest names that one
			left += want.Bytes
			if p.ended {
				return left, fmt.Errorf("%s, which the manifest names, is gone from the disk", name)
			}
		case err != nil:
			return left + want.Bytes, err
		}
	}
	if !p.ended {
		return left, nil
	}
	return left, p.putBeside(ctx)
}

// errYoung is a part that may still be merged into a larger one.
var errYoung = errors.New("the part is young")

// putFile puts a file that the manifest names. Its name goes into the state at once: parts are large.
func (p *pass) putFile(ctx context.Context, name string, want checksum.File, all bool) error {
	f, err := open(p.root, name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if !all && p.now.Sub(info.ModTime()) < p.u.o.PartAge {
		return errYoung
	}
	got, err := checksum.Of(f)
	if err != nil {
		return err
	}
	if err := want.Check(got); err != nil { // damage must not become the only copy's
		return fmt.Errorf("%s: %w", name, err)
	}
	return p.put(ctx, name, f, info.Size(), want)
}

func (p *pass) put(ctx context.Context, name string, content io.ReadSeeker, size int64, as checksum.File) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := p.u.o.Store.Put(ctx, p.state.Prefix+name, content, size); err != nil {
		return err
	}
	p.u.put(size)
	delete(p.state.Replaced, name)
	p.state.Files[name] = as
	return p.state.write(p.root)
}

// putBeside puts the files that others than the store wrote beside the parts.
func (p *pass) putBeside(ctx context.Context) error {
	return fs.WalkDir(p.root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
			return nil
		case strings.HasPrefix(path.Base(name), "."):
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular(), name == store.ManifestName, name == rollup.ProgressName:
			return nil
		}
		if _, named := p.m.Files[name]; named {
			return nil
		}
		if _, _, part := store.ParsePartName(name); part { // what was merged, or is not the session's
			return nil
		}
		f, err := open(p.root, name)
		if err != nil {
			return err
		}
		defer f.Close()
		sum, err := checksum.Of(f)
		if err != nil || p.state.Files[name] == sum {
			return err
		}
		return p.put(ctx, name, f, sum.Bytes, sum)
	})
}

// putManifest makes the session visible as the manifest has it.
func (p *pass) putManifest(ctx context.Context, digest string) error {
	if err := p.u.o.Store.Put(ctx, p.state.Prefix+store.ManifestName, bytes.NewReader(p.manifest), int64(len(p.manifest))); err != nil {
		return err
	}
	p.u.put(int64(len(p.manifest)))
	for name := range p.state.Files {
		if _, named := p.m.Files[name]; !named {
			if _, _, part := store.ParsePartName(name); part {
				if _, known := p.state.Replaced[name]; !known {
					p.state.Replaced[name] = p.now
				}
			}
		}
	}
	p.state.Manifest, p.state.Put, p.state.Whole = digest, p.now, p.ended
	if p.ended {
		p.u.mu.Lock()
		p.u.stats.Sessions++
		p.u.mu.Unlock()
	}
	return p.state.write(p.root)
}

// removeReplaced takes files out of the store that were merged into others.
func (p *pass) removeReplaced(ctx context.Context) error {
	changed := false
	for _, name := range slices.Sorted(maps.Keys(p.state.Replaced)) {
		if p.now.Sub(p.state.Replaced[name]) < grace {
			continue
		}
		if _, named := p.m.Files[name]; named {
			continue
		}
		if err := p.u.o.Store.Delete(ctx, p.state.Prefix+name); err != nil {
			return err
		}
		delete(p.state.Replaced, name)
		delete(p.state.Files, name)
		changed = true
	}
	if !changed {
		return nil
	}
	return p.state.write(p.root)
}

// settled is what is left to do for a session that is in the store whole: its copy on the disk goes.
func (p *pass) settled(ctx context.Context) (until time.Time, err error) {
	if err := p.removeReplaced(ctx); err != nil {
		return until, err
	}
	until = never
	for _, since := range p.state.Replaced {
		if next := since.Add(grace); next.Before(until) {
			until = next
		}
	}
	if p.u.o.Remove == nil || len(p.state.Replaced) > 0 {
		return until, nil
	}
	if until = p.state.Put.Add(p.u.o.Keep); p.now.Before(until) {
		return until, nil
	}
	if err := p.verify(ctx); err != nil {
		return until, err
	}
	switch err := p.u.remove(ctx, p.folder, p.state.Manifest); {
	case errors.Is(err, store.ErrInUse), errors.Is(err, ingest.ErrOpen), errors.Is(err, fs.ErrNotExist), errors.Is(err, errChanged):
		return p.now, nil
	case err != nil:
		return until, fmt.Errorf("removing the copy on the disk: %w", err)
	}
	p.u.log.Info("upload: a session is in the store only", "session", p.folder, "store", p.u.o.Store.String())
	return until, nil
}

// verify asks the store whether it has all files, before the copy on the disk goes. What is missing is put again.
func (p *pass) verify(ctx context.Context) error {
	missing := maps.Clone(p.state.Files)
	missing[store.ManifestName] = checksum.File{Bytes: int64(len(p.manifest))}
	for o, err := range p.u.o.Store.List(ctx, p.state.Prefix) {
		if err != nil {
			return fmt.Errorf("looking whether a session is in the store whole: %w", err)
		}
		name := strings.TrimPrefix(o.Key, p.state.Prefix)
		if want, put := missing[name]; put && want.Bytes == o.Bytes {
			delete(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	for name := range missing {
		delete(p.state.Files, name)
	}
	p.state.Whole, p.state.Manifest = false, ""
	ours, err := p.state.claimed(ctx, p.u.o.Store)
	if err != nil {
		return fmt.Errorf("looking whether a session is in the store whole: %w", err)
	}
	if !ours { // another session may have the name by now
		p.state.Prefix, p.state.Files = "", map[string]checksum.File{}
	}
	if err := p.state.write(p.root); err != nil {
		return err
	}
	return fmt.Errorf("%w: %d, %s among them; they are put again", errLost, len(missing), slices.Min(slices.Collect(maps.Keys(missing))))
}

// errLost is a session that was put whole, and is not.
var errLost = errors.New("files have gone from the store")

// errChanged is a session that something came for while it was about to be removed.
var errChanged = errors.New("something came late")
