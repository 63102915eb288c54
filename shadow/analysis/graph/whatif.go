package graph

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"stackagent/granularity/graph"
	"stackagent/granularity/replay"
	"stackagent/internal/units"
)

// mostNotKnown is the share of the critical path that may be not known: a change may save all of it or nothing.
const mostNotKnown = 0.2

// mostOthers is the share of the critical path that others may have had the CPUs for: how much they take of another run is chance.
const mostOthers = 0.2

// Predict replays the session with a change. If the prediction has a Why, Predicted is graph.Never.
func (s *Session) Predict(c replay.Change) (*replay.Prediction, error) {
	recorded, _ := s.Length(s.Recorded)
	p, err := replay.Predict(s.Graph, recorded, c)
	if err != nil {
		return nil, fmt.Errorf("what if: %w", err)
	}
	if p.Why == nil {
		p.Why = s.whyNot(&c)
	}
	if p.Why == nil {
		p.Why = s.whyNotChanged(p)
	}
	if p.Why != nil {
		p.Predicted = graph.Never
	}
	return p, nil
}

// whyNot is why the graph cannot answer, although its replay takes as long as the run; nil: it can.
func (s *Session) whyNot(c *replay.Change) error {
	unknown, others := s.shares()
	if unknown > mostNotKnown {
		return fmt.Errorf("what %.0f %% of the critical path waited for is not known (shadow path --by part)", 100*unknown)
	}
	if others > mostOthers {
		return fmt.Errorf("other programs had the CPUs for %.0f %% of the critical path", 100*others)
	}
	if err := s.whyNotFree(c.Free); err != nil {
		return err
	}
	if err := s.whyNotSplit(c.Split); err != nil {
		return err
	}
	if len(c.Pauses) > 0 {
		return s.whyNotPauses(c.Pauses)
	}
	if c.Unpin {
		return s.whyNotUnpinned()
	}
	return nil
}

// whyNotChanged is why the replay with the change says nothing: nothing says what it waits for most of the time. That could be sooner, too.
func (s *Session) whyNotChanged(p *replay.Prediction) error {
	changed := *s
	changed.Graph, changed.Recorded = p.Graph, p.Schedule
	if unknown := changed.Unexplained(); unknown > mostNotKnown {
		return fmt.Errorf("with the change, %.0f %% of the critical path would be waits of which nothing says what they are for: as long as recorded, or shorter", 100*unknown)
	}
	return nil
}

// A lock for which threads waited during such a share of the run was free for the rest, and how long threads had it then is not
// recorded. If it is less nobody is held up much, if it is more the graph has nearly all times at which it was passed on.
const (
	sometimesLocked = 0.05
	alwaysLocked    = 0.8
)

// whyNotFree is why the graph cannot tell what it saves not to wait for some locks: threads come sooner to another one.
func (s *Session) whyNotFree(free map[uint32]bool) error {
	if len(free) == 0 {
		return nil
	}
	freed := map[string]bool{}
	for class := range free {
		freed[s.Classes[class]] = true
	}
	length, _ := s.Length(s.Recorded)
	for _, class := range slices.Sorted(maps.Keys(s.locked)) {
		if share := float64(s.locked[class]) / float64(max(length, 1)); !freed[class] && share >= sometimesLocked && share < alwaysLocked {
			return fmt.Errorf("threads also waited for %s, during %s of the run; how long they have it when nobody waits is not recorded: it may hold them up instead", class, units.FormatPercent(share))
		}
	}
	return nil
}

// mostBeside is the share of the run that the collector may have computed beside the program. Which collections that was for is not
// recorded.
const mostBeside = 0.1

// othersPauses is the share of the run that other pauses may take. When the collector runs, and for how long, depends on
// when it ran before: without some collections the others are not the same.
const othersPauses = 0.1

func (s *Session) whyNotPauses(gone map[uint32]bool) error {
	if at := slices.Index(s.Pauses, Safepoint); len(gone) == 1 && at > 0 && gone[uint32(at)] {
		return nil // the collector works as before without them
	}
	others := units.Ns(0)
	for i, n := range s.paused {
		if !gone[uint32(i)] {
			others += n
		}
	}
	length, _ := s.Length(s.Recorded)
	if share := float64(s.collected) / float64(max(length, 1)); share > mostBeside {
		return fmt.Errorf("the collector computed beside the program for %s of the run, and would not for these collections", units.FormatPercent(share))
	}
	if share := float64(others) / float64(max(length, 1)); share > othersPauses {
		return fmt.Errorf("other pauses of the collector took %s of the run: they would be different ones", units.FormatPercent(share))
	}
	return nil
}

// mostUnpinned is the share of the time pinned that may be without a record of when it was.
const mostUnpinned = 0.1

func (s *Session) whyNotUnpinned() error {
	switch p := s.pins; {
	case !p.carriers:
		return errors.New("no virtual thread ran on a carrier that was recorded")
	case float64(p.all-p.recorded) > mostUnpinned*float64(p.all):
		return fmt.Errorf("virtual threads were pinned for %s in all; when they were is recorded of %s only",
			units.FormatNs(p.all), units.FormatNs(p.recorded))
	}
	return nil
}

// AllPauses is the reason of all collections.
const AllPauses = "all"

// PausesFor are the numbers of the waits for collections for a reason.
func (s *Session) PausesFor(reason string) (map[uint32]bool, error) {
	found := map[uint32]bool{}
	for i, name := range s.Pauses {
		if i > 0 && (name == reason || reason == AllPauses && name != Safepoint) {
			found[uint32(i)] = true
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("no thread waited for a collection for the reason %q", reason)
	}
	return found, nil
}
