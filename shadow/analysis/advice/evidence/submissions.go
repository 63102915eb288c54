package evidence

import (
	"strings"

	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/unit"
)

// maxParts is the most submissions by tasks that are kept. A session with more does not say who submitted its tasks.
const maxParts = 1 << 20

// submissions are by whom tasks were submitted. Fork/join pools are left out of those inside tasks: their workers run what
// they submit themselves.
type submissions struct {
	list  []submitted
	of    map[uint64]int32 // by task: the latest in list
	parts int              // of list, by tasks
}

// submitted is a task that was submitted.
type submitted struct {
	outer uint64 // the task that submitted it; 0: none did
	by    uint32 // the thread that submitted it
}

const noPart = wire.Rejected | wire.NoSubmission | wire.Forked | wire.Started | wire.Scheduled | wire.Inner

// newSubmissions reads the submissions; nil if too many are inside tasks.
func newSubmissions(s *session.Session) (*submissions, error) {
	v := &submissions{of: map[uint64]int32{}}
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			outer, executor := c.OuterTaskID[i], c.Executor[i]
			if executor != 0 && wire.SubmissionFlags(c.Flags[i])&noPart == 0 && (outer == 0 || !forks(s.ExecutorByID(executor))) {
				v.add(id, submitted{by: c.Thread[i], outer: outer})
			}
		}
		return nil
	})
	if err != nil || v.parts > maxParts {
		return nil, err
	}
	return v, nil
}

// forks reports whether an executor is a fork/join pool, or not known.
func forks(e *session.Executor) bool {
	return e == nil || strings.HasPrefix(e.Class, "java.util.concurrent.ForkJoinPool")
}

// add adds a submission. If a task is submitted several times outside of tasks, only the latest counts.
func (v *submissions) add(task uint64, x submitted) {
	switch n, again := v.of[task]; {
	case x.outer == 0 && again && v.list[n].outer == 0:
		v.list[n] = x
		return
	case x.outer != 0:
		v.parts++
	}
	if v.parts <= maxParts && len(v.list)-v.parts < maxParts {
		v.of[task] = int32(len(v.list))
		v.list = append(v.list, x)
	}
}

// ofUnit is the submission that a unit ran, or nil.
func (v *submissions) ofUnit(x *unit.Unit) *submitted {
	if v != nil {
		for _, task := range [...]uint64{x.Named, x.Root} {
			if n, ok := v.of[task]; ok {
				return &v.list[n]
			}
		}
	}
	return nil
}

// ranAtOnce reports whether a unit ran inside its own submission: on the submitting
// thread, inside the submitting task.
func (v *submissions) ranAtOnce(x *unit.Unit) bool {
	at := v.ofUnit(x)
	if at == nil || at.by != x.Thread || x.Inside != (at.outer != 0) { // a thread takes nothing from a queue between two of its submissions
		return false
	}
	return at.outer == 0 || at.outer == x.Outer
}
