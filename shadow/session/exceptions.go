package session

import (
	"fmt"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Asks is what became of the exceptions by which executions ended.
type Asks struct {
	Complete  bool     // it is known of those that are in neither set that nobody asked for them
	Asked     *TaskSet // somebody was given it
	Cancelled *TaskSet // its future was cancelled before, and does not keep it
	Forgotten *TaskSet // it is not known
}

// Asks reads who was asked for the exceptions of executions that ended by one.
// Sessions of older agents have an empty one.
func (s *Session) Asks() (*Asks, error) {
	a := &Asks{Asked: NewTaskSet(), Cancelled: NewTaskSet(), Forgotten: NewTaskSet()}
	const both = wire.Asked | wire.Forgotten
	err := s.Submissions(func(c *SubmissionChunk) error {
		for i, id := range c.TaskID {
			flags := wire.SubmissionFlags(c.Flags[i])
			if flags&wire.Cancelled != 0 {
				a.Cancelled.Add(id)
			}
			switch flags & both {
			case both:
				a.Complete = true
			case wire.Asked:
				a.Asked.Add(id)
			case wire.Forgotten:
				a.Forgotten.Add(id)
			}
		}
		return nil
	})
	if h := s.Manifest.Submissions; h == nil || h.Lost+h.InGaps > 0 {
		a.Complete = false // what was lost may be that somebody asked
	}
	return a, err
}

// Thrown are the classes of the exceptions by which executions of a class of tasks ended, and how many of these were looked at: at most 50 of a class.
func (s *Session) Thrown() (map[uint32]map[string]int64, error) {
	frames, err := s.frames()
	if err != nil {
		return nil, err
	}
	sums, err := s.contextSums()
	if err != nil {
		return nil, err
	}
	all := map[uint32]map[string]int64{}
	bad, err := s.folder.ReadContexts(func(r *store.Context) {
		sum, list := sums[r.ID], framesOf(frames, r)
		if r.Kind != store.ContextThrown || sum == nil || len(list) == 0 || list[0] == nil {
			return
		}
		delete(sums, r.ID) // the last row of an id counts, and all are the same
		if all[r.Class] == nil {
			all[r.Class] = map[string]int64{}
		}
		all[r.Class][list[0].Class] += scaled(sum.count, 1)
	})
	s.warnAll(bad)
	if err != nil {
		return nil, fmt.Errorf("reading the exceptions of session %s: %w", s.Manifest.Session, err)
	}
	return all, nil
}
