package ingest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"stackagent/internal/text"
	"stackagent/internal/timers"
	"stackagent/internal/wire"
	"stackagent/shadow/collect/bus"
	"stackagent/shadow/collect/ownership"
	"stackagent/shadow/store"
)

// keepRow is how long the bus remembers which store a session is in that comes
// no more: what is late must find it.
const keepRow = 24 * time.Hour

// mostClaims bounds the sessions that a look opens: those that are open wait for it.
const mostClaims = 64

// dispatch looks for sessions that wait on the bus and gives each a source. It
// owns the sources: only it starts them.
func (in *Ingest) dispatch() {
	defer close(in.done)
	defer in.endAll()
	pause, least := lookInterval, lookInterval
	look := time.NewTimer(pause)
	defer look.Stop()
	stale := time.NewTicker(in.o.LostContact)
	defer stale.Stop()
	for {
		select {
		case <-in.stop:
			return
		case <-look.C:
			if in.calm.over(in.o.Bus.Activity()) {
				in.look()
			}
			least = min(max(lookInterval, lookShare*in.listing), settledInterval)
			pause = max(in.calm.pause(in.o.Bus.Arrivals() != nil), least)
			look.Reset(timers.After(pause))
		case <-in.o.Bus.Arrivals():
			in.calm.came = time.Now()
			if pause > least { // else the next look is soon enough
				pause = least
				look.Reset(pause)
			}
		case <-in.looks:
			in.look()
		case <-stale.C:
			in.endStale()
		case <-in.o.Bus.Revived():
			in.calm.disturb()
			for _, s := range in.sources {
				s.poke()
			}
		case <-in.rests:
			in.free++
			in.grant()
		case s := <-in.gone:
			in.remove(s)
			in.calm.disturb() // what came to it at the last moment waits for another source
		case done := <-in.flushes:
			go in.flushAll(done)
		}
	}
}

// look claims the sessions that wait for an owner.
func (in *Ingest) look() {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	in.calm.begin(in.o.Bus.Activity())
	began := time.Now()
	waiting, err := in.waiting(ctx)
	in.listing = time.Since(began)
	if err != nil {
		in.log.Warn("ingest: looking for sessions", "error", err)
		in.calm.disturb()
		return
	}
	in.share()
	in.wake(waiting)
	names := make([]string, 0, len(waiting))
	for name := range waiting {
		if in.sources[name] == nil {
			names = append(names, name)
		}
	}
	room := in.o.MaxSessions - len(in.sources)
	chosen, held := in.admit(ctx, names, room)
	in.crowd(names, room, held)
	names = chosen
	if in.turns() || in.quotas != nil {
		in.calm.disturb() // turns come with the time, not only with messages
	}
	if len(names) == 0 {
		return
	}
	in.calm.disturb() // who is not ours yet may be at the next look
	leases, err := in.member.Claim(ctx, names, min(room, mostClaims))
	if err != nil && !errors.Is(err, ownership.ErrUncertain) { // that one is reported by itself
		in.log.Warn("ingest: claiming sessions", "error", err)
	}
	for _, l := range leases {
		s := newSource(in, l)
		if in.quotas != nil {
			s.service = in.quotas.of[l.Session]
			in.quotas.opened(s.service)
		}
		in.mu.Lock()
		in.sources[l.Session] = s
		in.opened.Store(int64(len(in.sources)))
		in.mu.Unlock()
		go s.run()
	}
}

// waiting counts the messages on the bus by session. Those on subjects that are no session's are removed.
func (in *Ingest) waiting(ctx context.Context) (map[string]uint64, error) {
	info, err := in.stream.Info(ctx, jetstream.WithSubjectFilter(bus.Subjects))
	if err != nil {
		return nil, fmt.Errorf("ingest: asking the bus what waits: %w", err)
	}
	sessions := make(map[string]uint64, len(info.State.Subjects))
	for subject, n := range info.State.Subjects {
		name := strings.TrimPrefix(subject, wire.Subject(""))
		if err := store.ValidateName(name); err != nil {
			in.bad.Add(n)
			in.log.Warn("ingest: rejected messages", "subject", subject, "messages", n, "error", err)
			in.tellRefused(subject, n, err)
			if err := in.stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
				in.log.Warn("ingest: removing messages of no session", "error", err)
			}
			continue
		}
		sessions[name] = n
	}
	return sessions, nil
}

func (in *Ingest) remove(s *source) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.sources[s.name] == s {
		delete(in.sources, s.name)
		in.opened.Store(int64(len(in.sources)))
	}
}

// all lists the sources.
func (in *Ingest) all() []*source {
	in.mu.Lock()
	defer in.mu.Unlock()
	list := make([]*source, 0, len(in.sources))
	for _, s := range in.sources {
		list = append(list, s)
	}
	return list
}

// flushAll makes all workers store what they hold.
func (in *Ingest) flushAll(done chan struct{}) {
	defer close(done)
	var wg sync.WaitGroup
	for _, s := range in.all() {
		for _, w := range s.all() {
			wg.Go(func() {
				select {
				case w.flush <- struct{}{}:
				case <-w.done:
				}
			})
		}
	}
	wg.Wait()
}

// endAll waits for the sources, which end with the shadow.
func (in *Ingest) endAll() {
	for _, s := range in.all() {
		<-s.done
	}
}

// fail keeps why a session's last part could not be stored.
func (in *Ingest) fail(session string, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	err = fmt.Errorf("session %s: %w", session, err)
	if errors.Is(err, ownership.ErrUncertain) {
		in.onBus.add(err)
		return
	}
	in.err.add(err)
}

// failures are errors of thousands of sessions.
type failures struct {
	n    int
	list []error // the first
}

func (f *failures) add(err error) {
	const most = 10
	if f.n++; f.n <= most {
		f.list = append(f.list, err)
	}
}

func (f *failures) err() error {
	err := errors.Join(f.list...)
	if more := f.n - len(f.list); more > 0 {
		return fmt.Errorf("%w\nand %s more", err, text.Plural(uint64(more), "session", "sessions"))
	}
	return err
}

// endStale closes the sessions in our store that a shadow left open when it
// died, and of which nothing has come since. A store holds the sessions of
// months: a manifest that needs nothing is read again when it has changed.
func (in *Ingest) endStale() {
	entries, err := os.ReadDir(in.o.Root)
	if err != nil {
		in.log.Warn("ingest: looking for sessions left open", "error", err)
		return
	}
	settled := make(map[string]time.Time, len(in.settled))
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || in.seen(e.Name()) {
			continue
		}
		info, err := os.Lstat(filepath.Join(in.o.Root, e.Name(), store.ManifestName))
		if err != nil || time.Since(info.ModTime()) < in.o.LostContact {
			continue
		}
		if at, ok := in.settled[e.Name()]; ok && at.Equal(info.ModTime()) {
			settled[e.Name()] = at
			continue
		}
		m, err := store.ReadManifest(filepath.Join(in.o.Root, e.Name()))
		if err != nil || m.Ended != store.EndedRunning {
			settled[e.Name()] = info.ModTime()
			continue
		}
		if err := in.closeStale(e.Name(), m.Session); err != nil {
			in.log.Warn("ingest: closing a session left open", "folder", e.Name(), "error", err)
		}
	}
	in.settled = settled
	if err := in.home.RemoveFences(in.o.Root); err != nil {
		in.log.Warn("ingest: removing what guarded sessions that are gone", "error", err)
	}
}

// closeStale closes one, unless a shadow that is alive has it.
func (in *Ingest) closeStale(folder, session string) error {
	in.mu.Lock()
	owned := in.sources[session] != nil // as that of another JVM of the name
	in.mu.Unlock()
	if owned || in.member.OwnedByOther(session) && len(in.member.Elsewhere(session)) == 0 { // by one that uses this store
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if elsewhere := in.member.Elsewhere(session); len(elsewhere) > 0 {
		fence := in.home.Fence(folder, ownership.Epoch{})
		return fence.Close(func() error { return in.endFolder(folder, session, store.EndedElsewhere, elsewhere) })
	}
	l, err := in.member.Take(ctx, session)
	if l == nil {
		return err
	}
	defer l.Release(keepRow)
	fence := in.home.Fence(folder, l.Epoch())
	return fence.Do(func() error { return in.endFolder(folder, session, store.EndedLostContact, nil) })
}

// endFolder says in a manifest how its session ended.
func (in *Ingest) endFolder(folder, session, ended string, elsewhere []ownership.Piece) error {
	w, err := store.OpenWriter(in.o.Root, folder, session)
	if err != nil {
		return err
	}
	w.Manifest.Ended = ended
	addPieces(&w.Manifest, elsewhere)
	return w.CommitManifest()
}

func (in *Ingest) seen(folder string) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.known.has(folder)
}

// addPieces puts into m where other parts of its session may be.
func addPieces(m *store.Manifest, pieces []ownership.Piece) {
	for _, p := range pieces {
		m.AddPiece(store.Piece{Store: p.Store, Host: p.Host, Path: p.Path})
	}
}
