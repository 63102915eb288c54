package instrument

import (
	"math"

	"stackagent/agent/classfile"
)

// The probes that count, of java.lang.Stackagent.
const (
	probeCount = "count" // adds to the counter of the thread
	probeMark  = "mark"  // gives it
	probeReset = "reset" // sets it

	// The same in a handler, where compiled code should be small.
	probeCountThrown = "countThrown"

	descCount     = "(I)V"
	descCountLong = "(IJ)V"
	descMark      = "()J"
	descReset     = "(J)V"
)

// counted is a method that counts, while the probes of its tasks are woven.
type counted struct {
	*CountPlan
	n    int  // local: the count, or for countNothing the mark
	sum  int  // local: what went before n, in a method with loops
	done bool // a handler of a task's probe adds the count when the method throws
	from int  // what n starts with: the first segment
}

// weaveCounts puts the counting into all planned methods, but for what must
// come after the probes of the tasks: see finishCounts.
func (p *Plan) weaveCounts() error {
	p.counted = make(map[*classfile.Member]*counted, len(p.Counts))
	for i := range p.Counts {
		c := &counted{CountPlan: &p.Counts[i]}
		if err := p.weaveCount(c); err != nil {
			return err
		}
		c.code.Edited()
		p.counted[c.member] = c
	}
	return nil
}

func (p *Plan) weaveCount(c *counted) error {
	before := make(map[*classfile.Insn][]*classfile.Insn, len(c.segments))
	switch {
	case c.scheme == countNothing:
		c.n = c.code.AddLongLocal()
	case c.scheme == countLocal:
		c.n = c.code.AddIntLocal()
		if c.loops {
			c.sum = c.code.AddLongLocal()
		}
	}
	stack := 0
	for i, s := range c.segments {
		if i == 0 && c.scheme == countLocal && !s.early && !s.joined && s.count <= math.MaxInt16 {
			c.from = s.count // executed once, at the very start
			continue
		}
		if c.scheme != countDirect && !s.early {
			before[s.first] = c.add(s)
			continue
		}
		stack = 1
		call, err := p.probe(probeCount, descCount)
		if err != nil {
			return err
		}
		before[s.first] = []*classfile.Insn{classfile.NewConstInsn(int32(s.count)), call}
	}
	if c.scheme != countDirect {
		for _, in := range c.body {
			if in.Op.IsReturn() {
				flush, err := p.flush(c, probeCount)
				if err != nil {
					return err
				}
				before[in] = append(before[in], flush...)
			}
		}
		stack = c.flushStack()
	}
	c.code.MaxStack += stack
	c.code.InsertAllBeforeTargeted(before)
	return nil
}

// add counts a segment in the local variable. At the head of a loop what has
// been counted so far is put aside first: an int overflows in two seconds.
func (c *counted) add(s segment) (insns []*classfile.Insn) {
	if s.header {
		insns = append(insns,
			classfile.NewVarInsn(classfile.OpIload, c.n), classfile.NewInsn(classfile.OpI2l),
			classfile.NewVarInsn(classfile.OpLload, c.sum), classfile.NewInsn(classfile.OpLadd),
			classfile.NewVarInsn(classfile.OpLstore, c.sum))
		if s.count <= math.MaxInt16 {
			return append(insns, classfile.NewConstInsn(int32(s.count)), classfile.NewVarInsn(classfile.OpIstore, c.n))
		}
		insns = append(insns, classfile.NewConstInsn(0), classfile.NewVarInsn(classfile.OpIstore, c.n))
	}
	for left := s.count; left > 0; left -= math.MaxInt16 {
		insns = append(insns, classfile.NewIincInsn(c.n, int16(min(left, math.MaxInt16))))
	}
	return insns
}

// flush adds what the method has counted to the thread's counter, by probe.
func (p *Plan) flush(c *counted, probe string) ([]*classfile.Insn, error) {
	switch {
	case c.scheme == countNothing:
		call, err := p.probe(probeReset, descReset)
		return []*classfile.Insn{classfile.NewVarInsn(classfile.OpLload, c.n), call}, err
	case c.loops:
		call, err := p.probe(probe, descCountLong)
		return []*classfile.Insn{classfile.NewVarInsn(classfile.OpIload, c.n),
			classfile.NewVarInsn(classfile.OpLload, c.sum), call}, err
	}
	call, err := p.probe(probe, descCount)
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpIload, c.n), call}, err
}

// flushStack is the number of stack slots that flush takes.
func (c *counted) flushStack() int {
	switch {
	case c.scheme == countNothing:
		return 2
	case c.loops:
		return 3
	}
	return 1
}

// rethrowing gives what a probe's handler in method m must do first so that
// the method's count is not lost, and the handler's local variables: those
// given, and the count's. The handler catches all that the counting's own would.
func (p *Plan) rethrowing(m *classfile.Member, locals []classfile.VerificationType) ([]*classfile.Insn, []classfile.VerificationType, error) {
	c := p.counted[m]
	if c == nil || c.scheme == countDirect {
		return nil, locals, nil
	}
	insns, err := p.flush(c, probeCountThrown)
	grow(&c.code.MaxStack, 1+c.flushStack())
	return insns, c.locals(locals), err
}

// locals adds the count's local variables to those of a frame.
func (c *counted) locals(of []classfile.VerificationType) []classfile.VerificationType {
	if c.scheme == countNothing {
		return classfile.WithLocal(of, c.n, classfile.VerificationType{Tag: classfile.TypeLong})
	}
	of = classfile.WithLocal(of, c.n, classfile.VerificationType{Tag: classfile.TypeInteger})
	if c.loops {
		of = classfile.WithLocal(of, c.sum, classfile.VerificationType{Tag: classfile.TypeLong})
	}
	return of
}

// finishCounts prepares the local variables at the very start of the methods,
// before any probe, and adds the handlers for what the methods throw: outermost,
// behind those of the probes.
func (p *Plan) finishCounts() error {
	for i := range p.Counts {
		c := p.counted[p.Counts[i].member]
		if c.scheme == countDirect {
			continue
		}
		if !c.done {
			if err := p.catchAll(c); err != nil {
				return err
			}
		}
		start, err := p.start(c)
		if err != nil {
			return err
		}
		c.code.InsertBefore(c.code.First(), start...)
		grow(&c.code.MaxStack, 2)
	}
	return nil
}

func (p *Plan) start(c *counted) ([]*classfile.Insn, error) {
	if c.scheme == countNothing {
		call, err := p.probe(probeMark, descMark)
		return []*classfile.Insn{call, classfile.NewVarInsn(classfile.OpLstore, c.n)}, err
	}
	insns := []*classfile.Insn{classfile.NewConstInsn(int32(c.from)), classfile.NewVarInsn(classfile.OpIstore, c.n)}
	if c.loops {
		insns = append(insns, classfile.NewInsn(classfile.OpLconst0), classfile.NewVarInsn(classfile.OpLstore, c.sum))
	}
	return insns, nil
}

// catchAll adds the handler that adds the count when the method throws.
func (p *Plan) catchAll(c *counted) error {
	var ranges []labels
	for _, s := range c.throwing() {
		ranges = append(ranges, labels{c.code.LabelBefore(s.from), c.code.LabelAfter(s.to)})
	}
	if len(ranges) == 0 {
		return nil
	}
	flush, err := p.flush(c, probeCountThrown)
	if err != nil {
		return err
	}
	handler := rethrow(c.code, c.locals(nil), flush)
	for _, r := range ranges {
		c.code.AddHandler(r.start, r.end, handler, "")
	}
	grow(&c.code.MaxStack, 1+c.flushStack())
	return nil
}

// throwing gives the stretches of the program's own code in which something
// can be thrown, without the returns, before which the count has been added,
// and without what comes before super(...) has returned.
func (c *counted) throwing() (spans []insnSpan) {
	open := false
	for _, in := range c.body {
		if in.Op.IsReturn() || c.early[in] {
			open = false
			continue
		}
		if !raises(in.Op) {
			continue
		}
		if !open {
			spans = append(spans, insnSpan{from: in})
			open = true
		}
		spans[len(spans)-1].to = in
	}
	return spans
}

// raises tells whether an instruction can throw, but for what another thread or
// a lack of stack makes it throw.
func raises(op classfile.Opcode) bool {
	switch {
	case op.IsInvoke(), op >= classfile.OpGetstatic && op <= classfile.OpPutfield,
		op >= classfile.OpIaload && op <= classfile.OpSaload, op >= classfile.OpIastore && op <= classfile.OpSastore:
		return true
	}
	switch op {
	case classfile.OpLdc, classfile.OpLdc2W, classfile.OpIdiv, classfile.OpLdiv, classfile.OpIrem, classfile.OpLrem,
		classfile.OpNew, classfile.OpNewarray, classfile.OpAnewarray, classfile.OpMultianewarray, classfile.OpArraylength,
		classfile.OpAthrow, classfile.OpCheckcast, classfile.OpInstanceof, classfile.OpMonitorenter, classfile.OpMonitorexit:
		return true
	}
	return false
}
