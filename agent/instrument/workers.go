package instrument

import (
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// workers shows a probe, once for each worker of a pool, whose worker the thread is: at the start of the loop that
// ThreadPoolExecutor, ForkJoinPool and copies of them run on each of their threads:
//
//	final void runWorker(Worker w) { StackagentSubmission.working(this); ... }
type workers struct{}

func (workers) wants(t target) bool {
	return t.mayInsert() && t.submits && t.Kinds&units.KindExecutor != 0 && !t.isInterface()
}

func (workers) plan(p *Plan) error {
	choose := func(m *classfile.Member) bool {
		return m.Name == "runWorker" && !isStatic(m) && strings.HasPrefix(m.Descriptor, "(L"+p.Class+"$") && strings.HasSuffix(m.Descriptor, ";)V")
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		if err := p.compilable(code); err != nil {
			return err
		}
		p.steps = append(p.steps, &workerStep{code})
		return nil
	})
}

// A workerStep is the loop of a pool's workers.
type workerStep struct{ code *classfile.Code }

// String implements step.
func (s *workerStep) String() string { return "worker " + signature(s.code) + " " + probeWorking.name }

// weave implements step.
func (s *workerStep) weave(p *Plan) error {
	working, err := p.callOnThis(probeWorking)
	if err != nil {
		return err
	}
	s.code.InsertBefore(s.code.First(), working...)
	grow(&s.code.MaxStack, 1)
	s.code.Edited()
	return nil
}
