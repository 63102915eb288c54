package instrument

import (
	"errors"
	"math"
	"slices"

	"stackagent/agent/classfile"
)

// counted is a method with a count, while the other probes are woven.
type counted struct {
	*countPlan
	n        int        // local: the count, or for countNothing the mark
	sum      int        // local: what was counted before n, in a method with loops
	done     bool       // the handler of another probe adds the count when the method throws
	from     int        // what n starts with: the first segment
	throwing []insnSpan // where the program's own code can throw
}

// weaveCounts puts the counts into all planned methods, except what must follow the
// probes of the tasks: see finishCounts.
func (p *Plan) weaveCounts() error {
	p.counted = make([]counted, len(p.counts))
	for i := range p.counts {
		c := &p.counted[i]
		c.countPlan = &p.counts[i]
		if err := p.weaveCount(c); err != nil {
			return err
		}
		c.code.Edited()
	}
	return nil
}

// countOf is the counting of a method; nil: it does not count.
func (p *Plan) countOf(code *classfile.Code) *counted {
	i := slices.IndexFunc(p.counted, func(c counted) bool { return c.code == code })
	if i < 0 {
		return nil
	}
	return &p.counted[i]
}

func (p *Plan) weaveCount(c *counted) error {
	switch {
	case c.scheme == countNothing:
		c.n = c.code.AddLongLocal()
	case c.scheme == countLocal:
		c.n = c.code.AddIntLocal()
		if c.loops {
			c.sum = c.code.AddLongLocal()
		}
	}
	if c.scheme != countDirect {
		c.findThrowing()
	}
	segments, failed := c.segments, error(nil)
	c.code.InsertAllBeforeTargeted(3*(len(segments)+c.returns), func(in *classfile.Insn) []*classfile.Insn {
		p.insns = p.insns[:0]
		if len(segments) > 0 && in == segments[0].first {
			failed = errors.Join(failed, p.countSegment(c, segments[0], len(segments) == len(c.segments)))
			segments = segments[1:]
		}
		if c.scheme != countDirect && in.Op.IsReturn() {
			failed = errors.Join(failed, p.flush(c, probeCount, probeCountLong))
		}
		return p.insns
	})
	switch {
	case c.scheme != countDirect:
		c.code.MaxStack += c.flushStack()
	case len(c.segments) > 0:
		c.code.MaxStack++
	}
	return failed
}

// add appends an instruction to p.insns.
func (p *Plan) add(c *counted, in *classfile.Insn) { p.insns = append(p.insns, c.code.Keep(*in)) }

// countSegment appends to p.insns what counts a segment; first: it is the method's first.
func (p *Plan) countSegment(c *counted, s segment, first bool) error {
	switch {
	case first && c.scheme == countLocal && !s.early && !s.joined && s.count <= math.MaxInt16:
		c.from = s.count // executed once, at the very start
		return nil
	case c.scheme != countDirect && !s.early:
		p.addSegment(c, s)
		return nil
	}
	p.add(c, classfile.NewConstInsn(int32(s.count)))
	return p.addProbe(c, probeCount)
}

// addSegment counts a segment in the local variable. The head of a loop moves what
// has been counted so far to sum first: an int overflows in two seconds.
func (p *Plan) addSegment(c *counted, s segment) {
	if s.header {
		p.add(c, classfile.NewVarInsn(classfile.OpIload, c.n))
		p.add(c, classfile.NewInsn(classfile.OpI2l))
		p.add(c, classfile.NewVarInsn(classfile.OpLload, c.sum))
		p.add(c, classfile.NewInsn(classfile.OpLadd))
		p.add(c, classfile.NewVarInsn(classfile.OpLstore, c.sum))
		from := 0
		if s.count <= math.MaxInt16 {
			from = s.count
		}
		p.add(c, classfile.NewConstInsn(int32(from)))
		p.add(c, classfile.NewVarInsn(classfile.OpIstore, c.n))
		s.count -= from
	}
	for left := s.count; left > 0; left -= math.MaxInt16 {
		p.add(c, classfile.NewIincInsn(c.n, int16(min(left, math.MaxInt16))))
	}
}

// addProbe appends the call of a probe to p.insns. The references of those that count are looked up once.
func (p *Plan) addProbe(c *counted, to probe) error {
	for i := range p.probes {
		if p.probes[i].probe == to {
			p.add(c, classfile.NewInvoke(classfile.OpInvokestatic, p.probes[i].index))
			return nil
		}
	}
	call, err := p.call(to)
	if err != nil {
		return err
	}
	p.probes = append(p.probes, probeRef{to, call.Index})
	p.insns = append(p.insns, call)
	return nil
}

// probeRef is a probe in the constant pool.
type probeRef struct {
	probe
	index uint16
}

// flush appends to p.insns what adds the method's count to the thread's counter,
// by one probe, or by the other if the count is a long.
func (p *Plan) flush(c *counted, count, countLong probe) error {
	if c.scheme == countNothing {
		p.add(c, classfile.NewVarInsn(classfile.OpLload, c.n))
		return p.addProbe(c, probeReset)
	}
	p.add(c, classfile.NewVarInsn(classfile.OpIload, c.n))
	if c.loops {
		p.add(c, classfile.NewVarInsn(classfile.OpLload, c.sum))
		return p.addProbe(c, countLong)
	}
	return p.addProbe(c, count)
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

// rethrowing makes what the handler of a probe must do first so that the method's
// count is not lost, and adds the count's local variables to those of the handler.
// That handler catches all that the count's own would.
func (p *Plan) rethrowing(code *classfile.Code, locals []classfile.VerificationType) ([]*classfile.Insn, []classfile.VerificationType, error) {
	c := p.countOf(code)
	if c == nil || c.scheme == countDirect || c.done {
		return nil, locals, nil
	}
	c.done = code.Method().Name != "<init>" // there the count's own handler covers what precedes super(...), too
	p.insns = nil                           // the caller keeps them
	err := p.flush(c, probeCountThrown, probeCountThrownLong)
	grow(&c.code.MaxStack, 1+c.flushStack())
	return p.insns, c.locals(locals), err
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

// finishCounts prepares the local variables at the very start of the methods, before
// any probe, and adds the handlers for what the methods throw: outermost, after those
// of the probes.
func (p *Plan) finishCounts() error {
	for i := range p.counted {
		c := &p.counted[i]
		if c.scheme == countDirect {
			continue
		}
		if !c.done {
			if err := p.catchAll(c); err != nil {
				return err
			}
		}
		p.insns = p.insns[:0]
		if err := p.start(c); err != nil {
			return err
		}
		c.code.InsertBefore(c.code.First(), p.insns...)
		grow(&c.code.MaxStack, 2)
	}
	return nil
}

// start appends to p.insns what prepares the local variables.
func (p *Plan) start(c *counted) error {
	if c.scheme == countNothing {
		err := p.addProbe(c, probeMark)
		p.add(c, classfile.NewVarInsn(classfile.OpLstore, c.n))
		return err
	}
	p.add(c, classfile.NewConstInsn(int32(c.from)))
	p.add(c, classfile.NewVarInsn(classfile.OpIstore, c.n))
	if c.loops {
		p.add(c, classfile.NewInsn(classfile.OpLconst0))
		p.add(c, classfile.NewVarInsn(classfile.OpLstore, c.sum))
	}
	return nil
}

// catchAll adds the handler that adds the count when the method throws.
func (p *Plan) catchAll(c *counted) error {
	if len(c.throwing) == 0 {
		return nil
	}
	p.insns = p.insns[:0]
	if err := p.flush(c, probeCountThrown, probeCountThrownLong); err != nil {
		return err
	}
	p.handle(c.code, labelled(c.code, c.throwing), c.locals(nil), p.insns)
	grow(&c.code.MaxStack, 1+c.flushStack())
	return nil
}

// findThrowing finds the stretches of the program's own code that can throw, without
// the returns, before which the count has been added, and without what precedes the
// return of super(...).
func (c *counted) findThrowing() {
	open := false
	for i, in := range c.code.Insns {
		if !isReal(in) {
			continue
		}
		if in.Op.IsReturn() || c.marked(i, markEarly) {
			open = false
			continue
		}
		if !raises(in.Op) {
			continue
		}
		if !open {
			c.throwing = append(c.throwing, insnSpan{from: in})
			open = true
		}
		c.throwing[len(c.throwing)-1].to = in
	}
}

// raises reports whether an instruction can throw by itself, not because of another
// thread or a lack of stack.
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
