package instrument

import (
	"strings"

	"stackagent/agent/classfile"
)

// lambdaArchive keeps the JDK from taking the classes of lambdas out of the JVM's
// archive: no agent sees such a class when it is loaded. The change calls no
// probe, so it can be made before the probes can run.
type lambdaArchive struct{}

func (lambdaArchive) wants(t target) bool { return t.Class == nameLambdaArchive }

func (lambdaArchive) plan(p *Plan) error {
	var found *lambdaArchiveStep
	choose := func(m *classfile.Member) bool {
		return m.Name == "find" && strings.HasSuffix(m.Descriptor, ")Ljava/lang/Class;")
	}
	err := p.eachCode(choose, func(code *classfile.Code) error {
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokestatic {
				continue
			}
			_, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err == nil && name == "loadedByBuiltinLoader" && descriptor == "(Ljava/lang/Class;)Z" {
				found = &lambdaArchiveStep{code, in}
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case found == nil:
		p.note("lambdas in the JVM's archive of classes are not seen")
	default:
		p.steps = append(p.steps, found)
	}
	return nil
}

// A lambdaArchiveStep is the check whether the archive may hold lambdas of a class.
type lambdaArchiveStep struct {
	code  *classfile.Code
	check *classfile.Insn
}

// String implements step.
func (s *lambdaArchiveStep) String() string { return "no lambdas from the archive" }

// weave implements step: the check always answers no.
func (s *lambdaArchiveStep) weave(*Plan) error {
	s.code.InsertAfter(s.check, classfile.NewInsn(classfile.OpPop), classfile.NewConstInsn(0))
	s.code.Edited()
	return nil
}
