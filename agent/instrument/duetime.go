package instrument

import "stackagent/agent/classfile"

// dueTimes shows probes when the JDK's scheduled tasks were due: queue time begins
// then. A task that knows it says at the start of its execution how late it is:
//
//	StackagentSubmission.due(Stackagent.mark(), System.nanoTime() - time, this)
//
// What it executes inherits that. A TimerTask belongs to the program; the loop of
// the Timer says it (firing). The steps lie inside those of executions.
type dueTimes struct{}

// dueFields are the classes that know, the method that executes them, and the field and
// its clock.
var dueFields = map[string]struct {
	method, field   string
	owner, now      string // a static method ()J
	again           string // the method in which a periodic task queues itself again
	againDescriptor string
}{
	"java/util/concurrent/ScheduledThreadPoolExecutor$ScheduledFutureTask": {"run", "time", "java/lang/System", "nanoTime", "", ""},
	"java/util/concurrent/DelayScheduler$ScheduledForkJoinTask":            {"compute", "when", "java/util/concurrent/DelayScheduler", "now", "postExec", "()Z"},
}

const (
	nameTimerThread = "java/util/TimerThread"
	nameTimerQueue  = "java/util/TaskQueue"
)

func (dueTimes) wants(t target) bool {
	return t.mayInsert() && t.submits && (dueFields[t.Class].field != "" || t.Class == nameTimerThread)
}

func (k dueTimes) plan(p *Plan) error {
	if p.Class == nameTimerThread {
		return k.planTimer(p)
	}
	d := dueFields[p.Class]
	if p.class.Field(d.field, "J") == nil {
		p.note("no field " + d.field + ": queue time of scheduled tasks is not known")
		return nil
	}
	choose := func(m *classfile.Member) bool {
		return !isStatic(m) && m.Access&classfile.AccBridge == 0 && (m.Name == d.method || m.Name == d.again && m.Descriptor == d.againDescriptor)
	}
	return p.eachCode(choose, func(code *classfile.Code) error {
		p.steps = append(p.steps, &dueStep{code: code, again: code.Method().Name == d.again})
		return nil
	})
}

// planTimer finds where the loop of a Timer takes the next task from its queue, or gives it the
// time of its next period.
func (dueTimes) planTimer(p *Plan) error {
	if p.class.Field("queue", "L"+nameTimerQueue+";") == nil {
		return nil
	}
	choose := func(m *classfile.Member) bool { return m.Name == "mainLoop" && !isStatic(m) }
	return p.eachCode(choose, func(code *classfile.Code) error {
		s := &firingStep{code: code}
		for _, in := range code.Insns {
			if in.Op != classfile.OpInvokevirtual {
				continue
			}
			owner, name, _, err := p.class.Pool.MemberRef(in.Index)
			if err == nil && owner == nameTimerQueue && (name == "removeMin" || name == "rescheduleMin") {
				s.at = append(s.at, in)
			}
		}
		p.steps = append(p.steps, s)
		return nil
	})
}

// A dueStep is the start of a method of a class that knows when it is due.
type dueStep struct {
	code  *classfile.Code
	again bool
}

// String implements step.
func (s *dueStep) String() string {
	if s.again {
		return "due " + signature(s.code) + " " + probeAgain.name
	}
	return "due " + signature(s.code) + " " + probeDue.name
}

// weave implements step.
func (s *dueStep) weave(p *Plan) error {
	insns, err := s.insns(p)
	if err != nil {
		return err
	}
	s.code.InsertBefore(s.code.First(), insns...)
	grow(&s.code.MaxStack, 6)
	s.code.Edited()
	return nil
}

func (s *dueStep) insns(p *Plan) ([]*classfile.Insn, error) {
	if s.again {
		return p.callOnThis(probeAgain)
	}
	d := dueFields[p.Class]
	mark, err := p.call(probeMark)
	if err != nil {
		return nil, err
	}
	now, err := p.call(probe{d.owner, d.now, "()J"})
	if err != nil {
		return nil, err
	}
	field, err := p.class.Pool.AddFieldRef(p.Class, d.field, "J")
	if err != nil {
		return nil, err
	}
	due, err := p.callOnThis(probeDue)
	return append([]*classfile.Insn{mark, now, classfile.NewVarInsn(classfile.OpAload, 0), classfile.NewFieldInsn(classfile.OpGetfield, field),
		classfile.NewInsn(classfile.OpLsub)}, due...), err
}

// A firingStep is the loop of a Timer.
type firingStep struct {
	code *classfile.Code
	at   []*classfile.Insn
}

// String implements step.
func (s *firingStep) String() string { return "due " + signature(s.code) + " " + probeFiring.name }

// weave implements step.
func (s *firingStep) weave(p *Plan) error {
	queue, err := p.class.Pool.AddFieldRef(p.Class, "queue", "L"+nameTimerQueue+";")
	if err != nil {
		return err
	}
	for _, in := range s.at {
		call, err := p.callOnThis(probeFiring)
		if err != nil {
			return err
		}
		s.code.InsertBeforeTargeted(in, call[0], classfile.NewFieldInsn(classfile.OpGetfield, queue), call[1])
	}
	grow(&s.code.MaxStack, s.code.MaxStack+1)
	s.code.Edited()
	return nil
}
