package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// parking puts probes around the method in which a virtual thread parks that
// cannot leave its carrier.
type parking struct{}

func (parking) wants(t target) bool { return t.mayInsert() && t.Class == nameVirtualThread }

func (parking) plan(p *Plan) error {
	found := false
	choose := func(m *classfile.Member) bool { return !found && m.Name == "parkOnCarrierThread" && !isStatic(m) }
	err := p.eachCode(choose, func(code *classfile.Code) error {
		p.steps = append(p.steps, &executionStep{code, probeParking, probeParked, probeParked})
		found = true
		return nil
	})
	if !found {
		p.note("no method parkOnCarrierThread: pinned virtual threads are not seen")
	}
	return err
}

// mounts puts probes where a virtual thread gets on and off its carrier, and where
// it is submitted to its scheduler. If a JDK has no such methods, the plan notes
// it: CPU time of virtual threads is then not available.
type mounts struct{}

func (mounts) wants(t target) bool { return t.mayInsert() && t.Class == nameVirtualThread }

func (k mounts) plan(p *Plan) error {
	for _, at := range []struct {
		method string
		call   probe
	}{{"mount", probeMounted}, {"unmount", probeUnmounting}} {
		found := false
		choose := func(m *classfile.Member) bool { return m.Name == at.method && m.Descriptor == "()V" && !isStatic(m) }
		err := p.eachCode(choose, func(code *classfile.Code) error {
			p.steps = append(p.steps, &mountStep{code: code, call: at.call})
			found = true
			return nil
		})
		if err != nil {
			return err
		}
		if !found {
			p.note("no method " + at.method + "()V: mounts of virtual threads are not seen")
		}
	}
	if err := k.planReady(p); err != nil {
		return err
	}
	if err := k.planSwitch(p); err != nil {
		return err
	}
	return k.planYield(p)
}

// planYield finds the method in which a virtual thread yields: where it is called from is looked up now and then.
func (mounts) planYield(p *Plan) error {
	choose := func(m *classfile.Member) bool { return m.Name == "tryYield" && m.Descriptor == "()V" && !isStatic(m) }
	return p.eachCode(choose, func(code *classfile.Code) error {
		p.steps = append(p.steps, &mountStep{code: code, call: probeYielding})
		return nil
	})
}

// planReady finds the methods that submit a virtual thread to its scheduler
// (submitRunContinuation, lazySubmitRunContinuation, externalSubmitRunContinuationOrThrow, ...).
// One may call another: the first counts.
func (mounts) planReady(p *Plan) error {
	found := false
	choose := func(m *classfile.Member) bool {
		name := strings.ToLower(strings.TrimSuffix(m.Name, "OrThrow"))
		return strings.HasSuffix(name, "submitruncontinuation") && !isStatic(m)
	}
	err := p.eachCode(choose, func(code *classfile.Code) error {
		p.steps = append(p.steps, &mountStep{code: code, call: probeReady})
		found = true
		return nil
	})
	if !found && err == nil {
		p.note("no method submitRunContinuation: how long virtual threads wait for a carrier is not seen")
	}
	return err
}

// planSwitch finds where a virtual thread that parks or yields leaves its carrier
// and returns. What the JVM does between there and unmount or mount is not the
// thread's work. Before JDK 22 the same method calls unmount and mount itself, so
// there is nothing to take out.
func (k mounts) planSwitch(p *Plan) error {
	choose := func(m *classfile.Member) bool {
		return m.Name == "yieldContinuation" && m.Descriptor == "()Z" && !isStatic(m)
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		if call := k.switchIn(p, code); call != nil {
			p.steps = append(p.steps, &mountStep{code: code, call: probeLeaving, around: call})
		}
		return nil
	})
}

// switchIn is the only call of Continuation.yield; nil if there is none or several,
// or if unmount is called here too.
func (mounts) switchIn(p *Plan, code *classfile.Code) *classfile.Insn {
	var found *classfile.Insn
	for _, in := range code.Insns {
		switch in.Op {
		case classfile.OpInvokestatic, classfile.OpInvokevirtual, classfile.OpInvokespecial:
		default:
			continue
		}
		owner, name, _, err := p.class.Pool.MemberRef(in.Index)
		switch {
		case err != nil, owner == nameVirtualThread && name == "unmount":
			return nil
		case owner == nameContinuation && name == "yield":
			if found != nil || in.Op != classfile.OpInvokestatic {
				return nil
			}
			found = in
		}
	}
	return found
}

// A mountStep calls a probe at the start of a method, or two around a call in it
// that leaves the carrier and returns.
type mountStep struct {
	code   *classfile.Code
	call   probe           // at the start, or before the call
	around *classfile.Insn // the call; nil: the start
}

// String implements step.
func (s *mountStep) String() string {
	if s.around != nil {
		return "around the switch in " + s.code.Method().Name + " " + s.call.name + " " + probeReturned.name
	}
	return "start of " + signature(s.code) + " " + s.call.name
}

// weave implements step.
func (s *mountStep) weave(p *Plan) error {
	call, err := p.callOnThis(s.call)
	if err != nil {
		return err
	}
	if s.around == nil {
		s.code.InsertBefore(s.code.First(), call...)
		grow(&s.code.MaxStack, 1)
		s.code.Edited()
		return nil
	}
	back, err := p.callOnThis(probeReturned)
	if err != nil {
		return err
	}
	s.code.InsertBeforeTargeted(s.around, call...)
	s.code.InsertAfter(s.around, back...)
	grow(&s.code.MaxStack, s.code.MaxStack+1)
	s.code.Edited()
	return nil
}
