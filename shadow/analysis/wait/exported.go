package wait

import (
	"fmt"
	"slices"
	"strings"

	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
	"stackagent/shadow/store"
)

// Namer says what the waits of a session were for, to those who take them one by one elsewhere.
type Namer struct{ t *tables }

// NewNamer reads what names them.
func NewNamer(s *session.Session) (*Namer, error) {
	reader, err := unit.Of(s)
	if err != nil {
		return nil, err
	}
	t := newTables(s, reader)
	if err := t.readObjects(); err != nil {
		return nil, fmt.Errorf("waits of session %s: %w", s.Manifest.Session, err)
	}
	return &Namer{t}, nil
}

// Of is what a wait was for.
func (n *Namer) Of(r *store.Wait) What {
	what, _ := n.t.whatOf(r.Kind, n.t.object(r), r.Blocker, r.Thread, r.Within, r.Holder != 0, uint8(r.Flags)&open == 0)
	return n.t.whats[what]
}

// Awaited is the class of what a wait was for. For a condition of a queue, as in ArrayBlockingQueue.take, it is the queue; room: it was for room in
// a full one.
func (n *Namer) Awaited(r *store.Wait) (class string, room bool) {
	class = n.t.blockers[r.Blocker].Class
	if IsCondition(class) {
		if name, method, _ := strings.Cut(n.Of(r).Class, "."); HoldsElements(name) {
			return name, strings.HasPrefix(method, "put") || strings.HasPrefix(method, "offer")
		}
	}
	return class, false
}

// OfSum is what waits were for that have no record of their own.
func (n *Namer) OfSum(r *store.WaitSum) What {
	what, _ := n.t.whatOf(r.Kind, "", r.Blocker, r.Thread, r.Within, false, false)
	return n.t.whats[what]
}

// reasons are what waits are for by their own records.
var reasons = []string{ForMonitor, ForSynchronizer, ForIO, ForSleep, ForQueue, ForOther}

// exported is what waits were for in the session that was exported, and that this one was made of; false: no session says so.
func exported(kind string, b *store.Blocker) (What, bool) {
	return What{For: b.For, Kind: kind, Class: b.Shown, Blocker: b.Class, Lock: b.Lock}, b.Shown != "" && slices.Contains(reasons, b.For)
}
