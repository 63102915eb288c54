package ownership

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	sweepInterval = time.Minute
	oldRow        = 24 * time.Hour // rows of shadows and sessions untouched for so long are removed
	// maxForget bounds the rows of sessions that have ended: the table has a size, and a full one takes no
	// heartbeat either.
	maxForget = 16 << 10
	// oldMarker is how long the table remembers that a row was removed, for shadows that were cut off. One that
	// was cut off for longer finds out when its compare-and-set fails.
	oldMarker = 10 * time.Minute
)

// watch follows the table. When it returns, all rows that existed are known.
func (m *Member) watch(ctx context.Context) error {
	w, err := m.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("ownership: watching the table of shadows: %w", err)
	}
	initial := make(chan struct{})
	m.done.Go(func() {
		defer func() { _ = w.Stop() }() // it ends with the connection at the latest
		known := false
		for {
			select {
			case <-ctx.Done():
				return
			case e, open := <-w.Updates():
				switch {
				case !open:
					return
				case e != nil:
					m.learn(e)
				case !known:
					known = true
					close(initial)
				}
			}
		}
	})
	select {
	case <-initial:
		return nil
	case <-time.After(2 * askTimeout):
		return fmt.Errorf("ownership: the table of shadows %s was not received within %v: %w", Bucket, 2*askTimeout, context.DeadlineExceeded)
	}
}

// learn takes a changed row. One that no shadow has written is ignored and reported.
func (m *Member) learn(e jetstream.KeyValueEntry) {
	var err error
	m.mu.Lock()
	if id, ok := strings.CutPrefix(e.Key(), shadowKey); ok {
		err = m.learnPeer(id, e)
	} else if name, ok := strings.CutPrefix(e.Key(), sessionKey); !ok {
		err = errors.New("its key is none of a shadow's")
	} else if e.Revision() > m.sessions[name].revision {
		err = m.learnSession(name, e)
	}
	m.mu.Unlock()
	if err != nil {
		m.o.Foreign(e.Key(), fmt.Errorf("%w (%s): %w", ErrForeignRow, e.Key(), err))
	}
}

// learnSession takes a session's row. The caller holds the lock.
func (m *Member) learnSession(name string, e jetstream.KeyValueEntry) error {
	l := m.leases[name]
	if l != nil && e.Revision() <= l.revision {
		l = nil // we have written it since
	}
	r, err := m.sessionRow(e)
	switch {
	case err != nil: // keep what was known: the owner of the session overwrites this
		m.sessions[name] = entry{row: m.sessions[name].row, revision: e.Revision(), made: e.Created()}
	case e.Operation() != jetstream.KeyValuePut:
		delete(m.sessions, name)
		if l != nil {
			err = errors.New("the row of a session that is ours was removed")
		}
	default:
		m.sessions[name] = entry{row: r, revision: e.Revision(), made: e.Created()}
	}
	switch {
	case l == nil:
	case err != nil && m.certainOfLocked(l):
		m.mend(l)
	case r.Owner != m.o.Home.ID:
		m.lose(l)
	}
	return err
}

// learnPeer takes a shadow's heartbeat. The caller holds the lock.
func (m *Member) learnPeer(id string, e jetstream.KeyValueEntry) error {
	h, err := heartbeatRow(e)
	old := m.peers[id]
	switch {
	case err != nil || id == m.o.Home.ID:
		return err
	case e.Operation() != jetstream.KeyValuePut:
		if old != nil && time.Since(old.seen) <= m.o.TTL {
			return errors.New("the row of a shadow that is alive was removed")
		}
		delete(m.peers, id)
	case old == nil || old.revision < e.Revision():
		m.peers[id] = &peer{heartbeat: h, revision: e.Revision(), seen: time.Now()}
	}
	return nil
}

// alive reports whether the shadow id may still store. The caller holds the lock. A shadow that has left may not, but
// only shadows of its store can reach what it stored: the others give it time for a restart.
func (m *Member) alive(id string, now time.Time) bool {
	p := m.peers[id]
	switch {
	case p == nil || now.Sub(p.seen) > m.o.TTL:
		return false
	case p.Closed && p.Store == m.o.Home.Store:
		return false
	}
	return true
}

// bury looks once more at a shadow that seems dead: the watch may have been late.
// The caller does not hold the lock.
func (m *Member) bury(ctx context.Context, id string) bool {
	e, err := m.kv.Get(ctx, shadowKey+id)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[id]
	if err == nil && (p == nil || e.Revision() > p.revision) {
		_ = m.learnPeer(id, e) // the watch reports what is wrong with it
		return !m.alive(id, time.Now())
	}
	return true
}

// tidy removes useless rows from time to time. It has its own goroutine: a long list must not delay a heartbeat.
func (m *Member) tidy(ctx context.Context) {
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		if m.certain() {
			m.sweep(ctx, time.Now())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sweep removes as many as it has time for; the next sweep does the rest.
func (m *Member) sweep(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, sweepInterval)
	defer cancel()
	for key, revision := range m.old(now) {
		if err := m.kv.Delete(ctx, key, jetstream.LastRevision(revision)); err != nil && !conflict(err) {
			return
		}
	}
	if kv, ok := m.kv.(interface {
		PurgeDeletes(context.Context, ...jetstream.KVPurgeOpt) error
	}); ok {
		_ = kv.PurgeDeletes(ctx, jetstream.DeleteMarkersOlderThan(oldMarker))
	}
}

// old lists the rows to remove, with the revision that was read.
func (m *Member) old(now time.Time) map[string]uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := map[string]uint64{}
	for id, p := range m.peers {
		if now.Sub(p.seen) > oldRow {
			list[shadowKey+id] = p.revision
		}
	}
	for name := range m.forget {
		if e, there := m.sessions[name]; !there || e.Owner != m.o.Home.ID {
			delete(m.forget, name)
		}
	}
	due := m.forgetBefore(now)
	for name, at := range m.forget {
		if !at.After(due) {
			list[sessionKey+name] = m.sessions[name].revision
		}
	}
	for name, e := range m.sessions {
		if m.leases[name] == nil && m.forget[name].IsZero() && m.ownerless(e) && now.Sub(e.made) > oldRow {
			list[sessionKey+name] = e.revision
		}
	}
	return list
}

// ownerless reports whether nobody renews or forgets a row: its owner is gone, or was this shadow before a restart.
func (m *Member) ownerless(e entry) bool {
	return e.Owner == m.o.Home.ID || m.peers[e.Owner] == nil
}

// forgetBefore is the time up to which rows are forgotten now: those that are due and, if there are too many, the
// oldest others.
func (m *Member) forgetBefore(now time.Time) time.Time {
	if len(m.forget) <= maxForget {
		return now
	}
	times := slices.SortedFunc(maps.Values(m.forget), time.Time.Compare)
	if at := times[len(times)-maxForget-1]; at.After(now) {
		return at
	}
	return now
}
