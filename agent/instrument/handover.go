package instrument

import (
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// A HandoverPlan is a method that hands a task over to an executor:
//
//	int token = Stackagent.handing(this, task);
//	try { body; Stackagent.handed(token) before every return }
//	catch (Throwable t) { Stackagent.refused(t, task, token); throw t; }
//
// What the body hands over in turn (the FutureTask around a Callable) is known
// by that to lie inside.
type HandoverPlan struct {
	Name, Descriptor string
	Probe            string // called at its start

	member *classfile.Member
	task   int  // the local variable that holds the task
	alone  bool // the probe takes the task only: it is this
}

// The probes at the start of a hand-over.
const (
	probeHanding    = "handing"    // by an executor
	probeScheduling = "scheduling" // the same, to run later
	probeRepeating  = "repeating"  // the same by the executor, once more
	probeForking    = "forking"    // ForkJoinTask.fork
	probeStarting   = "starting"   // Thread.start
	probeCancelled  = "cancelled"  // before the returns of cancel
	probeHolds      = "holds"      // at its start: what the task is around

	probeFailing = "failing" // where an execution ends by an exception
	probeAsked   = "asked"   // before somebody is given what may be one

	probeHanded  = "handed"  // before the returns of a hand-over
	probeRefused = "refused" // where it ends by an exception

	descHanding   = "(Ljava/lang/Object;Ljava/lang/Object;)I"     // executor, task -> token
	descRefused   = "(Ljava/lang/Throwable;Ljava/lang/Object;I)V" // thrown, task, token
	descHolds     = "(Ljava/lang/Object;)Ljava/lang/Object;"      // task -> the one in it
	descCancelled = "(ZLjava/lang/Object;Ljava/lang/Object;)Z"    // what cancel returns, task, the one in it -> the same
	descFailing   = "(Ljava/lang/Throwable;I)V"                   // thrown, token
	descAsked     = "(Ljava/lang/Object;)V"
	cancelType    = "(Z)Z"

	// What a completion service is given it hands over to this executor; one is
	// made for each invokeAny.
	completionsExecutor = "executor"
	descExecutor        = "Ljava/util/concurrent/Executor;"
)

// handoverProbes are the probes of java.lang.StackagentHandover.
var handoverProbes = map[string]bool{probeHanding: true, probeScheduling: true, probeRepeating: true,
	probeMaking: true, probeMaybe: true, probeMade: true, probeCalling: true, probeCalled: true, probeThrown: true, probeUnmade: true, probeForking: true, probeStarting: true,
	probeCancelled: true, probeHolds: true, probeFailing: true, probeAsked: true, probeHanded: true, probeRefused: true}

// handoverNames begin the names of an executor's methods that hand over the
// task which they take; those of ForkJoinPool that are not public are what
// invokeAll and invokeAny call.
var handoverNames = []string{"execute", "submit", "schedule", "invoke", "externalSubmit", "poolSubmit",
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

// submissionFields are the fields that submissions need; want is what the class
// gets anyway.
func (p *Plan) submissionFields(h classfile.Header, supers Hierarchy, want []string, filtered bool) []string {
	var more []string
	for _, name := range want {
		switch name {
		case FieldTaskID:
			more = append(more, FieldSubmitted)
		case FieldClassID:
			more = append(more, FieldExecutorClass)
		}
	}
	if filtered || p.Kinds&units.KindExecutor == 0 || h.Access&classfile.AccInterface != 0 {
		return more
	}
	if k, _ := superKinds(h.Super, supers); k&units.KindExecutor == 0 {
		more = append(more, FieldExecutorID)
	}
	return more
}

// planHandovers lists the methods that hand a task over.
func (p *Plan) planHandovers() error {
	for _, m := range p.class.Methods {
		h := p.handover(m)
		if h == nil {
			continue
		}
		code, err := m.Code()
		if err != nil {
			return refusal(p.Class, err, ReasonSubroutine)
		}
		if code == nil {
			continue // abstract or native
		}
		if err := p.compilable(m, code); err != nil {
			return err
		}
		p.Handovers = append(p.Handovers, *h)
	}
	return nil
}

// handover makes the plan of a method that hands over a task; nil: it is none.
// A bridge method only calls the one that does.
func (p *Plan) handover(m *classfile.Member) *HandoverPlan {
	if m.Access&(classfile.AccStatic|classfile.AccBridge) != 0 || m.Name == "" || m.Name[0] == '<' {
		return nil
	}
	h := &HandoverPlan{Name: m.Name, Descriptor: m.Descriptor, member: m, alone: true}
	switch {
	case p.Class == nameForkJoinTask && m.Name == "fork":
		h.Probe = probeForking
	case (p.Class == nameThread || p.Class == nameVirtualThread) && m.Name == "start" && strings.HasSuffix(m.Descriptor, ")V"):
		h.Probe = probeStarting
	case p.cancels(m):
		h.Probe = probeCancelled
	case p.Kinds&units.KindExecutor != 0 && handsOver(m.Name):
		h.Probe, h.alone = probeHanding, false
		switch {
		case m.Name == "reExecutePeriodic":
			h.Probe = probeRepeating
		case strings.HasPrefix(m.Name, "sched"), m.Name == "delayedExecute":
			h.Probe = probeScheduling
		}
		h.task = taskParameter(m.Descriptor)
	}
	if h.Probe == "" || !h.alone && h.task == 0 {
		return nil
	}
	return h
}

// cancels tells whether a method cancels the task that it belongs to. Some
// fork/join tasks have one of their own, which calls none of the others.
func (p *Plan) cancels(m *classfile.Member) bool {
	switch {
	case m.Name != "cancel":
		return false
	case p.Class == nameTimerTask:
		return m.Descriptor == "()Z"
	}
	return m.Descriptor == cancelType && (p.Class == nameFutureTask || p.Kinds&units.KindForkJoin != 0)
}

func handsOver(method string) bool {
	for _, prefix := range handoverNames {
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
		n := fieldDescriptorLen(d)
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

func (p *Plan) weaveHandover(h HandoverPlan) error {
	code, err := h.member.Code()
	if err != nil {
		return err
	}
	if h.Probe == probeCancelled {
		return p.weaveCancel(code)
	}
	enter, err := p.handing(h)
	if err != nil {
		return err
	}
	refused, err := p.probe(probeRefused, descRefused)
	if err != nil {
		return err
	}
	saved := code.AddObjectLocal(nameObject) // the parameter's own variable may be used for something else
	token := code.AddIntLocal()
	ranges, err := p.weaveReturns(code, probeHanded, token)
	if err != nil {
		return err
	}
	entry := append([]*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, h.task), classfile.NewVarInsn(classfile.OpAstore, saved)}, enter...)
	code.InsertBefore(code.First(), append(entry, classfile.NewVarInsn(classfile.OpIstore, token))...)
	count, locals, err := p.rethrowing(h.member, nil)
	if err != nil {
		return err
	}
	locals = classfile.WithLocal(locals, saved, classfile.ObjectType(nameObject))
	locals = classfile.WithLocal(locals, token, classfile.VerificationType{Tag: classfile.TypeInteger})
	handler := rethrow(code, locals, append(count, classfile.NewInsn(classfile.OpDup),
		classfile.NewVarInsn(classfile.OpAload, saved), classfile.NewVarInsn(classfile.OpIload, token), refused))
	for _, r := range ranges {
		code.AddHandler(r.start, r.end, handler, "")
	}
	grow(&code.MaxStack, 4)
	code.Edited()
	return nil
}

// handing makes the call of the probe at the start, which leaves the token.
func (p *Plan) handing(h HandoverPlan) ([]*classfile.Insn, error) {
	if h.alone {
		return p.callOnThis(h.Probe, descEnter)
	}
	enter, err := p.callOnThis(h.Probe, descHanding)
	if err != nil {
		return nil, err
	}
	out := enter[:1:1]
	if p.Class == nameCompletion && p.class.Field(completionsExecutor, descExecutor) != nil {
		i, err := p.class.Pool.AddFieldRef(nameCompletion, completionsExecutor, descExecutor)
		if err != nil {
			return nil, err
		}
		out = append(out, classfile.NewFieldInsn(classfile.OpGetfield, i))
	}
	return append(out, classfile.NewVarInsn(classfile.OpAload, h.task), enter[1]), nil
}

// weaveCancel shows the probe what cancel is about to return, and what the task
// held before: a FutureTask that is cancelled forgets it.
//
//	Object held = Stackagent.holds(this); body; return Stackagent.cancelled(result, this, held)
func (p *Plan) weaveCancel(code *classfile.Code) error {
	holds, err := p.callOnThis(probeHolds, descHolds)
	if err != nil {
		return err
	}
	held := code.AddObjectLocal(nameObject)
	for _, in := range append([]*classfile.Insn(nil), code.Insns...) {
		if !in.Op.IsReturn() {
			continue
		}
		call, err := p.callOnThis(probeCancelled, descCancelled)
		if err != nil {
			return err
		}
		code.InsertBeforeTargeted(in, call[0], classfile.NewVarInsn(classfile.OpAload, held), call[1])
	}
	code.InsertBefore(code.First(), append(holds, classfile.NewVarInsn(classfile.OpAstore, held))...)
	grow(&code.MaxStack, code.MaxStack+2)
	code.Edited()
	return nil
}
