package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// The classes of the platform that carry the probes' state or would hide
// lambdas from us. java.lang.Thread and java.lang.Class themselves cannot get a
// field: they are loaded before any agent is asked, unless it makes the JVM give
// up its archive of loaded classes (CDS), which doubles the time a JVM takes to
// start.
const (
	nameClassValues   = "java/lang/ClassValue$ClassValueMap"
	nameLambdaArchive = "java/lang/invoke/LambdaProxyClassArchive"
)

// shaped tells the classes whose structure the probes need, whatever the
// filters say.
func shaped(class string) bool {
	return class == nameThread || class == nameClassValues || class == nameLambdaArchive
}

// A SlotPlan is a constructor of java.lang.Thread that makes the thread's lock,
// a plain java.lang.Object which nobody else sees. An instance of the probes'
// class takes its place; it is a lock as good as any and has room for the state
// of the thread.
type SlotPlan struct {
	Descriptor string // of the constructor

	member           *classfile.Member
	alloc, init, put *classfile.Insn
}

// isLock knows the field by its names: blockerLock before JDK 20, since then
// interruptLock.
func isLock(owner, name, descriptor string) bool {
	return owner == nameThread && (name == "blockerLock" || name == "interruptLock") && descriptor == "L"+nameObject+";"
}

// planSlots finds new Object, dup, invokespecial, putfield in the constructors.
// A JDK in which Thread looks different is not refused, only noted: a thread then
// gets its state when it first needs it.
func (p *Plan) planSlots() error {
	for _, m := range p.class.Methods {
		if m.Name != "<init>" {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		var run []*classfile.Insn
		for _, in := range code.Insns {
			if real(in) {
				run = append(run, in)
			}
		}
		for ; len(run) >= 4; run = run[1:] {
			if p.makesLock(run) {
				p.Slots = append(p.Slots, SlotPlan{m.Descriptor, m, run[0], run[2], run[3]})
			}
		}
	}
	if len(p.Slots) == 0 {
		p.Notes = append(p.Notes, "no constructor makes the thread's lock: threads get their state late")
	}
	return nil
}

func (p *Plan) makesLock(run []*classfile.Insn) bool {
	pool := p.class.Pool
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

func (p *Plan) weaveSlot(s SlotPlan) error {
	class, err := p.class.Pool.AddClass(nameProbes)
	if err != nil {
		return err
	}
	init, err := p.class.Pool.AddMethodRef(nameProbes, "<init>", "()V", false)
	if err != nil {
		return err
	}
	code, err := s.member.Code()
	if err != nil {
		return err
	}
	s.alloc.Index, s.init.Index = class, init
	code.Edited()
	return nil
}

// slotAfter is the instruction after which a Thread has its slot, in the
// constructor that makes it; nil elsewhere.
func (p *Plan) slotAfter(m *classfile.Member) *classfile.Insn {
	for _, s := range p.Slots {
		if s.member == m {
			return s.put
		}
	}
	return nil
}

// planArchive finds where a lambda's class is looked for in the JVM's archive:
// such a class is not shown to anybody when it is loaded.
func (p *Plan) planArchive() error {
	for _, m := range p.class.Methods {
		if m.Name != "find" || !strings.HasSuffix(m.Descriptor, ")Ljava/lang/Class;") {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokestatic {
				continue
			}
			_, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err == nil && name == "loadedByBuiltinLoader" && descriptor == "(Ljava/lang/Class;)Z" {
				p.archive, p.archiveCode = in, code
			}
		}
	}
	if p.archive == nil {
		p.Notes = append(p.Notes, "lambdas in the JVM's archive of classes are not seen")
	}
	return nil
}

// weaveArchive makes find() believe that the class which asks has nothing in
// the archive.
func (p *Plan) weaveArchive() {
	p.archiveCode.InsertAfter(p.archive, classfile.NewInsn(classfile.OpPop), classfile.NewConstInsn(0))
	p.archiveCode.Edited()
}
