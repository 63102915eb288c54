package instrument

import (
	"errors"
	"fmt"

	"stackagent/agent/classfile"
)

// constructors puts probes into the constructors of tasks. The topmost class of a
// hierarchy reports the creation as soon as super(...) has returned; each class
// reports that its constructor failed and, if constructions are measured, where
// it begins and ends.
type constructors struct{}

// ldcClass is the first version of class files in which a constant can be a class.
const ldcClass = 49

func (constructors) wants(t target) bool { return t.mayInsert() && t.isTask() && !t.isInterface() }

// measuresConstruction reports whether the cost of constructions is measured.
func (p *Plan) measuresConstruction() bool {
	return p.options.Asked.Construction && p.class.Major >= ldcClass
}

func (constructors) plan(p *Plan) error {
	choose := func(m *classfile.Member) bool { return m.Name == "<init>" && !isStatic(m) }
	return p.eachCode(choose, func(code *classfile.Code) error {
		if err := p.compilable(code); err != nil {
			return err
		}
		s, err := newConstructorStep(p, code)
		if err != nil {
			return err
		}
		if len(s.supers)+len(s.spans) > 0 || s.measured {
			p.steps = append(p.steps, s)
		}
		return nil
	})
}

// A constructorStep is one constructor.
type constructorStep struct {
	code   *classfile.Code
	supers []*classfile.Insn // the calls of super(...) after which the creation is reported
	adapts bool              // and what the task wraps: its only argument
	spans  []insnSpan        // the stretches of code in which a failure is reported

	measured    bool              // its construction is measured:
	delegations []*classfile.Insn // the calls of this(...)
	ends        []*classfile.Insn // the returns with this in local variable 0
}

// newConstructorStep follows this through a constructor.
func newConstructorStep(p *Plan, code *classfile.Code) (*constructorStep, error) {
	flow, err := analyseThis(p.class, code)
	if err != nil {
		descriptor := code.Method().Descriptor
		var known *Refusal
		if errors.As(err, &known) {
			known.Detail = "constructor " + descriptor + ": " + known.Detail
			return nil, known
		}
		r := refuse(p.Class, ReasonBadCode, "constructor %s: %v", descriptor, err)
		r.Err = err
		return nil, r
	}
	s := &constructorStep{code: code, spans: flow.covered(code), measured: p.measuresConstruction()}
	s.adapts = adapts(p.Class, code.Method())
	reports := p.topmost() || s.adapts
	for _, call := range flow.inits {
		switch {
		case reports && call.super:
			s.supers = append(s.supers, code.Insns[call.at])
		case s.measured && !call.super:
			s.delegations = append(s.delegations, code.Insns[call.at])
		}
	}
	if !s.measured {
		return s, nil
	}
	for i, in := range code.Insns {
		if in.Op.IsReturn() && flow.local0[i] == valueSelf {
			s.ends = append(s.ends, in)
		}
	}
	return s, nil
}

// String implements step.
func (s *constructorStep) String() string {
	reports := probeCreated
	if s.adapts {
		reports = probeAdapted
	}
	return fmt.Sprintf("constructor %s %s=%d failed-ranges=%d", s.code.Method().Descriptor, reports.name, len(s.supers), len(s.spans))
}

// weave implements step.
func (s *constructorStep) weave(p *Plan) error {
	ranges := labelled(s.code, s.spans)
	for _, call := range s.supers {
		created, err := s.report(p)
		if err != nil {
			return err
		}
		if lock := p.lockMade(s.code); lock != nil {
			call = lock // the id of a thread is kept there
		}
		s.code.InsertAfter(call, created...)
	}
	if s.measured {
		if err := s.weaveConstruction(p); err != nil {
			return err
		}
	}
	if len(ranges) > 0 {
		failed, err := p.callOnThis(probeFailed)
		if err != nil {
			return err
		}
		this := []classfile.VerificationType{classfile.ObjectType(p.Class)}
		insns, locals, err := p.rethrowing(s.code, this)
		if err != nil {
			return err
		}
		p.handle(s.code, ranges, locals, append(insns, failed...))
		grow(&s.code.MaxStack, 2)
	}
	s.code.Edited()
	return nil
}

// report makes the call of the probe that a creation has.
func (s *constructorStep) report(p *Plan) ([]*classfile.Insn, error) {
	if !s.adapts {
		return p.callOnThis(probeCreated)
	}
	call, err := p.call(probeAdapted)
	if err != nil {
		return nil, err
	}
	grow(&s.code.MaxStack, 2)
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, 0), classfile.NewVarInsn(classfile.OpAload, 1), call}, nil
}

// weaveConstruction puts in the probes that measure the construction.
func (s *constructorStep) weaveConstruction(p *Plan) error {
	begin, err := p.call(probeConstructing)
	if err != nil {
		return err
	}
	class, err := p.class.Pool.AddClass(p.Class)
	if err != nil {
		return err
	}
	token := s.code.AddIntLocal()
	for _, call := range s.delegations {
		delegating, err := p.callWithToken(probeDelegating, token)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(call, delegating...)
	}
	for _, in := range s.ends {
		constructed, err := p.callOnThis(probeConstructed)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, constructed[0], classfile.NewVarInsn(classfile.OpIload, token), classfile.NewLdc(class), constructed[1])
	}
	s.code.InsertBefore(s.code.First(), begin, classfile.NewVarInsn(classfile.OpIstore, token))
	s.code.MaxStack += 3 // on top of what is there at a return or a call of this(...)
	return nil
}
