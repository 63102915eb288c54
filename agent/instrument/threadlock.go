package instrument

import "stackagent/agent/classfile"

// threadLocks replaces a thread's private lock, a plain java.lang.Object made in
// the constructors of java.lang.Thread, with an instance of the probes' class: it
// works as a lock and has room for the state of the thread.
type threadLocks struct{}

func (threadLocks) wants(t target) bool { return t.Class == nameThread && t.Mode != ModeStructure }

// plan finds new Object, dup, invokespecial, putfield in the constructors. If a
// JDK's Thread looks different, the plan notes it: a thread then gets its state
// when it first needs it.
func (k threadLocks) plan(p *Plan) error {
	found := false
	choose := func(m *classfile.Member) bool { return m.Name == "<init>" }
	err := p.eachCode(choose, func(code *classfile.Code) error {
		var run []*classfile.Insn
		for _, in := range code.Insns {
			if isReal(in) {
				run = append(run, in)
			}
		}
		for ; len(run) >= 4; run = run[1:] {
			if k.makesLock(p.class.Pool, run) {
				p.steps = append(p.steps, &threadLockStep{code, run[0], run[2], run[3]})
				found = true
			}
		}
		return nil
	})
	if !found && err == nil {
		p.note("no constructor makes the thread's lock: threads get their state late")
	}
	return err
}

// isLock knows the field by its names: blockerLock before JDK 20, interruptLock since.
func isLock(owner, name, descriptor string) bool {
	return owner == nameThread && (name == "blockerLock" || name == "interruptLock") && descriptor == "L"+nameObject+";"
}

func (threadLocks) makesLock(pool *classfile.Pool, run []*classfile.Insn) bool {
	class, err := pool.ClassName(run[0].Index)
	if run[0].Op != classfile.OpNew || err != nil || class != nameObject || run[1].Op != classfile.OpDup {
		return false
	}
	owner, name, _, err := pool.MemberRef(run[2].Index)
	if run[2].Op != classfile.OpInvokespecial || err != nil || owner != nameObject || name != "<init>" {
		return false
	}
	owner, name, descriptor, err := pool.MemberRef(run[3].Index)
	return run[3].Op == classfile.OpPutfield && err == nil && isLock(owner, name, descriptor)
}

// A threadLockStep is a constructor that makes the lock.
type threadLockStep struct {
	code             *classfile.Code
	alloc, init, put *classfile.Insn
}

// String implements step.
func (s *threadLockStep) String() string { return "slot in " + s.code.Method().Descriptor }

// weave implements step.
func (s *threadLockStep) weave(p *Plan) error {
	class, err := p.class.Pool.AddClass(nameProbes)
	if err != nil {
		return err
	}
	init, err := p.class.Pool.AddMethodRef(nameProbes, "<init>", "()V", false)
	if err != nil {
		return err
	}
	s.alloc.Index, s.init.Index = class, init
	s.code.Edited()
	return nil
}

// lockMade is the instruction after which a Thread has its lock, in a constructor
// that makes it; nil elsewhere.
func (p *Plan) lockMade(code *classfile.Code) *classfile.Insn {
	for _, s := range p.steps {
		if lock, ok := s.(*threadLockStep); ok && lock.code == code {
			return lock.put
		}
	}
	return nil
}
