package evidence

import (
	"cmp"
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
	parts   []part
	of      map[uint64]int        // index into parts, by task
	outside map[uint64]*submitted // tasks that were submitted outside of tasks
}

// submitted is by whom a task was submitted, and to which pool.
type submitted struct {
	by    uint32
	pool  string
	begun bool
}

// part is a task submitted inside an execution.
type part struct {
	at    units.MonoNs
	pool  string
	by    uint32 // the thread that submitted it
	outer uint64 // the task that submitted it
}

const noPart = wire.Rejected | wire.NoSubmission | wire.Forked | wire.Started | wire.Scheduled | wire.Inner

// newSubmissions reads the submissions inside executions; nil if there are too many.
func newSubmissions(s *session.Session, x *callsite.Index) (*submissions, error) {
	v := &submissions{of: map[uint64]int{}, outside: map[uint64]*submitted{}}
	err := s.Submissions(func(c *session.SubmissionChunk) error {
		for i, id := range c.TaskID {
			if c.OuterTaskID[i] == 0 && c.Executor[i] != 0 && wire.SubmissionFlags(c.Flags[i])&noPart == 0 && len(v.outside) < maxParts {
				v.outside[id] = &submitted{by: c.Thread[i], pool: x.ExecutorLabel(c.Executor[i])}
			}
			if c.OuterTaskID[i] == 0 || c.Executor[i] == 0 || wire.SubmissionFlags(c.Flags[i])&noPart != 0 || len(v.parts) > maxParts {
				continue
			}
			if e := s.ExecutorByID(c.Executor[i]); e == nil || strings.HasPrefix(e.Class, "java.util.concurrent.ForkJoinPool") {
				continue
			}
			v.of[id] = len(v.parts)
			v.parts = append(v.parts, part{at: c.AtNs[i], by: c.Thread[i], outer: c.OuterTaskID[i], pool: x.ExecutorLabel(c.Executor[i])})
		}
		return nil
	})
	if err != nil || len(v.parts) > maxParts {
		return nil, err
	}
	return v, nil
}

// unit adds the next unit of a thread.
func (v *submissions) unit(x *unit.Unit, pool string) {
	if v == nil {
		return
	}
	if at := v.submittedOutside(x); at != nil {
		at.begun = true
	}
	if n := v.partOf(x); n >= 0 {
		v.parts[n].pool = pool
	}
}

// partOf is the index of the part that a unit ran; -1: none.
func (v *submissions) partOf(x *unit.Unit) int32 {
	if v == nil {
		return -1
	}
	n, ok := v.of[x.Named]
	if !ok {
		n, ok = v.of[x.Root]
	}
	if !ok {
		return -1
	}
	return int32(n)
}

// ranAtOnce reports whether a unit ran inside its own submission: on the submitting
// thread, inside the submitting task. Ask before the unit is added.
func (v *submissions) ranAtOnce(x *unit.Unit) bool {
	if v == nil {
		return false
	}
	if !x.Inside { // a thread takes nothing from a queue between two of its submissions
		at := v.submittedOutside(x)
		return at != nil && at.by == x.Thread
	}
	n := v.partOf(x)
	return n >= 0 && v.parts[n].outer == x.Outer && v.parts[n].by == x.Thread
}

// submittedOutside is the submission of a unit that no task submitted, or nil.
func (v *submissions) submittedOutside(x *unit.Unit) *submitted {
	return cmp.Or(v.outside[x.Named], v.outside[x.Root])
}

// left counts the tasks that were submitted outside of tasks and had not begun at the
// end, by pool. into maps labels to merged ones.
func (v *submissions) left(into map[string]string) map[string]int64 {
	out := map[string]int64{}
	if v == nil {
		return out
	}
	for _, at := range v.outside {
		if !at.begun {
			out[into[at.pool]]++
		}
	}
	return out
}
