package ownership

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"
)

// eager is how long a waiting session is left to shadows with fewer sessions.
const eager = 1500 * time.Millisecond

// Lease is the right to store a session until it is lost.
type Lease struct {
	Session string
	// Elsewhere are other stores that may hold parts of the session.
	Elsewhere []Piece
	// Taken says that another shadow owned the session before.
	Taken bool

	m        *Member
	epoch    Epoch
	revision uint64 // of the row; guarded by m.mu
	row      row
	value    []byte // of the row
	proved   uint64 // Member.proofs, when the row was written last; guarded by m.mu
	apart    uint64
	lost     chan struct{}
}

// Epoch orders the owners of the session.
func (l *Lease) Epoch() Epoch { return l.epoch }

// Lost is closed when another shadow has the session.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Check returns nil while the session is certainly ours, ErrLost when it is
// another's, and ErrUncertain when the bus has been silent for too long.
func (l *Lease) Check() error {
	select {
	case <-l.lost:
		return fmt.Errorf("ownership: session %s: %w", l.Session, ErrLost)
	default:
	}
	if !l.m.certainOf(l) {
		return fmt.Errorf("ownership: session %s: %w", l.Session, ErrUncertain)
	}
	return nil
}

// Apart is the sequence number in the stream up to which owners before, with other stores, may have stored
// messages that they did not acknowledge; 0: none.
func (l *Lease) Apart() uint64 {
	l.m.mu.Lock()
	defer l.m.mu.Unlock()
	return l.apart
}

// SetApart raises Apart, for this owner and later ones.
func (l *Lease) SetApart(ctx context.Context, seq uint64) error {
	l.m.mu.Lock()
	if seq <= l.apart {
		l.m.mu.Unlock()
		return nil
	}
	l.apart = seq
	l.row.Apart = seq
	l.value, _ = json.Marshal(l.row) // plain fields: it does not fail
	l.m.mu.Unlock()
	return l.renew(ctx)
}

// Release gives up a session without batches. The row stays for keep, so that late
// batches find the same store.
func (l *Lease) Release(keep time.Duration) {
	m := l.m
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leases[l.Session] == l {
		delete(m.leases, l.Session)
		m.forget[l.Session] = time.Now().Add(keep)
	}
}

// rewrites is how often a row is written over what others have written, before the next heartbeat: they may write it
// again meanwhile.
const rewrites = 10

// renew rewrites the lease's row, which works only while the lease is ours.
func (l *Lease) renew(ctx context.Context) error {
	m := l.m
	m.mu.Lock()
	revision, value, proofs := l.revision, l.value, m.proofs
	m.mu.Unlock()
	revision, err := m.kv.Update(ctx, sessionKey+l.Session, value, revision)
	foreign := false
	for n := 0; conflict(err) && n < rewrites; n++ {
		var over func(context.Context, []byte) (uint64, error)
		if over, foreign = m.overwritten(ctx, l); !foreign {
			break
		}
		revision, err = over(ctx, value)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case conflict(err) && !foreign:
		m.lose(l)
		return fmt.Errorf("ownership: session %s: %w", l.Session, ErrLost)
	case err != nil:
		return fmt.Errorf("ownership: renewing the lease of session %s: %w", l.Session, err)
	}
	l.revision, l.proved = revision, proofs
	return nil
}

// lose ends a lease. The caller holds the lock.
func (m *Member) lose(l *Lease) {
	select {
	case <-l.lost:
	default:
		close(l.lost)
	}
	if m.leases[l.Session] == l {
		delete(m.leases, l.Session)
	}
}

// OwnedByOther reports whether a shadow that is alive has the session.
func (m *Member) OwnedByOther(session string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	e, ok := m.sessions[session]
	return ok && e.Owner != m.o.Home.ID && m.alive(e.Owner, time.Now())
}

// Elsewhere are the other stores in which a session continued.
func (m *Member) Elsewhere(session string) []Piece {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.sessions[session]
	if e.Owner == m.o.Home.ID {
		return nil
	}
	return m.others(e.Pieces)
}

// others leaves our own store out.
func (m *Member) others(list []Piece) []Piece {
	return slices.DeleteFunc(slices.Clone(list), func(p Piece) bool { return p.Store == m.o.Home.Store })
}

// Claim takes waiting sessions that no living shadow has: at most room, and no more
// than this shadow's share while others may still take theirs. Sessions that fail
// are tried again with the next call.
func (m *Member) Claim(ctx context.Context, waiting []string, room int) ([]*Lease, error) {
	if !m.certain() {
		return nil, ErrUncertain
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	var got []*Lease
	for _, c := range m.choose(waiting) {
		if len(got) >= room {
			break
		}
		if c.known && c.row.Owner != "" && c.row.Owner != m.o.Home.ID && !m.bury(ctx, c.row.Owner) {
			continue
		}
		l, err := m.claim(ctx, c)
		if err != nil {
			return got, err
		}
		if l != nil {
			got = append(got, l)
		}
	}
	return got, nil
}

// Take claims one session that no living shadow has, without leaving it to others;
// nil if some shadow has it.
func (m *Member) Take(ctx context.Context, session string) (*Lease, error) {
	m.mu.Lock()
	e, known := m.sessions[session]
	taken := m.leases[session] != nil || known && e.Owner != m.o.Home.ID && m.alive(e.Owner, time.Now())
	m.mu.Unlock()
	if taken || known && e.Owner != "" && e.Owner != m.o.Home.ID && !m.bury(ctx, e.Owner) {
		return nil, nil
	}
	return m.claim(ctx, candidate{name: session, row: e, known: known})
}

// candidate is a session to claim, with the row that showed it to be free. The claim
// holds only if that is still the row.
type candidate struct {
	name  string
	row   entry // its owner is "" when there was none
	known bool
	hash  uint64
}

// choose lists what this shadow should try to claim now, in its own order, so
// that two shadows seldom try the same.
func (m *Member) choose(waiting []string) []candidate {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	var mine, free, late []candidate
	saw := make(map[string]time.Time, len(waiting))
	for _, name := range waiting {
		if m.leases[name] != nil {
			continue
		}
		e, known := m.sessions[name]
		c := candidate{name: name, row: e, known: known, hash: m.hash(name)}
		if known && e.Owner == m.o.Home.ID {
			mine = append(mine, c)
			continue
		}
		if known && m.alive(e.Owner, now) {
			continue
		}
		saw[name] = now
		if first, waits := m.firstSaw[name]; waits {
			saw[name] = first
		}
		if now.Sub(saw[name]) > eager {
			late = append(late, c)
		} else {
			free = append(free, c)
		}
	}
	m.firstSaw = saw
	slices.SortFunc(free, func(a, b candidate) int { return cmp.Compare(a.hash, b.hash) })
	slices.SortFunc(late, func(a, b candidate) int { return saw[a.name].Compare(saw[b.name]) }) // if there is little room, the oldest go first
	free = free[:min(len(free), m.share(len(free), now))]
	return append(append(mine, late...), free...)
}

// Alive is the number of shadows that share the bus, this one included.
func (m *Member) Alive() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, now := 1, time.Now()
	for id, p := range m.peers {
		if id != m.o.Home.ID && !p.Closed && m.alive(id, now) {
			n++
		}
	}
	return n
}

// share is how many of n free sessions are ours to take.
func (m *Member) share(n int, now time.Time) int {
	live, total := 1, len(m.leases)+n
	for id, p := range m.peers {
		if !p.Closed && m.alive(id, now) {
			live++
			total += p.Sessions
		}
	}
	return max((total+live-1)/live-len(m.leases), 0)
}

func (m *Member) hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	h.Write([]byte(m.o.Home.ID))
	return h.Sum64()
}

// claim writes our name into the session's row; nil: another one was faster.
func (m *Member) claim(ctx context.Context, c candidate) (*Lease, error) {
	old, known := c.row, c.known
	here := Piece{Store: m.o.Home.Store, Host: m.host, Path: m.o.Path}
	elsewhere := m.others(old.Pieces)
	if len(elsewhere) >= maxPieces {
		elsewhere = elsewhere[1:]
	}
	l := &Lease{Session: c.name, m: m, lost: make(chan struct{}), Elsewhere: elsewhere, Taken: known && old.Owner != "" && old.Owner != m.o.Home.ID}
	r := row{Owner: m.o.Home.ID, Pieces: append(slices.Clone(elsewhere), here), Apart: old.Apart}
	l.row, l.apart = r, r.Apart
	l.value, _ = json.Marshal(r) // plain fields: it does not fail
	m.mu.Lock()
	l.proved = m.proofs // before the row is written: what happens meanwhile has to be proved again
	m.mu.Unlock()
	var err error
	if known {
		l.revision, err = m.kv.Update(ctx, sessionKey+c.name, l.value, old.revision)
	} else {
		l.revision, err = m.kv.Create(ctx, sessionKey+c.name, l.value)
	}
	if conflict(err) {
		m.refresh(ctx, c.name)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ownership: claiming session %s: %w", c.name, err)
	}
	l.epoch = Epoch{Bucket: m.epoch, Revision: l.revision}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sessions[c.name] = entry{row: r, revision: l.revision, made: time.Now()}
	m.leases[c.name] = l
	delete(m.forget, c.name)
	delete(m.firstSaw, c.name)
	return l, nil
}

// refresh asks for a row that differs from what the watch reported.
func (m *Member) refresh(ctx context.Context, name string) {
	if e, err := m.kv.Get(ctx, sessionKey+name); err == nil {
		m.learn(e)
		return
	}
	m.mu.Lock()
	delete(m.sessions, name)
	m.mu.Unlock()
}
