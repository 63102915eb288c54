package evidence

import (
	"strings"

	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/session"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/session/unit"
)

// maxParts is the most submissions by tasks that are kept. A session with more does not say who submitted its tasks.
const maxParts = 1 << 20

// submissions are by whom tasks were submitted, and to which pool. Fork/join pools are left out of those inside tasks: their workers run what
// they submit themselves.
type submissions struct {
	list  []submitted
	of    map[uint64]int32 // by task: the latest in list
	parts int              // of list, by tasks
}

// submitted is a task that was submitted.
type submitted struct {
	at    units.MonoNs
	pool  string
	outer uint64 // the task that submitted it; 0: none did
	by    uint32 // the thread that submitted it
	begun bool
}

const noPart = wire.Rejected | wire.NoSubmission | wire.Forked | wire.Started | wire.Scheduled | wire.Inner

// newSubmissions reads the submissions; nil if too many are inside tasks.
func newSubmissions(s *session.Session, x *callsite.Index) (*submissions, error) {
	v := &submissions{of: map[uint64]int32{}}
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			outer, executor := c.OuterTaskID[i], c.Executor[i]
			if executor != 0 && wire.SubmissionFlags(c.Flags[i])&noPart == 0 && (outer == 0 || !forks(s.ExecutorByID(executor))) {
				v.add(id, submitted{at: c.AtNs[i], by: c.Thread[i], outer: outer, pool: x.ExecutorLabel(executor)})
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

// unit adds the next unit of a thread.
func (v *submissions) unit(x *unit.Unit, pool string) {
	switch at := v.ofUnit(x); {
	case at == nil:
	case at.outer == 0:
		at.begun = true
	default:
		at.pool = pool
	}
}

// find is the index of the submission that a unit ran; -1: none.
func (v *submissions) find(x *unit.Unit) int32 {
	if v != nil {
		for _, task := range [...]uint64{x.Named, x.Root} {
			if n, ok := v.of[task]; ok {
				return n
			}
		}
	}
	return -1
}

// ofUnit is the submission that a unit ran, or nil.
func (v *submissions) ofUnit(x *unit.Unit) *submitted {
	if n := v.find(x); n >= 0 {
		return &v.list[n]
	}
	return nil
}

// ranAtOnce reports whether a unit ran inside its own submission: on the submitting
// thread, inside the submitting task. Ask before the unit is added.
func (v *submissions) ranAtOnce(x *unit.Unit) bool {
	at := v.ofUnit(x)
	if at == nil || at.by != x.Thread || x.Inside != (at.outer != 0) { // a thread takes nothing from a queue between two of its submissions
		return false
	}
	return at.outer == 0 || at.outer == x.Outer
}

// left counts the tasks that were submitted outside of tasks and had not begun at the
// end, by pool. into maps labels to merged ones.
func (v *submissions) left(into map[string]string) map[string]int64 {
	out := map[string]int64{}
	if v == nil {
		return out
	}
	for i := range v.list {
		if at := &v.list[i]; at.outer == 0 && !at.begun {
			out[into[at.pool]]++
		}
	}
	return out
}
