package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// A ClonePlan is a method of a task class that calls clone(): a copy has the
// id of its original until a probe gives it one of its own. Object.clone is
// protected, so a task can be copied by the methods of its classes only, or by
// a clone() which they declare and which comes here itself.
type ClonePlan struct {
	Name, Descriptor string

	member *classfile.Member
	calls  []*classfile.Insn
}

const (
	cloneName       = "clone"
	cloneDescriptor = "()Ljava/lang/Object;"
	descCloned      = "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;" // original, copy -> copy
)

// planClones finds the calls of clone() that may be Object's.
func (p *Plan) planClones() error {
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		if calls := p.cloneCalls(code); len(calls) > 0 {
			p.Clones = append(p.Clones, ClonePlan{Name: m.Name, Descriptor: m.Descriptor, member: m, calls: calls})
		}
	}
	return nil
}

func (p *Plan) cloneCalls(code *classfile.Code) []*classfile.Insn {
	var calls []*classfile.Insn
	for _, in := range code.Insns {
		if in.Op != classfile.OpInvokespecial && in.Op != classfile.OpInvokevirtual {
			continue
		}
		owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
		if err == nil && name == cloneName && descriptor == cloneDescriptor && !strings.HasPrefix(owner, "[") {
			calls = append(calls, in)
		}
	}
	return calls
}

// weaveClone keeps the receiver of each call and gives it, with the copy, to
// the probe, which returns the copy.
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
		code.InsertBeforeTargeted(call, classfile.NewInsn(classfile.OpDup))
		code.InsertAfter(call, probe)
	}
	grow(&code.MaxStack, code.MaxStack+1)
	return nil
}
