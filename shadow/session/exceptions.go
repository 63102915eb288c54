package session

import (
	"stackagent/internal/wire"
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
