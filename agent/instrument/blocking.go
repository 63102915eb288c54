package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// blocking puts probes around the methods in which a virtual thread sleeps, or waits for a socket or a pipe:
//
//	int token = StackagentWait.sleeping(this); ...; StackagentWait.unblocked(token)
//
// The park in Poller.poll counts as a part of it.
type blocking struct{}

// blockingMethods are the methods by class, how their parameters begin, and the probes.
var blockingMethods = map[string]struct {
	name, parameters string
	begin            probe
}{
	nameVirtualThread: {"sleepNanos", "(J)", probeSleeping},
	namePoller:        {"poll", "(IJL", probePolling},
}

func (blocking) wants(t target) bool {
	return t.mayInsert() && t.waits && blockingMethods[t.Class].name != ""
}

func (blocking) plan(p *Plan) error {
	b, found := blockingMethods[p.Class], false
	choose := func(m *classfile.Member) bool {
		return m.Name == b.name && strings.HasPrefix(m.Descriptor, b.parameters) && !isStatic(m)
	}
	err := p.eachCode(choose, func(code *classfile.Code) error {
		p.steps = append(p.steps, &executionStep{code, b.begin, probeUnblocked, probeUnblocked})
		found = true
		return nil
	})
	if !found && err == nil {
		p.note("no method " + b.name + b.parameters + ": such waits of virtual threads are not seen")
	}
	return err
}
