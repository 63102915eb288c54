package instrument

import (
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/taskdef"
	"stackagent/internal/units"
)

// submissions puts probes around the methods that submit a task to an executor:
//
//	int token = StackagentSubmission.submitting(this, task);
//	try { ...; StackagentSubmission.submitted(token) before every return }
//	catch (Throwable t) { StackagentSubmission.refused(t, task, token); throw t; }
//
// The token shows that a submission inside it (of the FutureTask around a Callable) is
// nested.
type submissions struct{}

// submitPrefixes begin the names of an executor's methods that submit the task
// which they take; those of ForkJoinPool that are not public are what invokeAll
// and invokeAny call.
var submitPrefixes = []string{"execute", "submit", "schedule", "invoke", "externalSubmit", "poolSubmit",
	"lazySubmit", "lazyExecute", "tryExecute", "dispatch", "delayedExecute", "reExecutePeriodic", "sched"}

// taskTypes are the types of a parameter that takes a task.
var taskTypes = map[string]bool{
	"Ljava/lang/Runnable;":                                        true,
	"Ljava/util/concurrent/Callable;":                             true,
	"Ljava/util/concurrent/ForkJoinTask;":                         true,
	"Ljava/util/concurrent/FutureTask;":                           true,
	"Ljava/util/concurrent/RunnableFuture;":                       true,
	"Ljava/util/concurrent/RunnableScheduledFuture;":              true,
	"Ljava/util/concurrent/DelayScheduler$ScheduledForkJoinTask;": true,
	"Ljava/util/TimerTask;":                                       true,
}

func (submissions) wants(t target) bool {
	return t.mayInsert() && t.submits && t.Kinds&(TaskKinds|units.KindExecutor) != 0
}

func (k submissions) plan(p *Plan) error {
	var s submissionStep
	choose := func(m *classfile.Member) (ok bool) {
		s, ok = k.step(p, m)
		return ok
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		if err := p.compilable(code); err != nil {
			return err
		}
		found := s
		found.code = code
		p.steps = append(p.steps, &found)
		return nil
	})
}

// step is what to do to a method, if it submits a task. A bridge method only calls
// the one that does.
func (submissions) step(p *Plan, m *classfile.Member) (s submissionStep, ok bool) {
	if isStatic(m) || m.Access&classfile.AccBridge != 0 || m.Name == "" || m.Name[0] == '<' {
		return s, false
	}
	switch {
	case p.Class == nameForkJoinTask && m.Name == "fork":
		return submissionStep{begin: probeForking}, true
	case (p.Class == nameThread || p.Class == nameVirtualThread) && m.Name == "start" && strings.HasSuffix(m.Descriptor, ")V"):
		return submissionStep{begin: probeStarting}, true
	case p.Kinds&units.KindExecutor == 0 || !submits(m.Name):
		return s, false
	}
	s = submissionStep{begin: probeSubmitting, task: taskParameter(m.Descriptor)}
	switch {
	case m.Name == "reExecutePeriodic":
		s.begin = probeRepeating
	case strings.HasPrefix(m.Name, "sched"), m.Name == "delayedExecute":
		s.begin = probeScheduling
	}
	return s, s.task > 0
}

// enables is how the pool's scheduler passes on a task that is due: its submission is long past.
const enables = "executeEnabledScheduledTask"

func submits(method string) bool {
	if method == enables {
		return false
	}
	for _, prefix := range submitPrefixes {
		if strings.HasPrefix(method, prefix) {
			return true
		}
	}
	return false
}

// taskParameter is the local variable of an instance method's first parameter
// that takes a task, 0 if there is none.
func taskParameter(descriptor string) int {
	slot := 1
	for d := descriptor[1:]; d != "" && d[0] != ')'; {
		n := taskdef.FieldLen(d)
		if n == 0 {
			return 0
		}
		if taskTypes[d[:n]] {
			return slot
		}
		if slot++; d[0] == 'J' || d[0] == 'D' {
			slot++
		}
		d = d[n:]
	}
	return 0
}

// A submissionStep is a method that submits a task.
type submissionStep struct {
	code  *classfile.Code
	begin probe
	task  int // the local variable that holds the task; 0: it is this, and there is no executor
}

// String implements step.
func (s *submissionStep) String() string {
	return "submission " + signature(s.code) + " " + s.begin.name
}

// weave implements step.
func (s *submissionStep) weave(p *Plan) error {
	code := s.code
	enter, err := s.entry(p)
	if err != nil {
		return err
	}
	rejected, err := p.call(probeRejected)
	if err != nil {
		return err
	}
	saved := code.AddObjectLocal(nameObject) // the parameter's own variable may be reused
	token := code.AddIntLocal()
	ranges, err := p.beforeReturns(code, probeSubmitted, token)
	if err != nil {
		return err
	}
	entry := append([]*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, s.task), classfile.NewVarInsn(classfile.OpAstore, saved)}, enter...)
	code.InsertBefore(code.First(), append(entry, classfile.NewVarInsn(classfile.OpIstore, token))...)
	insns, locals, err := p.rethrowing(code, nil)
	if err != nil {
		return err
	}
	locals = classfile.WithLocal(locals, saved, classfile.ObjectType(nameObject))
	locals = classfile.WithLocal(locals, token, classfile.VerificationType{Tag: classfile.TypeInteger})
	p.handle(code, ranges, locals, append(insns, classfile.NewInsn(classfile.OpDup),
		classfile.NewVarInsn(classfile.OpAload, saved), classfile.NewVarInsn(classfile.OpIload, token), rejected))
	grow(&code.MaxStack, 4)
	code.Edited()
	return nil
}

// The executor to which a completion service submits its tasks; invokeAny makes a
// service for each call.
const (
	completionsExecutor = "executor"
	descExecutor        = "Ljava/util/concurrent/Executor;"
)

// entry makes the call of the probe at the start, which leaves the token.
func (s *submissionStep) entry(p *Plan) ([]*classfile.Insn, error) {
	enter, err := p.callOnThis(s.begin)
	if s.task == 0 || err != nil {
		return enter, err
	}
	out := enter[:1:1]
	if p.Class == nameCompletion && p.class.Field(completionsExecutor, descExecutor) != nil {
		i, err := p.class.Pool.AddFieldRef(nameCompletion, completionsExecutor, descExecutor)
		if err != nil {
			return nil, err
		}
		out = append(out, classfile.NewFieldInsn(classfile.OpGetfield, i))
	}
	return append(out, classfile.NewVarInsn(classfile.OpAload, s.task), enter[1]), nil
}
