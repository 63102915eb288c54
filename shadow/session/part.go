package session

import (
	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// restrict makes a session of a part of it: its manifest promises what the part has.
func (s *Session) restrict(only *Batches) error {
	if err := s.folder.Within(only.From, only.To, only.LookBack, only.Loose); err != nil {
		return err
	}
	m := &s.Manifest
	m.Summarised = store.Counts{} // counted by countSummarised
	m.Stored = store.Counts{}
	rows := map[string]uint64{}
	for t := range store.Tables() {
		n, bad := s.folder.Rows(t)
		if len(bad) > 0 {
			return bad[0]
		}
		if n > 0 {
			rows[t.String()] = uint64(n)
		}
	}
	m.Stored.Executions, m.Stored.Creations = rows[store.Executions.String()], rows[store.Creations.String()]
	m.Rows = rows
	m.Balance = nil // of the whole session
	return nil
}

// Begins is when what the folder holds begins: the start of the session, or of a later piece about the time of its first batch.
func (s *Session) Begins() units.MonoNs {
	m := &s.Manifest
	if len(m.Pieces) == 0 || len(m.Sequences) == 0 || m.Sequences[0][0] == 1 {
		return m.StartNs
	}
	if clock := s.folder.Clock(); len(clock) > 0 {
		return max(m.StartNs, clock[0].Mono)
	}
	return m.StartNs
}
