package instrument

import (
	"stackagent/agent/classfile"
)

// An AskPlan is a method of the JDK that gives an exception by which a task ended
// to who asks for it: something is called with it, or it is thrown or returned.
type AskPlan struct {
	Name, Descriptor string

	member *classfile.Member
	where  askedWhere
	at     []*classfile.Insn // before these it lies on top of the stack
}

type askedWhere uint8

const (
	whenThrown askedWhere = iota
	whenReturned
	whenCalled // the function that the program gave
	whenGiven  // the method's own first parameter, at its start
)

// asks are those methods, by class; one that a JDK does not have is not looked
// for. What the methods of the program's then do with it is theirs.
var asks = map[string]map[string]askedWhere{
	nameFutureTask: {"report": whenThrown, "exceptionNow": whenReturned},
	nameCompletableFuture: {"reportGet": whenThrown, "reportJoin": whenThrown, "exceptionNow": whenReturned, "uniHandle": whenCalled,
		"uniWhenComplete": whenCalled, "uniExceptionally": whenCalled, "uniComposeExceptionallyStage": whenCalled},
	nameCompletableFuture + "$UniComposeExceptionally": {"tryFire": whenCalled},
	nameForkJoinTask: forkJoinAsks,
	// Copies that libraries brought along: of the fork/join tasks of which nobody was seen to ask it is said that nobody did.
	"scala/concurrent/forkjoin/ForkJoinTask": forkJoinAsks,
	"akka/dispatch/forkjoin/ForkJoinTask":    forkJoinAsks,
	"jsr166y/ForkJoinTask":                   forkJoinAsks,
	// They hand it to the thread's handler of uncaught exceptions, or make the worker die of it.
	nameForkJoinTask + "$RunnableExecuteAction":                {"trySetException": whenGiven, "onAuxExceptionSet": whenGiven},
	"java/util/concurrent/StructuredTaskScope$SubtaskImpl":     {"exception": whenReturned},
	"java/util/concurrent/StructuredTaskScopeImpl$SubtaskImpl": {"exception": whenReturned},
}

// forkJoinAsks: the first in JDK 17 and in the copies, which are older; the second since JDK 22.
var forkJoinAsks = map[string]askedWhere{"getThrowableException": whenReturned, "getException": whenReturned}

const nameCompletableFuture = "java/util/concurrent/CompletableFuture"

// planAsks finds them.
func (p *Plan) planAsks() error {
	p.asks = true
	of := asks[p.Class]
	if of == nil {
		return nil
	}
	for _, m := range p.class.Methods {
		where, ok := of[m.Name]
		if !ok || m.Access&classfile.AccBridge != 0 {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue
		}
		a := AskPlan{Name: m.Name, Descriptor: m.Descriptor, member: m, where: where}
		for _, in := range code.Insns {
			if p.gives(in, where) {
				a.at = append(a.at, in)
			}
		}
		if len(a.at) > 0 || where == whenGiven {
			p.Asks = append(p.Asks, a)
		}
	}
	return nil
}

func (p *Plan) gives(in *classfile.Insn, where askedWhere) bool {
	switch {
	case where == whenThrown:
		return in.Op == classfile.OpAthrow
	case where == whenReturned:
		return in.Op == classfile.OpAreturn
	case where != whenCalled || in.Op != classfile.OpInvokeinterface:
		return false
	}
	_, name, _, err := p.class.Pool.MemberRef(in.Index)
	return err == nil && (name == "apply" || name == "accept")
}

func (p *Plan) weaveAsk(a *AskPlan) error {
	code, err := a.member.Code()
	if err != nil {
		return err
	}
	call, err := p.probe(probeAsked, descAsked)
	if err != nil {
		return err
	}
	if a.where == whenGiven {
		code.InsertBefore(code.First(), classfile.NewVarInsn(classfile.OpAload, 1), call)
	}
	for _, in := range a.at {
		code.InsertBeforeTargeted(in, classfile.NewInsn(classfile.OpDup), classfile.NewInvoke(call.Op, call.Index))
	}
	grow(&code.MaxStack, code.MaxStack+1)
	code.Edited()
	return nil
}
