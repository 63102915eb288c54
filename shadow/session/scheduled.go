package session

import (
	"fmt"

	"stackagent/shadow/store"
)

// VirtualThreads calls f with how each virtual thread was scheduled, or each
// group of them that was told together (Thread 0), in the order of the batches.
// Sessions without virtual threads, or of agents that do not tell, have none.
func (s *Session) VirtualThreads(f func(*store.VirtualThread)) error {
	bad, err := s.folder.ReadVirtualThreads(f)
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading how the virtual threads of session %s were scheduled: %w", s.Manifest.Session, err)
	}
	return nil
}
