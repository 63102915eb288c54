package instrument

import (
	"fmt"

	"stackagent/agent/classfile"
)

// stageFailures shows a probe what the function of a CompletableFuture's stage threw: the
// JDK catches it inside the stage's execution, which would look as if it had ended well.
//
//	catch (Throwable t) { Stackagent.stageFailed(t, this); dep.completeThrowable(t); }
//
// Some stages leave the call of the function to a method of the future that depends on
// it, which knows no task and is called without one, too. The stage is noted around the call:
//
//	Object before = Stackagent.stageCalls(this); dep.uniHandle(...); Stackagent.stageCalled(before);
//	catch (Throwable t) { Stackagent.stageThrew(t, this); completeThrowable(t); }
//
// What whenComplete's function throws is not the exception of a future whose source has failed: stageThrewToo.
//
// Stages whose function is a Runnable have no probes: the Runnable's execution ends by the
// exception, as that of a FutureTask's Callable does.
type stageFailures struct{}

const (
	nameStage    = nameCompletableFuture + "$"
	nameAnything = "java/lang/Throwable"
)

// stageCatches are the methods that catch what the function throws, by class.
var stageCatches = map[string]map[string]bool{
	nameStage + "AsyncSupply":             {"run": true},
	nameStage + "UniApply":                {"tryFire": true},
	nameStage + "UniAccept":               {"tryFire": true},
	nameStage + "UniCompose":              {"tryFire": true},
	nameStage + "UniComposeExceptionally": {"tryFire": true},
	nameStage + "OrApply":                 {"tryFire": true},
	nameStage + "OrAccept":                {"tryFire": true},
	nameCompletableFuture:                 {"uniHandle": true, "uniWhenComplete": true, "uniExceptionally": true, "biApply": true, "biAccept": true},
}

// stageCalls are the classes whose tryFire calls such a method of the future, and that method.
var stageCalls = map[string]string{
	nameStage + "UniHandle":        "uniHandle",
	nameStage + "UniWhenComplete":  "uniWhenComplete",
	nameStage + "UniExceptionally": "uniExceptionally",
	nameStage + "BiApply":          "biApply",
	nameStage + "BiAccept":         "biAccept",
}

func (stageFailures) wants(t target) bool {
	return t.mayInsert() && (stageCatches[t.Class] != nil || stageCalls[t.Class] != "")
}

func (k stageFailures) plan(p *Plan) error {
	catches, calls := stageCatches[p.Class], stageCalls[p.Class]
	choose := func(m *classfile.Member) bool {
		return !isStatic(m) && m.Access&classfile.AccBridge == 0 && (catches[m.Name] || calls != "" && m.Name == "tryFire")
	}
	found := 0
	err := p.eachCode(choose, func(code *classfile.Code) error {
		s := &stageStep{code: code, to: probeStageFailed}
		switch {
		case calls != "":
			s.to, s.at = probeStageCalls, k.calls(p, code, calls)
		default:
			s.at = k.handlers(code)
		}
		if p.Class == nameCompletableFuture {
			s.to = probeStageThrew
		}
		if code.Method().Name == "uniWhenComplete" {
			s.to = probeStageThrewToo
		}
		if len(s.at) > 0 {
			p.steps = append(p.steps, s)
			found++
		}
		return nil
	})
	if found < max(1, len(catches)) {
		p.note("a function is called in an unknown way: exceptions of such stages are not seen")
	}
	return err
}

// calls are the calls of that method of the future.
func (stageFailures) calls(p *Plan, code *classfile.Code, method string) (at []*classfile.Insn) {
	for _, in := range code.Insns {
		if in.Op != classfile.OpInvokevirtual {
			continue
		}
		owner, name, _, err := p.class.Pool.MemberRef(in.Index)
		if err == nil && owner == nameCompletableFuture && name == method {
			at = append(at, in)
		}
	}
	return at
}

// handlers are the first instructions of the handlers for everything.
func (stageFailures) handlers(code *classfile.Code) (at []*classfile.Insn) {
	seen := map[*classfile.Label]bool{}
	for _, h := range code.Handlers {
		if h.CatchType != nameAnything || seen[h.Target] {
			continue
		}
		seen[h.Target] = true
		for _, in := range code.Insns[code.Position(h.Target):] {
			if isReal(in) {
				at = append(at, in)
				break
			}
		}
	}
	return at
}

// A stageStep is a method of a stage, or of the future that depends on it.
type stageStep struct {
	code *classfile.Code
	to   probe
	at   []*classfile.Insn // first instructions of handlers; of probeStageCalls: calls
}

// String implements step.
func (s *stageStep) String() string {
	return fmt.Sprintf("stage %s %s %d", signature(s.code), s.to.name, len(s.at))
}

// weave implements step.
func (s *stageStep) weave(p *Plan) error {
	weave := s.handler
	if s.to == probeStageCalls {
		weave = s.around
	}
	for _, in := range s.at {
		if err := weave(p, in); err != nil {
			return err
		}
	}
	s.code.Edited()
	return nil
}

// handler puts the probe at the start of a handler.
func (s *stageStep) handler(p *Plan, first *classfile.Insn) error {
	call, err := p.callOnThis(s.to)
	if err != nil {
		return err
	}
	out := []*classfile.Insn{classfile.NewInsn(classfile.OpDup), call[0]}
	if s.to == probeStageThrewToo { // the source's result is the first parameter
		out = append(out, classfile.NewVarInsn(classfile.OpAload, 1))
	}
	s.code.InsertBeforeTargeted(first, append(out, call[1])...)
	grow(&s.code.MaxStack, 4)
	return nil
}

// around puts the probes around a call.
func (s *stageStep) around(p *Plan, of *classfile.Insn) error {
	before, err := p.callOnThis(probeStageCalls)
	if err != nil {
		return err
	}
	after, err := p.call(probeStageCalled)
	if err != nil {
		return err
	}
	saved := s.code.AddObjectLocal(nameObject)
	s.code.InsertBeforeTargeted(of, append(before, classfile.NewVarInsn(classfile.OpAstore, saved))...)
	s.code.InsertBefore(s.code.First(), classfile.NewInsn(classfile.OpAconstNull), classfile.NewVarInsn(classfile.OpAstore, saved)) // frames have it
	s.code.InsertAfter(of, classfile.NewVarInsn(classfile.OpAload, saved), after)
	grow(&s.code.MaxStack, s.code.MaxStack+1)
	return nil
}
