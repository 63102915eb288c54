// Package upload takes the sessions that a shadow stores on its disk to an object store: parts as they are sealed, the
// manifest when all that it names is there. A session is visible by its manifest, so no reader sees a part of one. What
// was interrupted goes on with the next pass, also after the shadow was killed.
package upload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
	"stackagent/shadow/store/objectstore"
)

// Defaults of Options.
const (
	DefaultEvery         = 5 * time.Second
	DefaultPartAge       = 30 * time.Second
	DefaultManifestEvery = 5 * time.Minute
	DefaultSettle        = time.Minute
	DefaultKeep          = time.Hour
	DefaultRollEvery     = 5 * time.Minute
	DefaultParallel      = 4
)

// grace is how long files stay in the store that a newer manifest no longer names: readers may have read the one before.
const grace = 15 * time.Minute

// mostPause bounds the pause after the store failed.
const mostPause = time.Minute

// Options of Start; zero durations choose the defaults.
type Options struct {
	Root  string // the shadow's own store
	Store objectstore.Store

	Every         time.Duration // between looks at Root
	PartAge       time.Duration // a part that is younger may still be merged into a larger one
	ManifestEvery time.Duration // how often a session that goes on becomes visible up to then
	Settle        time.Duration // after its end, what comes late is waited for so long
	Keep          time.Duration // how long a session that is in the store stays on the disk as well
	RollEvery     time.Duration // how often what came of a session that goes on is summed up
	Parallel      int           // sessions at once

	NoRollUps bool // sessions are put, and not summed up
	// Remove calls remove, which takes a session's folder away, while nobody writes to it. nil: sessions stay.
	Remove func(ctx context.Context, folder string, remove func() error) error

	// Trouble comes once when the store stops taking sessions, and with nil when it takes them again; may be nil.
	Trouble func(error)

	Logger *slog.Logger
	Now    func() time.Time
}

// Stats say where the uploads stand.
type Stats struct {
	Sessions     int64 // put into the store whole, since the start
	Files, Bytes int64 // put, since the start
	WaitingBytes int64 // of files that the last look found to be put
	Failures     int64 // of attempts, since the start
	Problem      string
	Since        time.Time // when the problem began
}

// Uploader runs until Close.
type Uploader struct {
	o    Options
	log  *slog.Logger
	stop context.CancelFunc
	done chan struct{}
	pass sync.Mutex // one at a time

	mu    sync.Mutex
	stats Stats
	quiet map[string]quiet // by folder
	lock  *os.File         // of Root's uploads; nil: another shadow has it
	told  bool
}

// lockName is the file that the shadow locks which uploads from a store that several share.
const lockName = "upload.lock"

// New makes an Uploader that does nothing by itself; Pass makes it work once.
func New(o Options) *Uploader {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	set(&o.Every, DefaultEvery)
	set(&o.PartAge, DefaultPartAge)
	set(&o.ManifestEvery, DefaultManifestEvery)
	set(&o.Settle, DefaultSettle)
	set(&o.Keep, DefaultKeep)
	set(&o.RollEvery, DefaultRollEvery)
	if o.Parallel <= 0 {
		o.Parallel = DefaultParallel
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Uploader{o: o, log: o.Logger, done: make(chan struct{}), quiet: map[string]quiet{}}
}

// Start looks at the store again and again.
func Start(o Options) *Uploader {
	u := New(o)
	ctx, stop := context.WithCancel(context.Background())
	u.stop = stop
	go u.run(ctx)
	return u
}

func (u *Uploader) run(ctx context.Context) {
	defer close(u.done)
	pause := u.o.Every
	for {
		// Many shadows that lost their store together do not come back together.
		wait := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
		}
		pause = u.o.Every
		if err := u.Pass(ctx); err != nil && ctx.Err() == nil {
			pause = min(mostPause, max(pause, time.Since(u.Stats().Since)))
		}
	}
}

// Close ends the uploading. ctx bounds a last pass over what has ended; what is left is put by the next shadow.
func (u *Uploader) Close(ctx context.Context) error {
	if u.stop != nil {
		u.stop()
		<-u.done
	}
	u.pass.Lock()
	u.o.Settle, u.o.PartAge, u.o.RollEvery, u.o.ManifestEvery, u.o.Remove = 0, 0, 0, 0, nil // nothing comes any more
	clear(u.quiet)
	u.pass.Unlock()
	err := u.Pass(ctx)
	if u.lock != nil {
		u.lock.Close()
	}
	return err
}

// Stats say where the uploads stand.
func (u *Uploader) Stats() Stats {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stats
}

// Pass looks at all sessions once and puts what is due.
func (u *Uploader) Pass(ctx context.Context) error {
	u.pass.Lock()
	defer u.pass.Unlock()
	if !u.locked() {
		return nil
	}
	entries, err := os.ReadDir(u.o.Root)
	if err != nil {
		return u.failed(fmt.Errorf("looking for sessions to upload: %w", err))
	}
	var (
		group   sync.WaitGroup
		mu      sync.Mutex
		waiting int64
		failed  error
	)
	places := make(chan struct{}, u.o.Parallel)
	for _, e := range entries {
		if !e.IsDir() || strings.HasPrefix(e.Name(), ".") || ctx.Err() != nil {
			continue
		}
		places <- struct{}{}
		group.Go(func() {
			defer func() { <-places }()
			left, err := u.session(ctx, e.Name())
			mu.Lock()
			defer mu.Unlock()
			waiting += left
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("session %s: %w", e.Name(), err))
			}
		})
	}
	group.Wait()
	u.mu.Lock()
	for folder := range u.quiet {
		if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == folder }) {
			delete(u.quiet, folder)
		}
	}
	u.stats.WaitingBytes = waiting
	u.mu.Unlock()
	return u.failed(errors.Join(failed, ctx.Err()))
}

// failed keeps how a pass ended.
func (u *Uploader) failed(err error) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err == nil {
		if u.stats.Problem != "" {
			u.log.Info("upload: the store takes sessions again", "store", u.o.Store.String())
			u.trouble(nil)
		}
		u.stats.Problem, u.stats.Since = "", time.Time{}
		return nil
	}
	u.stats.Failures++
	if u.stats.Problem == "" && !errors.Is(err, context.Canceled) {
		u.stats.Since = u.o.Now()
		u.log.Warn("upload: sessions stay on the disk until the store takes them", "store", u.o.Store.String(), "error", err)
		u.trouble(err)
	}
	u.stats.Problem = err.Error()
	return err
}

func (u *Uploader) trouble(err error) {
	if u.o.Trouble != nil {
		u.o.Trouble(err)
	}
}

// locked makes this shadow the one that uploads from Root.
func (u *Uploader) locked() bool {
	if u.lock != nil {
		return true
	}
	dir := filepath.Join(u.o.Root, ownership.HomeName)
	err := os.MkdirAll(dir, 0o700)
	if err == nil {
		u.lock, err = lock(filepath.Join(dir, lockName))
	}
	if err != nil && !u.told {
		u.told = true
		u.log.Info("upload: another shadow of this store uploads", "why", err)
	}
	return err == nil
}

// put counts what was put.
func (u *Uploader) put(bytes int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.stats.Files++
	u.stats.Bytes += bytes
}

// remove takes a session away of which the store has the manifest of that checksum.
func (u *Uploader) remove(ctx context.Context, folder, manifest string) error {
	root, err := os.OpenRoot(u.o.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	return u.o.Remove(ctx, folder, func() error {
		if data, err := root.ReadFile(filepath.Join(folder, store.ManifestName)); err != nil || digestOf(data) != manifest {
			return errors.Join(errChanged, err)
		}
		return store.Delete(root, folder)
	})
}

// Session puts one session that has ended, and returns when all of it is there; put is false if it was before.
func Session(ctx context.Context, o Options, folder string) (put bool, err error) {
	o.Settle = 1
	u := New(o)
	left, _, err := u.due(ctx, folder)
	if err == nil && left == 0 {
		if err = u.verify(ctx, folder); errors.Is(err, errLost) {
			left, _, err = u.due(ctx, folder)
		}
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("%d bytes that its manifest names are not in its folder", left)
	}
	if err != nil {
		return false, fmt.Errorf("uploading the session %s: %w", folder, err)
	}
	return u.Stats().Files > 0, nil
}

// patience bounds how long a deletion waits for uploads.
const patience = 10 * time.Second

// Delete calls remove, which is to take a session away, while nothing is put. fromStore takes it out of the object store,
// the manifest first; its roll-ups stay.
func (u *Uploader) Delete(ctx context.Context, folder string, remove func(fromStore func() error) error) error {
	for end := time.Now().Add(patience); !u.pass.TryLock(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("%w: sessions are being uploaded; try again in a minute", store.ErrInUse)
		}
	}
	defer u.pass.Unlock()
	return remove(func() error { return u.deleteRemote(ctx, folder) })
}

func (u *Uploader) deleteRemote(ctx context.Context, folder string) error {
	root, err := os.OpenRoot(filepath.Join(u.o.Root, folder))
	if err != nil {
		return err
	}
	defer root.Close()
	s, err := readState(root, u.o.Store.String())
	if err != nil || s.Prefix == "" {
		return err
	}
	if err := u.o.Store.Delete(ctx, s.Prefix+store.ManifestName); err != nil {
		return fmt.Errorf("deleting a session from the object store: %w", err)
	}
	for o, err := range u.o.Store.List(ctx, s.Prefix) {
		if err == nil {
			err = u.o.Store.Delete(ctx, o.Key)
		}
		if err != nil {
			return fmt.Errorf("deleting a session from the object store: %w", err)
		}
	}
	return nil
}
