package ingest

import (
	"errors"
	"time"

	"stackagent/shadow/store"
)

// A shadow that ends has all its sessions to close. More than mostEnds at a time would keep its heartbeats from the bus, and
// the sessions would no longer be certainly ours. closePatience bounds how long sessions are closed that hold nothing: the
// rest stay open for the next shadow, as after a crash.
const (
	mostEnds      = 32
	closePatience = 20 * time.Second
)

// end stores what is held and says in the manifest how the session ended.
func (w *worker) end() {
	if w.stopping() { // else a folder that takes nothing would hold up others
		w.ingest.ends <- struct{}{}
		defer func() { <-w.ingest.ends }()
	}
	defer w.finishMerge()
	if w.out == nil && w.stuck.Load() && !w.stopping() && w.ingest.o.Live != nil {
		w.ingest.o.Live.Problem(w.name, ErrGivenUp)
	}
	if w.out == nil || w.dropped() {
		return
	}
	w.skipGaps(true)
	if !w.store() {
		return
	}
	if w.stopping() && w.ingest.sinceShut() > w.ingest.o.closePatience {
		w.ingest.leftOpen.Add(1)
		return
	}
	if w.out.Manifest.Ended == store.EndedRunning {
		w.out.Manifest.Ended = w.ending()
		w.ended = time.Now()
	}
	if !w.ended.IsZero() {
		w.close()
	}
}

// ErrGivenUp is the Problem of a session that could not be stored and of which
// nothing comes any more: what came is still on the bus, or went as too old.
var ErrGivenUp = errors.New("nothing comes of it any more, and nothing of it was stored")

// stopping says that the shadow ends.
func (w *worker) stopping() bool {
	select {
	case <-w.ingest.stop:
		return true
	default:
		return false
	}
}

// closeDelay is how long after the last part of a session its account is drawn
// up: batches that were late may still come.
const closeDelay = 250 * time.Millisecond

// close merges the small parts of a session that has ended and draws up its
// account. If that fails it is tried again with the next tick.
func (w *worker) close() {
	w.mergeRest()
	err := w.guarded(w.out.Close)
	w.problem(err)
	if err == nil {
		w.ended = time.Time{}
		w.finished.Store(true)
		w.p, w.part = store.Part{}, nil // for a minute more it only listens for what comes late
	}
	w.publish()
}

// leave says that the worker reports nothing more about its folder.
func (w *worker) leave() {
	if w.out == nil {
		return
	}
	w.ingest.mu.Lock()
	defer w.ingest.mu.Unlock()
	w.ingest.known.left(w.pro.Folder)
}

// ending is how a session ended that did not say so itself.
func (w *worker) ending() string {
	w.ingest.mu.Lock()
	defer w.ingest.mu.Unlock()
	if w.ingest.ended != "" {
		return w.ingest.ended
	}
	return store.EndedLostContact
}

// mergePause is how long small parts are left alone after merging failed.
const mergePause = time.Minute

// merge makes one part of many small ones in a session that goes on. Reading and writing them takes tenths of a second,
// for which no batch waits: finishMerge only gives the parts their names.
func (w *worker) merge() {
	if w.merging != nil || w.dropped() || time.Now().Before(w.mergeAfter) || !w.out.MergeDue() {
		return
	}
	m, merged := w.out.PlanMerge(false), make(chan struct{})
	w.merging, w.merged = m, merged
	go func() {
		defer close(merged)
		m.Write()
	}()
}

// finishMerge waits for the merged parts, if there are any, and puts them in their places.
func (w *worker) finishMerge() {
	if w.merging == nil {
		return
	}
	<-w.merged
	m := w.merging
	w.merging, w.merged = nil, nil
	defer m.Drop()
	if w.dropped() {
		return
	}
	w.mergeFailed(w.guarded(func() error {
		_, err := w.out.FinishMerge(m)
		return err
	}))
}

// mergeRest merges the small parts of a session that has ended. What cannot be merged stays as it is.
func (w *worker) mergeRest() {
	w.finishMerge()
	for more := true; more && !w.dropped() && time.Now().After(w.mergeAfter); {
		w.mergeFailed(w.guarded(func() (err error) {
			more, err = w.out.Merge(true)
			return err
		}))
	}
}

func (w *worker) mergeFailed(err error) {
	if err != nil {
		w.ingest.log.Warn("ingest: small parts of a session could not be merged", "session", w.name, "error", err)
		w.mergeAfter = time.Now().Add(mergePause)
	}
}
