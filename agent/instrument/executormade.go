package instrument

import (
	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// executorsMade shows a probe each executor as soon as super(...) has returned in its
// topmost class: where it is constructed tells one executor from another.
type executorsMade struct{}

func (executorsMade) wants(t target) bool {
	return t.mayInsert() && t.submits && t.Kinds&units.KindExecutor != 0 && !t.isInterface()
}

// plan implements kind. A constructor that cannot be followed, or that would no longer be
// compiled, is left as it is: only the place is lost.
func (executorsMade) plan(p *Plan) error {
	if k, _ := superKinds(p.header.Super, p.in.Supers); k&units.KindExecutor != 0 {
		return nil
	}
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if m.Name != "<init>" || err != nil || code == nil || p.compilable(code) != nil {
			continue
		}
		flow, err := analyseThis(p.class, code)
		if err != nil {
			continue
		}
		s := &executorMadeStep{code: code}
		for _, call := range flow.inits {
			if call.super {
				s.supers = append(s.supers, code.Insns[call.at])
			}
		}
		if len(s.supers) > 0 {
			p.steps = append(p.steps, s)
		}
	}
	return nil
}

// An executorMadeStep is a constructor of an executor.
type executorMadeStep struct {
	code   *classfile.Code
	supers []*classfile.Insn // the calls of super(...)
}

// String implements step.
func (s *executorMadeStep) String() string { return "executor made " + signature(s.code) }

// weave implements step.
func (s *executorMadeStep) weave(p *Plan) error {
	for _, call := range s.supers {
		made, err := p.callOnThis(probeExecutorMade)
		if err != nil {
			return err
		}
		s.code.InsertAfter(call, made...)
	}
	s.code.MaxStack++
	s.code.Edited()
	return nil
}
