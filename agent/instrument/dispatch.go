package instrument

import "stackagent/agent/classfile"

// dispatches replaces the calls of run() and call() through their interfaces in a
// class that executes the tasks of others. The probe makes the call, and reports
// an execution if the task's own class could not be woven (a lambda that was made
// before the agent attached).
type dispatches struct{}

// dispatched are the calls that are replaced.
var dispatched = [...]struct {
	owner, name, descriptor string
	by                      probe
}{
	{"java/lang/Runnable", "run", "()V", probeRun},
	{"java/util/concurrent/Callable", "call", "()Ljava/lang/Object;", probeCall},
}

func (dispatches) wants(t target) bool { return t.mayInsert() && t.dispatcher }

func (dispatches) plan(p *Plan) error {
	return p.eachCode(anyMethod, func(code *classfile.Code) error {
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokeinterface {
				continue
			}
			owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err != nil {
				return refusal(p.Class, err, ReasonSubroutine)
			}
			for _, d := range dispatched {
				if owner == d.owner && name == d.name && descriptor == d.descriptor {
					p.steps = append(p.steps, &dispatchStep{code, in, d.by})
				}
			}
		}
		return nil
	})
}

// A dispatchStep is one such call.
type dispatchStep struct {
	code *classfile.Code
	call *classfile.Insn
	by   probe
}

// String implements step.
func (s *dispatchStep) String() string { return "call of " + s.by.name + " in " + signature(s.code) }

// weave implements step: the probe takes and leaves what the call does.
func (s *dispatchStep) weave(p *Plan) error {
	call, err := p.call(s.by)
	if err != nil {
		return err
	}
	*s.call = *call
	s.code.Edited()
	return nil
}
