package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// ErrOpen is returned for a session that has not ended.
var ErrOpen = errors.New("the session is still being recorded")

// Flush stores what has been received of the session in a folder, so that a reader sees it up to now. A batch that
// is missing is waited for as always: nothing behind it is stored yet.
func (in *Ingest) Flush(ctx context.Context, folder string) error {
	session, ok := in.sessionIn(folder)
	if !ok {
		return nil // nobody here writes to it
	}
	in.mu.Lock()
	if s := in.sources[session]; s != nil {
		s.began.Store(false) // its turn comes with the next look
	}
	in.mu.Unlock()
	return in.ask(ctx, session, func(w *worker) {
		// With one reading of the clock there is no rate yet to convert by; see due.
		if w.out != nil && w.pro.Folder == folder && (len(w.clock.knots) > 1 || len(w.part) > 1) {
			w.store()
		}
	})
}

// Remove calls remove, which takes the folder of a session that has ended out of the store, while no shadow of the
// store writes to it. What comes late of the session begins a folder of its own.
func (in *Ingest) Remove(ctx context.Context, folder string, remove func() error) error {
	// A fence lives in a file of the folder's name; a name from elsewhere must not lead out of that place.
	if folder != filepath.Base(folder) || folder == "." || folder == ".." {
		return fmt.Errorf("%w: %.80q", store.ErrBadName, folder)
	}
	done := false
	var err error
	if session, ok := in.sessionIn(folder); ok {
		askErr := in.ask(ctx, session, func(w *worker) {
			if w.out == nil || w.pro.Folder != folder {
				return
			}
			done, err = true, ErrOpen
			if w.finished.Load() && len(w.pending) == 0 {
				err = in.removeFolder(folder, remove)
			}
			if err == nil {
				w.leave()
				w.out = nil
				w.holds.Store(false)
			}
		})
		if askErr != nil {
			return askErr
		}
	}
	if !done {
		err = in.removeFolder(folder, remove)
	}
	if err == nil {
		in.mu.Lock()
		in.known.forget(folder)
		in.mu.Unlock()
	}
	return err
}

// removeFolder calls remove while no shadow of the store looks for a folder or writes to this one.
func (in *Ingest) removeFolder(folder string, remove func() error) error {
	unlock, err := in.home.LockFolders()
	if err != nil {
		return err
	}
	defer unlock()
	m, err := store.ReadManifest(filepath.Join(in.o.Root, folder))
	if err == nil && m.Ended == store.EndedRunning && in.member.OwnedByOther(m.Session) {
		return ErrOpen
	}
	fence := in.home.Fence(folder, ownership.Epoch{})
	defer func() { _ = in.home.RemoveFences(in.o.Root) }() // else it goes with the next look at the store
	return fence.Close(remove)
}

// sessionIn is the session that this shadow knows in a folder.
func (in *Ingest) sessionIn(folder string) (string, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	e := in.known.progress[folder]
	if e == nil {
		return "", false
	}
	return e.Session, true
}

// ask has the workers of a session do something, one after another.
func (in *Ingest) ask(ctx context.Context, session string, do func(*worker)) error {
	in.mu.Lock()
	s := in.sources[session]
	in.mu.Unlock()
	if s == nil {
		return nil
	}
	for _, w := range s.all() {
		done := make(chan struct{})
		select {
		case w.asks <- func() { defer close(done); do(w) }:
		case <-w.done:
			continue
		case <-ctx.Done():
			return fmt.Errorf("ingest: the session is busy: %w", ctx.Err())
		}
		select {
		case <-done:
		case <-ctx.Done():
			return fmt.Errorf("ingest: the session is busy: %w", ctx.Err())
		}
	}
	return nil
}

// forget drops a folder that is gone; its sums stay.
func (k *known) forget(folder string) {
	e := k.progress[folder]
	if e == nil {
		return
	}
	if e.left {
		k.idle--
	}
	k.past.add(&e.Progress)
	k.past.NoLongerListed++
	delete(k.progress, folder)
	for i, f := range k.order {
		if f == folder {
			k.order = append(k.order[:i], k.order[i+1:]...)
			break
		}
	}
}
