package instrument

import (
	"stackagent/agent/classfile"
)

// The descriptors of the probes of java.lang.Stackagent.
const (
	descTask   = "(Ljava/lang/Object;)V"
	descEnter  = "(Ljava/lang/Object;)I"
	descToken  = "(I)V"
	descThread = "(Ljava/lang/Thread;)V"
)

// fieldAccess is private transient synthetic: no subclass sees the field, no
// serialisation writes it, no tool shows it.
const fieldAccess = classfile.AccPrivate | classfile.AccTransient | classfile.AccSynthetic

// Weave applies the plan and gives the new class file. It gives the same bytes
// each time. An error is a *Refusal.
func (p *Plan) Weave() ([]byte, error) {
	if p.woven != nil {
		return p.woven, nil
	}
	if p.failed != nil {
		return nil, p.failed
	}
	b, err := p.weave()
	if err != nil {
		p.failed = refusal(p.Class, err, ReasonSubroutine)
		return nil, p.failed
	}
	p.woven = b
	return b, nil
}

func (p *Plan) weave() ([]byte, error) {
	for _, name := range p.AddFields {
		if _, err := p.class.AddField(fieldAccess, name, "J"); err != nil {
			return nil, err
		}
	}
	if err := p.weaveCounts(); err != nil {
		return nil, err
	}
	for _, m := range p.Executions {
		if err := p.weaveExecution(m); err != nil {
			return nil, err
		}
	}
	for _, c := range p.Clones {
		if err := p.weaveClone(c); err != nil {
			return nil, err
		}
	}
	for _, s := range p.Slots {
		if err := p.weaveSlot(s); err != nil {
			return nil, err
		}
	}
	if p.archive != nil {
		p.weaveArchive()
	}
	for _, s := range p.standIns {
		if err := p.weaveStandIn(s); err != nil {
			return nil, err
		}
	}
	for _, h := range p.Handovers {
		if err := p.weaveHandover(h); err != nil {
			return nil, err
		}
	}
	for i := range p.Asks {
		if err := p.weaveAsk(&p.Asks[i]); err != nil {
			return nil, err
		}
	}
	for _, c := range p.Constructors {
		if err := p.weaveConstructor(c); err != nil {
			return nil, err
		}
	}
	for _, s := range p.Sites {
		if err := p.weaveSites(p.sites, s); err != nil {
			return nil, err
		}
	}
	for _, m := range p.Mounts {
		if err := p.weaveMount(m); err != nil {
			return nil, err
		}
	}
	if err := p.finishCounts(); err != nil {
		return nil, err
	}
	return p.class.Write()
}

// probe makes the call of a probe.
func (p *Plan) probe(name, descriptor string) (*classfile.Insn, error) {
	owner := nameProbes
	if handoverProbes[name] {
		owner = nameHandovers
	} else if constructionProbes[name] {
		owner = nameConstructions
	}
	i, err := p.class.Pool.AddMethodRef(owner, name, descriptor, false)
	if err != nil {
		return nil, err
	}
	return classfile.NewInvoke(classfile.OpInvokestatic, i), nil
}

// callOnThis makes aload_0 and the call of a probe.
func (p *Plan) callOnThis(name, descriptor string) ([]*classfile.Insn, error) {
	call, err := p.probe(name, descriptor)
	if err != nil {
		return nil, err
	}
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, 0), call}, nil
}

// callWithToken makes iload and the call of a probe.
func (p *Plan) callWithToken(name string, token int) ([]*classfile.Insn, error) {
	return p.callWith(name, descToken, token)
}

func (p *Plan) callWith(name, descriptor string, token int) ([]*classfile.Insn, error) {
	call, err := p.probe(name, descriptor)
	if err != nil {
		return nil, err
	}
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpIload, token), call}, nil
}

func grow(max *int, to int) {
	if *max < to {
		*max = to
	}
}

// throwable is the type of what a catch-all handler catches.
var throwable = []classfile.VerificationType{classfile.ObjectType("java/lang/Throwable")}

// rethrow appends a handler: insns, athrow.
func rethrow(code *classfile.Code, locals []classfile.VerificationType, insns []*classfile.Insn) *classfile.Label {
	handler := code.NewLabel()
	code.Append(handler.Insn())
	code.Append(insns...)
	code.Append(classfile.NewInsn(classfile.OpAthrow))
	code.SetFrame(handler, locals, throwable)
	return handler
}

func real(in *classfile.Insn) bool { return !in.Op.IsPseudo() }

// weaveExecution puts the probes of an execution around a method's body. The
// return instructions themselves lie outside the handler's range: what they
// throw (an unbalanced monitor) comes after the exit probe.
func (p *Plan) weaveExecution(m MethodPlan) error {
	code, err := m.member.Code()
	if err != nil {
		return err
	}
	entry, err := p.callOnThis(m.Probe, descEnter)
	if err != nil {
		return err
	}
	token := code.AddIntLocal()
	exits, exitThrow := "exit", "exitThrow"
	if m.exits != "" {
		exits, exitThrow = m.exits, m.exits
	}
	ranges, err := p.weaveReturns(code, exits, token)
	if err != nil {
		return err
	}
	code.InsertBefore(code.First(), append(entry, classfile.NewVarInsn(classfile.OpIstore, token))...)
	exit, err := p.callWithToken(exitThrow, token)
	if err != nil {
		return err
	}
	count, locals, err := p.rethrowing(m.member, nil)
	if err != nil {
		return err
	}
	locals = classfile.WithLocal(locals, token, classfile.VerificationType{Tag: classfile.TypeInteger})
	if p.asks && m.exits == "" {
		failing, err := p.callWith(probeFailing, descFailing, token)
		if err != nil {
			return err
		}
		count = append(append(count, classfile.NewInsn(classfile.OpDup)), failing...)
		grow(&code.MaxStack, 3)
	}
	handler := rethrow(code, locals, append(count, exit...))
	for _, r := range ranges {
		code.AddHandler(r.start, r.end, handler, "")
	}
	grow(&code.MaxStack, 2)
	code.Edited()
	return nil
}

// labels is a range of code.
type labels struct{ start, end *classfile.Label }

// weaveReturns puts an exit probe before every return and gives the ranges
// between the returns.
func (p *Plan) weaveReturns(code *classfile.Code, probe string, token int) ([]labels, error) {
	var ranges []labels
	var start *classfile.Label
	body := append([]*classfile.Insn(nil), code.Insns...)
	returns := false
	for i, in := range body {
		if !real(in) {
			continue
		}
		if start == nil {
			start = code.LabelBefore(in)
		}
		last := i == len(body)-1
		if in.Op.IsReturn() {
			returns = true
			exit, err := p.callWithToken(probe, token)
			if err != nil {
				return nil, err
			}
			code.InsertBeforeTargeted(in, exit...)
			ranges = append(ranges, labels{start, code.LabelBefore(in)})
			start = nil
		} else if last {
			ranges = append(ranges, labels{start, code.LabelAfter(in)})
			start = nil
		}
	}
	if start != nil { // pseudo instructions at the end
		ranges = append(ranges, labels{start, code.LabelAfter(body[len(body)-1])})
	}
	if returns {
		code.MaxStack++ // the token on top of the result
	}
	return ranges, nil
}

// weaveConstructor reports the creation after super(...) and the failure of
// what follows it.
func (p *Plan) weaveConstructor(c ConstructorPlan) error {
	code, err := c.member.Code()
	if err != nil {
		return err
	}
	ranges := make([]labels, len(c.spans))
	for i, s := range c.spans {
		// Labels first: inserted code moves the indices.
		ranges[i] = labels{code.LabelBefore(s.from), code.LabelAfter(s.to)}
	}
	for _, call := range c.supers {
		created, err := p.callOnThis("created", descTask)
		if err != nil {
			return err
		}
		if slot := p.slotAfter(c.member); slot != nil {
			call = slot // the id of a thread is kept there
		}
		code.InsertAfter(call, created...)
	}
	if c.measured {
		if err := p.weaveConstruction(c, code); err != nil {
			return err
		}
	}
	if len(ranges) > 0 {
		failed, err := p.callOnThis("failed", descTask)
		if err != nil {
			return err
		}
		this := []classfile.VerificationType{classfile.ObjectType(p.Class)}
		count, locals, err := p.rethrowing(c.member, this)
		if err != nil {
			return err
		}
		handler := rethrow(code, locals, append(count, failed...))
		for _, r := range ranges {
			code.AddHandler(r.start, r.end, handler, "")
		}
		grow(&code.MaxStack, 2)
	}
	code.Edited()
	return nil
}

// weaveMount calls a probe at the start of a method, or two around a call in it.
func (p *Plan) weaveMount(m MountPlan) error {
	code, err := m.member.Code()
	if err != nil {
		return err
	}
	call, err := p.callOnThis(m.Probe, descThread)
	if err != nil {
		return err
	}
	if m.around == nil {
		code.InsertBefore(code.First(), call...)
		grow(&code.MaxStack, 1)
		code.Edited()
		return nil
	}
	back, err := p.callOnThis(m.after, descThread)
	if err != nil {
		return err
	}
	code.InsertBeforeTargeted(m.around, call...)
	code.InsertAfter(m.around, back...)
	grow(&code.MaxStack, code.MaxStack+1)
	code.Edited()
	return nil
}
