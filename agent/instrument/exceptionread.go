package instrument

import (
	"fmt"

	"stackagent/agent/classfile"
)

// exceptionReads puts a probe where a method of the JDK passes the exception that
// ended a task to the program: it throws or returns it, or calls a function with it.
type exceptionReads struct{}

// passing says how a method passes the exception.
type passing uint8

const (
	passThrown    passing = iota
	passReturned          // from the method
	passCalled            // to the function that the program gave
	passParameter         // it is the method's own first parameter, at its start
)

// readers are those methods, by class. A method that a JDK lacks is ignored. What
// the program's own methods do with the exception is not observed.
var readers = map[string]map[string]passing{
	nameFutureTask: {"report": passThrown, "exceptionNow": passReturned},
	nameCompletableFuture: {"reportGet": passThrown, "reportJoin": passThrown, "exceptionNow": passReturned, "uniHandle": passCalled,
		"uniWhenComplete": passCalled, "uniExceptionally": passCalled, "uniComposeExceptionallyStage": passCalled},
	nameCompletableFuture + "$UniComposeExceptionally": {"tryFire": passCalled},
	nameForkJoinTask:  forkJoinReaders,
	forkJoinCopies[0]: forkJoinReaders, // without these the analysis would report that nothing reads their exceptions
	forkJoinCopies[1]: forkJoinReaders,
	forkJoinCopies[2]: forkJoinReaders,
	// They pass it to the thread's handler of uncaught exceptions, or the worker dies of it.
	nameForkJoinTask + "$RunnableExecuteAction":                {"trySetException": passParameter, "onAuxExceptionSet": passParameter},
	"java/util/concurrent/StructuredTaskScope$SubtaskImpl":     {"exception": passReturned},
	"java/util/concurrent/StructuredTaskScopeImpl$SubtaskImpl": {"exception": passReturned},
}

// forkJoinReaders: JDK 17 and the copies have the first, JDK 22 and later the second.
var forkJoinReaders = map[string]passing{"getThrowableException": passReturned, "getException": passReturned}

func (exceptionReads) wants(t target) bool {
	return t.mayInsert() && t.submits && readers[t.Class] != nil
}

func (k exceptionReads) plan(p *Plan) error {
	methods := readers[p.Class]
	choose := func(m *classfile.Member) bool {
		_, ok := methods[m.Name]
		return ok && m.Access&classfile.AccBridge == 0
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		s := &exceptionReadStep{code: code, how: methods[code.Method().Name]}
		for _, in := range code.Insns {
			if k.passes(p.class.Pool, in, s.how) {
				s.at = append(s.at, in)
			}
		}
		if len(s.at) > 0 || s.how == passParameter {
			p.steps = append(p.steps, s)
		}
		return nil
	})
}

func (exceptionReads) passes(pool *classfile.Pool, in *classfile.Insn, how passing) bool {
	switch {
	case how == passThrown:
		return in.Op == classfile.OpAthrow
	case how == passReturned:
		return in.Op == classfile.OpAreturn
	case how != passCalled || in.Op != classfile.OpInvokeinterface:
		return false
	}
	_, name, _, err := pool.MemberRef(in.Index)
	return err == nil && (name == "apply" || name == "accept")
}

// An exceptionReadStep is a method that passes the exception.
type exceptionReadStep struct {
	code *classfile.Code
	how  passing
	at   []*classfile.Insn // before these the exception is on top of the stack
}

// String implements step.
func (s *exceptionReadStep) String() string {
	return fmt.Sprintf("asked in %s %d", signature(s.code), len(s.at))
}

// weave implements step.
func (s *exceptionReadStep) weave(p *Plan) error {
	call, err := p.call(probeAsked)
	if err != nil {
		return err
	}
	if s.how == passParameter {
		s.code.InsertBefore(s.code.First(), classfile.NewVarInsn(classfile.OpAload, 1), call)
	}
	for _, in := range s.at {
		s.code.InsertBeforeTargeted(in, classfile.NewInsn(classfile.OpDup), classfile.NewInvoke(call.Op, call.Index))
	}
	grow(&s.code.MaxStack, s.code.MaxStack+1)
	s.code.Edited()
	return nil
}
