package instrument

import (
	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// cancellations shows a probe what the cancel method of a task is about to return,
// and the task that it held before: a FutureTask that is cancelled forgets it.
//
//	Object held = StackagentSubmission.holds(this); ...; return StackagentSubmission.cancelled(result, this, held)
type cancellations struct{}

func (cancellations) wants(t target) bool {
	return t.mayInsert() && t.submits && t.isTask()
}

func (cancellations) plan(p *Plan) error {
	choose := func(m *classfile.Member) bool { return cancels(p, m) }
	return p.eachCode(choose, func(code *classfile.Code) error {
		if err := p.compilable(code); err != nil {
			return err
		}
		p.steps = append(p.steps, &cancellationStep{code})
		return nil
	})
}

// cancels reports whether a method cancels the task that it belongs to. Some
// fork/join tasks have a cancel method that calls none of the others.
func cancels(p *Plan, m *classfile.Member) bool {
	switch {
	case m.Name != "cancel" || m.Access&(classfile.AccStatic|classfile.AccBridge) != 0:
		return false
	case p.Class == nameTimerTask:
		return m.Descriptor == "()Z"
	}
	return m.Descriptor == "(Z)Z" && (p.Class == nameFutureTask || p.Kinds&units.KindForkJoin != 0)
}

// A cancellationStep is a cancel method.
type cancellationStep struct{ code *classfile.Code }

// String implements step.
func (s *cancellationStep) String() string {
	return "cancellation " + signature(s.code) + " " + probeCancelled.name
}

// weave implements step.
func (s *cancellationStep) weave(p *Plan) error {
	holds, err := p.callOnThis(probeHolds)
	if err != nil {
		return err
	}
	held := s.code.AddObjectLocal(nameObject)
	for _, in := range append([]*classfile.Insn(nil), s.code.Insns...) {
		if !in.Op.IsReturn() {
			continue
		}
		call, err := p.callOnThis(probeCancelled)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, call[0], classfile.NewVarInsn(classfile.OpAload, held), call[1])
	}
	s.code.InsertBefore(s.code.First(), append(holds, classfile.NewVarInsn(classfile.OpAstore, held))...)
	grow(&s.code.MaxStack, s.code.MaxStack+2)
	s.code.Edited()
	return nil
}
