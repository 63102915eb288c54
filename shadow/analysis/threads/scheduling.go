package threads

import (
	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/session"
	"stackagent/shadow/store"
)

// Scheduling is how a virtual thread was scheduled.
type Scheduling struct {
	Mounts, Changes           uint64
	FirstCarrier, LastCarrier *session.Thread // nil: not known
	Pins                      uint64
	Pinned, Away              units.Ns
	Ready                     units.Ns // or NotMeasured
}

// AddScheduling sets how virtual threads were scheduled in their rows.
func AddScheduling(s *session.Session, rows []Row, list []summary.ThreadRow) error {
	byID := map[uint32]*Row{}
	for i := range list {
		if list[i].Virtual {
			byID[list[i].ID] = &rows[i]
		}
	}
	return s.VirtualThreads(func(v *store.VirtualThread) {
		r := byID[v.Thread]
		if r == nil {
			return
		}
		t := r.Scheduling
		if t == nil {
			t = &Scheduling{FirstCarrier: s.ThreadByID(v.First)}
			r.Scheduling = t
		}
		t.Mounts, t.Changes, t.Pins = t.Mounts+v.Mounts, t.Changes+v.Changes, t.Pins+v.Pins
		t.Pinned, t.Away, t.LastCarrier = t.Pinned+v.PinnedNs, t.Away+v.AwayNs, s.ThreadByID(v.Last)
		if v.ReadyNs == nil || !t.Ready.Measured() {
			t.Ready = units.NotMeasured
		} else {
			t.Ready += *v.ReadyNs
		}
	})
}
