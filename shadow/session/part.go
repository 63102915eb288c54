package session

import "stackagent/shadow/store"

// restrict makes a session of a part of it: its manifest promises what the part has.
func (s *Session) restrict(only *Batches) error {
	if err := s.folder.Within(only.From, only.To, only.LookBack); err != nil {
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
