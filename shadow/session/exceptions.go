package session

import (
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
	all := map[uint32]map[string]int64{}
	err := s.eachSum("exceptions", func(r *store.Context, frames []*Site, sum *contextSum) {
		if len(frames) == 0 || frames[0] == nil {
			return
		}
		if all[r.Class] == nil {
			all[r.Class] = map[string]int64{}
		}
		all[r.Class][frames[0].Class] += scaled(sum.count, 1)
	}, store.ContextThrown)
	return all, err
}
