package instrument

import "stackagent/agent/classfile"

// A standIn is a call of run() or call() through its interface, in a class that
// executes the tasks of others. The probe takes its place: it makes the call, and
// tells of it if the task's own class could not be woven (a lambda that was made
// before the agent came).
type standIn struct {
	probe, descriptor string

	member *classfile.Member
	call   *classfile.Insn
}

// called are the calls that have a stand-in.
var called = []struct{ owner, name, descriptor, probe, probeDescriptor string }{
	{"java/lang/Runnable", "run", "()V", "run", "(Ljava/lang/Runnable;)V"},
	{"java/util/concurrent/Callable", "call", "()Ljava/lang/Object;", "call", "(Ljava/util/concurrent/Callable;)Ljava/lang/Object;"},
}

// planStandIns finds the calls in all methods of the class.
func (p *Plan) planStandIns() error {
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokeinterface {
				continue
			}
			owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err != nil {
				return refusal(p.Class, err, ReasonSubroutine)
			}
			for _, c := range called {
				if owner == c.owner && name == c.name && descriptor == c.descriptor {
					p.standIns = append(p.standIns, standIn{c.probe, c.probeDescriptor, m, in})
				}
			}
		}
	}
	return nil
}

// weaveStandIn replaces the call; what it takes and leaves is the same.
func (p *Plan) weaveStandIn(s standIn) error {
	code, err := s.member.Code()
	if err != nil {
		return err
	}
	call, err := p.probe(s.probe, s.descriptor)
	if err != nil {
		return err
	}
	*s.call = *call
	code.Edited()
	return nil
}
