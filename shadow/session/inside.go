package session

import (
	"fmt"

	"stackagent/shadow/store"
)

// InsideMonitors are the monitors that the agent read inside the JVM, by their ids.
func (s *Session) InsideMonitors() (map[uint32]store.InsideMonitor, error) {
	all := map[uint32]store.InsideMonitor{}
	bad, err := s.folder.ReadInsideMonitors(func(r *store.InsideMonitor) { all[r.ID] = *r })
	return all, s.ofInside(bad, err)
}

// InsideSamples calls f with the values of these monitors, of each monitor in the order of time.
func (s *Session) InsideSamples(f func(*store.InsideSample)) error {
	return s.ofInside(s.folder.ReadInsideSamples(f))
}

func (s *Session) ofInside(bad []*store.PartError, err error) error {
	s.warnAll(bad)
	if err != nil {
		return fmt.Errorf("reading the monitors of session %s: %w", s.Manifest.Session, err)
	}
	return nil
}
