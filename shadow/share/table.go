package share

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	sweepInterval = time.Minute
	oldRow        = 24 * time.Hour // rows of shadows and sessions that nobody has touched for so long go
	// maxForget bounds the rows of sessions that come no more: the table has a size, and a full one takes no
	// heartbeat either.
	maxForget = 16 << 10
	// oldMarker is how long it stays in the table that a row was removed, for shadows that were cut off. One
	// that was for longer finds out when its compare-and-set fails.
	oldMarker = 10 * time.Minute
)

// watch follows the table; when it returns, what was there is known.
func (m *Member) watch(ctx context.Context) error {
	w, err := m.kv.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("share: watching the table of shadows: %w", err)
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
		return fmt.Errorf("share: the table of shadows %s is not told within %v: %w", Bucket, 2*askTimeout, context.DeadlineExceeded)
	}
}

// learn takes in a row that has changed.
func (m *Member) learn(e jetstream.KeyValueEntry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	gone := e.Operation() != jetstream.KeyValuePut
	if id, ok := strings.CutPrefix(e.Key(), shadowKey); ok {
		m.learnPeer(id, e, gone)
		return
	}
	name, ok := strings.CutPrefix(e.Key(), sessionKey)
	if !ok || e.Revision() <= m.sessions[name].revision {
		return
	}
	var r row
	if gone || json.Unmarshal(e.Value(), &r) != nil || len(r.Pieces) > maxPieces {
		delete(m.sessions, name)
	} else {
		m.sessions[name] = entry{row: r, revision: e.Revision(), made: e.Created()}
	}
	if l := m.leases[name]; l != nil && r.Owner != m.o.Home.ID && e.Revision() > l.revision {
		m.lose(l)
	}
}

// learnPeer takes in a shadow's heartbeat; with the lock held.
func (m *Member) learnPeer(id string, e jetstream.KeyValueEntry, gone bool) {
	if id == m.o.Home.ID {
		return
	}
	p := &peer{revision: e.Revision(), seen: time.Now()}
	if gone || json.Unmarshal(e.Value(), &p.heartbeat) != nil {
		delete(m.peers, id)
		return
	}
	if old := m.peers[id]; old == nil || old.revision < p.revision {
		m.peers[id] = p
	}
}

// alive tells whether the shadow id may still store; with the lock held. One that said goodbye may not any
// more, but what it stored is only within reach of those that use the same store: the others leave it the
// time of a restart.
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

// bury looks once more at a shadow that seems dead: the watch may only have
// been late. With the lock not held.
func (m *Member) bury(ctx context.Context, id string) bool {
	e, err := m.kv.Get(ctx, shadowKey+id)
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.peers[id]
	if err == nil && (p == nil || e.Revision() > p.revision) {
		m.learnPeer(id, e, false)
		return !m.alive(id, time.Now())
	}
	return true
}

// tidy removes rows that are of no use any more, now and then. It has a goroutine of its own: a long list of
// them must not hold up a heartbeat.
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

// sweep does so once; what it has no time for, the next one does.
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

// old lists the rows to remove, with the revision that was looked at.
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

// ownerless tells whether nobody renews or forgets a row: its owner is gone, or was this shadow in an earlier
// life.
func (m *Member) ownerless(e entry) bool {
	return e.Owner == m.o.Home.ID || m.peers[e.Owner] == nil
}

// forgetBefore is the time up to which rows to be forgotten go now: those whose time has come, and the first of
// the others where there are too many.
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
