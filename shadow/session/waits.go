package session

import (
	"fmt"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Waits calls f with each wait that was recorded by itself, in the order of the batches. Sessions of older agents, and
// those with wait=off, have none.
func (s *Session) Waits(f func(*store.Wait)) error {
	return s.ofWaits(s.folder.ReadWaits(f))
}

// WaitSums calls f with the sums of the waits that are not in Waits. Rows add up.
func (s *Session) WaitSums(f func(*store.WaitSum)) error {
	return s.ofWaits(s.folder.ReadWaitSums(f))
}

// Blockers are the classes for whose objects threads waited, by their ids.
func (s *Session) Blockers() (map[uint32]store.Blocker, error) {
	all := map[uint32]store.Blocker{}
	err := s.ofWaits(s.folder.ReadBlockers(func(r *store.Blocker) { all[r.ID] = *r }))
	return all, err
}

// WaitStack is where a thread waited for long.
type WaitStack struct {
	Frames []*Site // innermost first, nil for a frame that is not known
	Near   bool    // they end with the program's nearest frame; of most waits at a place the agent looks no further
}

// WaitContexts are the stacks of long waits, by store.Wait.Context.
func (s *Session) WaitContexts() (map[uint32]WaitStack, error) {
	frames, err := s.frames()
	if err != nil {
		return nil, err
	}
	all := map[uint32]WaitStack{}
	err = s.ofWaits(s.folder.ReadContexts(func(r *store.Context) {
		if r.Kind == store.ContextWait {
			all[r.ID] = WaitStack{framesOf(frames, r), r.Cut && len(r.Frames) <= wire.MaxNearFrames}
		}
	}))
	return all, err
}

func (s *Session) ofWaits(bad []*store.PartError, err error) error {
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading the waits of session %s: %w", s.Manifest.Session, err)
	}
	return nil
}
