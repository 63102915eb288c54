package instrument

import (
	"fmt"
	"strings"

	"stackagent/agent/classfile"
)

// traces shows a probe each context that OpenTelemetry makes current on a thread, by itself or as the copy inside its Java
// agent, whose names begin with a prefix. Before each call in the two classes that store contexts:
//
//	StackagentTrace.storing(context, ThreadLocalContextStorage.class); THREAD_LOCAL_STORAGE.set(context);
type traces struct{}

const (
	nameContexts      = "io/opentelemetry/context/ThreadLocalContextStorage"
	nameContextsScope = "$ScopeImpl"
	nameThreadLocal   = "java/lang/ThreadLocal"
)

func (traces) wants(t target) bool {
	return t.mayInsert() && t.traces && strings.HasSuffix(strings.TrimSuffix(t.Class, nameContextsScope), nameContexts)
}

func (traces) plan(p *Plan) error {
	if p.class.Major < ldcClass {
		p.note("its class file is too old: traces of tasks are not seen")
		return nil
	}
	found := false
	err := p.eachCode(anyMethod, func(code *classfile.Code) error {
		s := &traceStep{code: code}
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokevirtual {
				continue
			}
			owner, name, descriptor, err := p.class.Pool.MemberRef(in.Index)
			if err == nil && owner == nameThreadLocal && (name == "set" && descriptor == "(Ljava/lang/Object;)V" || name == "remove") {
				s.calls = append(s.calls, traceCall{in, name == "remove"})
			}
		}
		if len(s.calls) > 0 {
			p.steps = append(p.steps, s)
			found = true
		}
		return nil
	})
	if !found {
		p.note("it stores contexts in an unknown way: traces of tasks are not seen")
	}
	return err
}

type traceCall struct {
	in     *classfile.Insn
	remove bool
}

// A traceStep is a method that stores contexts.
type traceStep struct {
	code  *classfile.Code
	calls []traceCall
}

// String implements step.
func (s *traceStep) String() string {
	return fmt.Sprintf("traces in %s contexts=%d", signature(s.code), len(s.calls))
}

// weave implements step.
func (s *traceStep) weave(p *Plan) error {
	storage, err := p.class.Pool.AddClass(strings.TrimSuffix(p.Class, nameContextsScope))
	if err != nil {
		return err
	}
	for _, c := range s.calls {
		storing, err := p.call(probeStoring)
		if err != nil {
			return err
		}
		context := classfile.NewInsn(classfile.OpDup)
		if c.remove {
			context = classfile.NewInsn(classfile.OpAconstNull)
		}
		s.code.InsertBeforeTargeted(c.in, context, classfile.NewLdc(storage), storing)
	}
	grow(&s.code.MaxStack, s.code.MaxStack+2)
	s.code.Edited()
	return nil
}
