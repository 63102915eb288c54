package instrument

import (
	"errors"
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// executions puts probes around the methods that execute a task: run()V of a
// Runnable, call()Ljava/lang/Object; of a Callable, exec()Z of a ForkJoinTask, and
// what the user names:
//
//	int token = Stackagent.enter(this);
//	try { ...; Stackagent.exit(token) before every return }
//	catch (Throwable t) { Stackagent.exitThrow(token); throw t; }
//
// A covariant call() has enterCovariant instead, as it may be called directly or
// by its bridge. A class that is no task but declares such a method publicly has
// enterRunnable, enterCallable or enterForkJoin, which check what the object is: a
// subclass may inherit the method and add the interface.
type executions struct{}

// executionTypes are the execution methods of the platform's task types.
var executionTypes = [...]struct {
	kind             units.Kinds
	name, descriptor string
	guard            probe // for classes that are not of this kind
	protected        bool  // may be non-public in an implementation
}{
	{units.KindRunnable, "run", "()V", probeEnterRunnable, false},
	{units.KindCallable, "call", "()Ljava/lang/Object;", probeEnterCallable, false},
	{units.KindForkJoin, "exec", "()Z", probeEnterForkJoin, true},
}

func isTaskMethod(m *classfile.Member) bool {
	for _, t := range executionTypes {
		if m.Name == t.name && m.Descriptor == t.descriptor {
			return true
		}
	}
	return false
}

func (executions) wants(t target) bool {
	return t.mayInsert() && (t.isTask() || t.found.execution() && t.guardable())
}

// guardable reports whether methods of the class can get probes that check what the
// object is: a subclass, which may be a task, must be possible.
func (t *target) guardable() bool { return t.access&classfile.AccFinal == 0 && !t.hidden }

func (executions) plan(p *Plan) error {
	defs := p.definitions()
	p.fitting(defs)
	var enter probe
	choose := func(m *classfile.Member) (ok bool) {
		enter, ok = p.entryProbe(m, defs)
		return ok
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		if err := p.compilable(code); err != nil {
			var known *Refusal
			if covariant(code.Method()) && errors.As(err, &known) {
				known.Member = signature(code)
				p.Left = append(p.Left, known) // the bridge is woven and sees most executions
				return nil
			}
			return err
		}
		p.steps = append(p.steps, &executionStep{code, enter, probeExit, probeExitThrow})
		return nil
	})
}

// definitions are the user's definitions that apply to this class: those that
// name it, or all if a supertype is named by one. (Which one is not known; a
// method that matches another definition by chance is an execution method too.)
func (p *Plan) definitions() []TaskDefinition {
	if p.Kinds&units.KindCustom == 0 {
		return nil
	}
	for _, s := range append([]string{p.header.Super}, p.header.Interfaces...) {
		if k, _ := superKinds(s, p.in.Supers); k&units.KindCustom != 0 {
			return p.options.Tasks
		}
	}
	var defs []TaskDefinition
	for _, d := range p.options.Tasks {
		if matchGlob(d.Class, javaName(p.Class)) {
			defs = append(defs, d)
		}
	}
	return defs
}

// fitting notes which definitions fit a method with code, and which name a static
// one, which can be no task's: it has no object.
func (p *Plan) fitting(defs []TaskDefinition) {
	for _, d := range defs {
		fits := false
		for _, m := range p.class.Methods {
			switch {
			case !d.matchesMethod(m.Name, m.Descriptor) || m.Name[0] == '<':
			case !isStatic(m):
				fits = fits || m.Access&classfile.AccAbstract == 0
			case !strings.ContainsAny(d.Method, "*?") && matchGlob(d.Class, javaName(p.Class)):
				fits = true
				p.Left = append(p.Left, &Refusal{Reason: ReasonStatic, Class: p.Class, Member: m.Name + m.Descriptor})
			}
		}
		if fits {
			p.Defined = append(p.Defined, d)
		}
	}
}

// entryProbe is the probe for the start of a method, if that is an execution
// method. A method that only a subclass can make one, by adding the interface,
// gets a probe that checks what the object is.
func (p *Plan) entryProbe(m *classfile.Member, defs []TaskDefinition) (enter probe, ok bool) {
	if isStatic(m) || m.Name == "" || m.Name[0] == '<' {
		return probe{}, false
	}
	var guard probe
	public := m.Access&classfile.AccPublic != 0
	for _, t := range executionTypes {
		if m.Name != t.name || m.Descriptor != t.descriptor {
			continue
		}
		if p.Kinds&t.kind != 0 && (public || t.protected && m.Access&classfile.AccPrivate == 0) {
			return probeEnter, true
		}
		if p.guardable() && public {
			guard = t.guard
		}
	}
	if p.Class == nameVirtualThread && m.Name == "run" && m.Descriptor == "(Ljava/lang/Runnable;)V" {
		return probeStarted, true
	}
	for i := range defs {
		if defs[i].matchesMethod(m.Name, m.Descriptor) {
			return probeEnter, true
		}
	}
	if covariant(m) && public {
		return p.covariantProbe(m)
	}
	return guard, guard != probe{}
}

// covariant reports whether a method overrides Callable.call with another return
// type, if its class is a Callable: in the languages of the JVM no other method
// can have that name and no parameters then. The program may call it directly,
// without the bridge, which has the type of Callable's method.
func covariant(m *classfile.Member) bool {
	return m.Name == "call" && strings.HasPrefix(m.Descriptor, "()") && m.Descriptor != "()Ljava/lang/Object;"
}

// covariantProbe is entryProbe for such a method. A call through the bridge,
// which has probes of its own, is one execution. A class that is no Callable
// lends its method to a subclass only if it returns an object: for other types
// the compiler makes no bridge.
func (p *Plan) covariantProbe(m *classfile.Member) (enter probe, ok bool) {
	switch {
	case p.Kinds&units.KindCallable != 0:
		return probeCovariant, true
	case p.guardable() && strings.ContainsRune("L[", rune(m.Descriptor[2])):
		return probeEnterCallable, true
	}
	return probe{}, false
}

// An executionStep puts probes around the code of one method.
type executionStep struct {
	code                   *classfile.Code
	enter, exit, exitThrow probe
}

// String implements step.
func (s *executionStep) String() string { return "execution " + signature(s.code) + " " + s.enter.name }

// weave implements step. The return instructions themselves lie outside the
// handler's range: what they throw (an unbalanced monitor) follows the exit probe.
func (s *executionStep) weave(p *Plan) error {
	code := s.code
	entry, err := p.callOnThis(s.enter)
	if err != nil {
		return err
	}
	token := code.AddIntLocal()
	ranges, err := p.beforeReturns(code, s.exit, token)
	if err != nil {
		return err
	}
	code.InsertBefore(code.First(), append(entry, classfile.NewVarInsn(classfile.OpIstore, token))...)
	exit, err := p.callWithToken(s.exitThrow, token)
	if err != nil {
		return err
	}
	insns, locals, err := p.rethrowing(code, nil)
	if err != nil {
		return err
	}
	if p.options.Asked.Submissions && s.exitThrow == probeExitThrow {
		failing, err := p.callWithToken(probeFailing, token)
		if err != nil {
			return err
		}
		insns = append(append(insns, classfile.NewInsn(classfile.OpDup)), failing...)
		grow(&code.MaxStack, 3)
	}
	locals = classfile.WithLocal(locals, token, classfile.VerificationType{Tag: classfile.TypeInteger})
	p.handle(code, ranges, locals, append(insns, exit...))
	grow(&code.MaxStack, 2)
	code.Edited()
	return nil
}
