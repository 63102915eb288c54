package instrument

import (
	"fmt"
	"strings"

	"stackagent/agent/classfile"
)

// clones gives copies of tasks ids of their own: after clone() a copy has the id
// of its original. Object.clone is protected, so only methods of the task's own
// classes can copy it, or a clone() which they declare and which is woven itself.
type clones struct{}

const (
	cloneName       = "clone"
	cloneDescriptor = "()Ljava/lang/Object;"
)

func (clones) wants(t target) bool { return t.mayInsert() && t.isTask() && !t.isInterface() }

func (k clones) plan(p *Plan) error {
	return p.eachCode(anyMethod, func(code *classfile.Code) error {
		if calls := k.calls(p, code); len(calls) > 0 {
			p.steps = append(p.steps, &cloneStep{code, calls})
		}
		return nil
	})
}

// calls finds the calls of clone() that may be Object's.
func (clones) calls(p *Plan, code *classfile.Code) []*classfile.Insn {
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

// A cloneStep is a method that calls clone().
type cloneStep struct {
	code  *classfile.Code
	calls []*classfile.Insn
}

// String implements step.
func (s *cloneStep) String() string {
	return fmt.Sprintf("clone in %s cloned=%d", signature(s.code), len(s.calls))
}

// weave implements step: it keeps the receiver of each call and passes it, with
// the copy, to the probe, which returns the copy.
func (s *cloneStep) weave(p *Plan) error {
	for _, call := range s.calls {
		cloned, err := p.call(probeCloned)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(call, classfile.NewInsn(classfile.OpDup))
		s.code.InsertAfter(call, cloned)
	}
	grow(&s.code.MaxStack, s.code.MaxStack+1)
	return nil
}
