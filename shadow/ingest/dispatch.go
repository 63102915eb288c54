package ingest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/shadow/store"
)

// dispatch hands each message to the worker of its session. It owns the
// workers: only it starts and ends them.
func (in *Ingest) dispatch() {
	defer close(in.done)
	workers := map[sender]*worker{}
	defer func() { in.endAll(workers) }()
	tick := time.NewTicker(min(in.o.LostContact/4, time.Second))
	defer tick.Stop()
	stale := time.After(in.o.LostContact)
	for {
		select {
		case <-in.stop:
			return
		case <-stale:
			in.endStale(workers)
		case <-in.o.Bus.Revived():
			in.beginAgain()
		case m := <-in.msgs:
			in.route(workers, m)
		case now := <-tick.C:
			in.endIdle(workers, now)
		case done := <-in.flushes:
			go flushAll(workers, done)()
		}
	}
}

func (in *Ingest) route(workers map[sender]*worker, m jetstream.Msg) {
	in.routed.Add(1)
	key, err := senderOf(m)
	if err != nil {
		in.refuse(m, err)
		return
	}
	w := workers[key]
	if w == nil {
		if len(workers) >= in.o.MaxSessions {
			in.log.Warn("ingest: too many sessions at once; one has to wait", "session", key.session, "limit", in.o.MaxSessions)
			in.putBack(m, 5*time.Second)
			return
		}
		w = newWorker(in, key)
		workers[key] = w
		in.active.Store(int64(len(workers)))
	}
	select {
	case w.in <- m:
		return
	default:
	}
	if w.stuck.Load() { // one session that can not be stored must not hold up the others
		in.putBack(m, stuckDelay)
		return
	}
	select {
	case w.in <- m:
	case <-in.stop:
	}
}

// stuckDelay is when a message comes again whose session can not be stored now.
const stuckDelay = 2 * time.Second

func (in *Ingest) putBack(m jetstream.Msg, delay time.Duration) {
	if err := m.NakWithDelay(delay); err != nil {
		in.log.Warn("ingest: putting a message back", "error", err)
	}
}

// endIdle ends the workers of sessions from which nothing comes any more.
func (in *Ingest) endIdle(workers map[sender]*worker, now time.Time) {
	for key, w := range workers {
		if now.Sub(time.Unix(0, w.lastBatch.Load())) < in.o.LostContact || w.stuck.Load() {
			continue
		}
		close(w.in)
		<-w.done
		delete(workers, key)
	}
	in.active.Store(int64(len(workers)))
}

// endStale closes the sessions that an earlier shadow left open, when it died,
// and of which nothing has come since this one runs.
func (in *Ingest) endStale(workers map[sender]*worker) {
	entries, err := os.ReadDir(in.o.Root)
	if err != nil {
		in.log.Warn("ingest: looking for sessions left open", "error", err)
		return
	}
	for _, e := range entries {
		m, err := store.ReadManifest(filepath.Join(in.o.Root, e.Name()))
		if err != nil || m.Ended != store.EndedRunning || in.seen(e.Name()) || workers[sender{m.Session, m.Process}] != nil {
			continue
		}
		w, err := store.OpenWriter(in.o.Root, e.Name(), m.Session)
		if err == nil {
			w.Manifest.Ended = store.EndedLostContact
			err = w.Close()
		}
		if err != nil {
			in.log.Warn("ingest: closing a session left open", "folder", e.Name(), "error", err)
		}
	}
}

func (in *Ingest) seen(folder string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	_, ok := in.progress[folder]
	return ok
}

// flushAll prepares to ask all workers to store what they hold; the returned
// function waits for them, outside the dispatcher.
func flushAll(workers map[sender]*worker, done chan struct{}) func() {
	all := make([]*worker, 0, len(workers))
	for _, w := range workers {
		all = append(all, w)
	}
	return func() {
		var wg sync.WaitGroup
		for _, w := range all {
			wg.Go(func() {
				select {
				case w.flush <- struct{}{}:
				case <-w.done:
				}
			})
		}
		wg.Wait()
		close(done)
	}
}

func (in *Ingest) endAll(workers map[sender]*worker) {
	for _, w := range workers {
		close(w.in)
	}
	for key, w := range workers {
		<-w.done
		if w.err != nil {
			in.mu.Lock()
			in.err = errors.Join(in.err, fmt.Errorf("session %s: %w", key.session, w.err))
			in.mu.Unlock()
		}
	}
}
