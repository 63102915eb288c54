package summary

import "stackagent/shadow/session"

// unlisted is nil where all threads are listed.
func unlisted(s *session.Session) func(id uint32) bool {
	if s.Unlisted() == 0 {
		return nil
	}
	return s.IsUnlisted
}

// threadRow is the id under which a thread's executions are told: its own, or that of
// the virtual threads together where there are too many to list.
func (b *builder) threadRow(id uint32) uint32 {
	if b.src.Unlisted != nil && b.src.Unlisted(id) {
		return virtualThreads
	}
	return id
}
