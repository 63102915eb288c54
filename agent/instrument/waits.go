package instrument

import (
	"fmt"
	"strings"

	"stackagent/agent/classfile"
)

// waits shows probes each time that a thread parks, and who unparks it. Around each call that parks:
//
//	long begin = StackagentWait.parking(timed); U.park(false, 0L); StackagentWait.parked(begin);
//
// The time is in a local variable, as a virtual thread may continue on another carrier. Before each call that
// unparks, StackagentWait.unparking(thread).
type waits struct{}

const (
	nameLockSupport  = "java/util/concurrent/locks/LockSupport"
	nameForkJoinPool = "java/util/concurrent/ForkJoinPool"
	nameUnsafe       = "jdk/internal/misc/Unsafe"
	nameLangAccess   = "jdk/internal/access/JavaLangAccess"
	nameVirtualParks = "jdk/internal/misc/VirtualThreads" // JDK 19 to 20
)

func (waits) wants(t target) bool {
	return t.mayInsert() && t.waits && (t.Class == nameLockSupport || t.Class == nameForkJoinPool)
}

func (waits) plan(p *Plan) error {
	parks := 0
	err := p.eachCode(anyMethod, func(code *classfile.Code) error {
		s := &waitStep{code: code, timed: strings.Contains(code.Method().Name, "Nanos") || strings.Contains(code.Method().Name, "Until")}
		for _, in := range code.Insns {
			switch waitCall(p.class.Pool, in) {
			case "park":
				s.parks = append(s.parks, in)
			case "unpark":
				s.unparks = append(s.unparks, in)
			}
		}
		if len(s.parks)+len(s.unparks) > 0 {
			p.steps = append(p.steps, s)
			parks += len(s.parks)
		}
		return nil
	})
	if parks == 0 && p.Class == nameLockSupport {
		p.note("it parks in an unknown way: waits of parked threads are not seen")
	}
	return err
}

// waitCall is what a call does: "park", "unpark", or "".
func waitCall(pool *classfile.Pool, in *classfile.Insn) string {
	switch in.Op {
	case classfile.OpInvokevirtual, classfile.OpInvokeinterface, classfile.OpInvokestatic:
	default:
		return ""
	}
	owner, name, _, err := pool.MemberRef(in.Index)
	switch {
	case err != nil:
		return ""
	case owner == nameUnsafe && (name == "park" || name == "unpark"):
		return name
	case owner == nameLangAccess && name == "parkVirtualThread", owner == nameVirtualParks && strings.HasPrefix(name, "park"):
		return "park"
	case owner == nameLangAccess && name == "unparkVirtualThread", owner == nameVirtualParks && name == "unpark":
		return "unpark"
	}
	return ""
}

// A waitStep is a method that parks or unparks.
type waitStep struct {
	code           *classfile.Code
	timed          bool
	parks, unparks []*classfile.Insn
}

// String implements step.
func (s *waitStep) String() string {
	return fmt.Sprintf("waits in %s parks=%d unparks=%d", signature(s.code), len(s.parks), len(s.unparks))
}

// weave implements step. The local is used between a call's two probes only, so that no frame has it.
func (s *waitStep) weave(p *Plan) error {
	begin := s.code.MaxLocals
	if len(s.parks) > 0 {
		s.code.MaxLocals += 2
	}
	for _, in := range s.parks {
		if err := s.park(p, in, begin); err != nil {
			return err
		}
	}
	for _, in := range s.unparks {
		unparking, err := p.call(probeUnparking)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, classfile.NewInsn(classfile.OpDup), unparking)
	}
	grow(&s.code.MaxStack, s.code.MaxStack+2)
	s.code.Edited()
	return nil
}

func (s *waitStep) park(p *Plan, in *classfile.Insn, begin int) error {
	before, err := p.call(probeWaiting)
	if err != nil {
		return err
	}
	after, err := p.call(probeWaited)
	if err != nil {
		return err
	}
	timed := classfile.NewInsn(classfile.OpIconst0)
	if s.timed {
		timed = classfile.NewInsn(classfile.OpIconst1)
	}
	s.code.InsertBeforeTargeted(in, timed, before, classfile.NewVarInsn(classfile.OpLstore, begin))
	s.code.InsertAfter(in, classfile.NewVarInsn(classfile.OpLload, begin), after)
	return nil
}
