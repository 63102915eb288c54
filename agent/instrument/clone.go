package instrument

import "stackagent/agent/classfile"

// A ClonePlan is a method of a task class that calls super.clone(): the copy
// has the id of its original until a probe gives it one of its own.
type ClonePlan struct {
	Name, Descriptor string

	member *classfile.Member
	calls  []*classfile.Insn
}

const (
	cloneName       = "clone"
	cloneDescriptor = "()Ljava/lang/Object;"
	descCloned      = "(Ljava/lang/Object;Ljava/lang/Object;)V" // copy, original
)

// planClones finds the calls of super.clone(), as compilers write them: the
// receiver is this, loaded just before.
func (p *Plan) planClones() error {
	for _, m := range p.class.Methods {
		if m.Access&classfile.AccStatic != 0 || m.Name == "<init>" {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		if calls := p.superClones(code); len(calls) > 0 {
			p.Clones = append(p.Clones, ClonePlan{Name: m.Name, Descriptor: m.Descriptor, member: m, calls: calls})
		}
	}
	return nil
}

func (p *Plan) superClones(code *classfile.Code) []*classfile.Insn {
	var calls []*classfile.Insn
	var before *classfile.Insn
	for _, in := range code.Insns {
		if !real(in) {
			continue
		}
		if in.Op == classfile.OpInvokespecial && before != nil && before.Op == classfile.OpAload && before.Local == 0 {
			_, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err == nil && name == cloneName && descriptor == cloneDescriptor {
				calls = append(calls, in)
			}
		}
		before = in
	}
	return calls
}

// weaveClone makes the copy known after each call of super.clone().
func (p *Plan) weaveClone(c ClonePlan) error {
	code, err := c.member.Code()
	if err != nil {
		return err
	}
	for _, call := range c.calls {
		probe, err := p.probe("cloned", descCloned)
		if err != nil {
			return err
		}
		code.InsertAfter(call, classfile.NewInsn(classfile.OpDup), classfile.NewVarInsn(classfile.OpAload, 0), probe)
	}
	grow(&code.MaxStack, code.MaxStack+2)
	return nil
}
