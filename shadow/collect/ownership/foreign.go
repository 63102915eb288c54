package ownership

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Only shadows may write the table on a bus that is set up well. Rows of anybody else must not move a session from
// one shadow to another and so split it over two stores. They are ignored, and the owner of the session writes its
// row again.

// maxMends bounds the rows that wait to be written again. Further ones are written when they are renewed.
const maxMends = 1 << 12

// sessionRow reads a session's row; a removed row is empty. The caller holds the lock.
func (m *Member) sessionRow(e jetstream.KeyValueEntry) (row, error) {
	if e.Operation() != jetstream.KeyValuePut {
		return row{}, nil
	}
	var r row
	if err := json.Unmarshal(e.Value(), &r); err != nil {
		return row{}, err
	}
	if err := r.check(); err != nil {
		return row{}, err
	}
	if p, store := m.peers[r.Owner], r.Pieces[len(r.Pieces)-1].Store; p != nil && p.Store != store {
		return row{}, fmt.Errorf("its owner uses the store %s, not %s", p.Store, store)
	}
	return r, nil
}

func (r *row) check() error {
	if !validID(r.Owner) {
		return errors.New("it names no owner")
	}
	if len(r.Pieces) == 0 || len(r.Pieces) > maxPieces {
		return fmt.Errorf("it names %d stores, not 1 to %d", len(r.Pieces), maxPieces)
	}
	for _, p := range r.Pieces {
		if !validID(p.Store) {
			return errors.New("it names a store that is none")
		}
	}
	return nil
}

// heartbeatRow reads a shadow's row.
func heartbeatRow(e jetstream.KeyValueEntry) (heartbeat, error) {
	var h heartbeat
	if e.Operation() != jetstream.KeyValuePut {
		return h, nil
	}
	if err := json.Unmarshal(e.Value(), &h); err != nil {
		return h, err
	}
	if !validID(h.Store) {
		return h, errors.New("it names no store")
	}
	return h, nil
}

func validID(id string) bool {
	raw, err := hex.DecodeString(id)
	return err == nil && len(raw) == idBytes
}

// mend has a lease's row written again. The caller holds the lock.
func (m *Member) mend(l *Lease) {
	select {
	case m.mends <- l:
	default:
	}
}

// overwritten reports whether anybody but a shadow has overwritten or removed the row of a session that is
// certainly ours, and how to write it again. While that is certain, no shadow can have claimed it.
func (m *Member) overwritten(ctx context.Context, l *Lease) (write func(context.Context, []byte) (uint64, error), foreign bool) {
	e, err := m.kv.Get(ctx, sessionKey+l.Session)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return func(ctx context.Context, value []byte) (uint64, error) {
			return m.kv.Create(ctx, sessionKey+l.Session, value)
		}, m.certainOf(l)
	}
	if err != nil {
		return nil, false
	}
	m.mu.Lock()
	_, err = m.sessionRow(e)
	m.mu.Unlock()
	return func(ctx context.Context, value []byte) (uint64, error) {
		return m.kv.Update(ctx, sessionKey+l.Session, value, e.Revision())
	}, err != nil && m.certainOf(l)
}
