package instrument

import (
	"errors"
	"fmt"

	"stackagent/agent/classfile"
)

// How the instructions of a method are counted.
type countScheme uint8

const (
	// countLocal adds each segment to a new local variable, which is added to
	// the thread's counter where the method ends.
	countLocal countScheme = iota
	// countDirect adds each segment to the thread's counter at once.
	countDirect
	// countNothing returns the thread's counter at the end the value that it had at
	// the start: what the method calls is not counted either.
	countNothing
)

// String names the scheme as listings show it.
func (s countScheme) String() string {
	return [...]string{"local", "direct", "nothing"}[s]
}

// A countPlan is a method whose instructions are to be counted.
type countPlan struct {
	Segments int // runs of instructions that are counted at their start

	scheme   countScheme
	coarse   bool // calls do not end a segment
	loops    bool // a segment can be executed again and again
	code     *classfile.Code
	marks    []uint8 // of the original code.Insns: markEarly, markRoot; nil: none
	segments []segment
	returns  int
	starts   bool // a constructor with instructions before super(...) has returned
}

const (
	markEarly = 1 << iota // in a constructor, before super(...) has returned
	markRoot              // a call of Object's constructor
)

func (c *countPlan) marked(i int, what uint8) bool { return c.marks != nil && c.marks[i]&what != 0 }

func (c *countPlan) mark(i int, what uint8) {
	if c.marks == nil {
		c.marks = make([]uint8, len(c.code.Insns))
	}
	c.marks[i] |= what
}

// segment is a run of instructions that are executed one after the other.
type segment struct {
	first  *classfile.Insn
	count  int  // instructions
	header bool // the target of a jump back
	joined bool // the target of a jump
	early  bool // in a constructor, before super(...) has returned
}

// planCounts plans the counts of all methods of the class. Methods that cannot be
// counted are left alone and listed in Left.
func (p *Plan) planCounts() {
	p.counts = make([]countPlan, 0, len(p.class.Methods))
	for _, m := range p.class.Methods {
		code, err := m.Code()
		if err != nil {
			r := refusal(p.Class, err, ReasonCountSubroutine)
			r.Member = m.Name + m.Descriptor
			p.Left = append(p.Left, r)
			continue
		}
		if code == nil || uncounted(p.Class, m.Name) {
			continue
		}
		c := countPlan{code: code}
		if p.planCount(&c) {
			p.counts = append(p.counts, c)
		}
	}
}

// uncounted reports whether a method must stay as it is: the JVM recognises objects
// without a finalizer by Object's empty one.
func uncounted(class, method string) bool {
	return class == nameObject && method == "finalize"
}

// findRoots finds the calls of Object's constructor. It throws nothing and, being
// replaceable, counts as nothing: such a call is like any other instruction.
func (c *countPlan) findRoots(pool *classfile.Pool) {
	for i, in := range c.code.Insns {
		if in.Op != classfile.OpInvokespecial {
			continue
		}
		if owner, name, _, err := pool.MemberRef(in.Index); err == nil && owner == nameObject && name == "<init>" {
			c.mark(i, markRoot)
		}
	}
}

// planCount plans the count of one method; false: there is nothing to do.
func (p *Plan) planCount(c *countPlan) bool {
	m := c.code.Method()
	c.findRoots(p.class.Pool)
	if m.Name == "<init>" && m.Access&classfile.AccStatic == 0 {
		p.planEarly(c)
	}
	if replaceable(m) && !onlyMarked[p.Class+"."+m.Name] {
		c.scheme = countNothing
		if !c.calls() {
			return false // counts nothing by itself
		}
		return true
	}
	c.split()
	if size, ok := c.fits(); !ok {
		c.coarse = true
		c.split()
		if _, ok := c.fits(); !ok {
			p.leave(c, ReasonCountSize, "with the counting up to %d bytes", size)
			return false
		}
		p.leave(c, ReasonCountCoarse, "with a count after each call up to %d bytes", size)
	}
	return true
}

func (p *Plan) leave(c *countPlan, reason Reason, format string, args ...any) {
	r := refuse(p.Class, reason, format, args...)
	r.Member = signature(c.code)
	p.Left = append(p.Left, r)
}

// calls reports whether a method can execute the instructions of other methods.
func (c *countPlan) calls() bool {
	for i, in := range c.code.Insns {
		if in.Op.IsInvoke() && !c.marked(i, markRoot) {
			return true
		}
	}
	return false
}

// planEarly finds the instructions before super(...) has returned: no handler can
// catch what they throw, so they are counted directly. If this cannot be followed,
// the whole constructor is counted directly.
func (p *Plan) planEarly(c *countPlan) {
	flow, err := analyseStart(p.class, c.code)
	for i := range c.code.Insns {
		if err != nil || flow.local0[i] == valueUninit {
			c.mark(i, markEarly)
			c.starts = true
		}
	}
}

// split finds the segments. They begin where control can enter or leave, and after
// calls: what follows a call is not executed when it throws.
func (c *countPlan) split() {
	joins := c.markJumps()
	if c.cut(false); !joins && len(c.segments) <= mostDirect {
		c.scheme = countDirect
	} else if c.starts {
		c.cut(true)
	}
	c.Segments = len(c.segments)
}

// mostDirect is the number of segments up to which counting each at once takes less
// code than keeping a count.
const mostDirect = 4

// cut is split where the scheme is known: the code before super(...) is a segment
// of its own if it is counted in another way.
func (c *countPlan) cut(early bool) {
	c.segments, c.returns = c.segments[:0], 0
	begin, header, joined := true, false, false
	for i, in := range c.code.Insns {
		if !isReal(in) {
			joined = joined || in.Label.Mark&labelJoin != 0
			begin = begin || joined
			header = header || in.Label.Mark&labelHead != 0
			continue
		}
		if begin || early && c.marked(i, markEarly) != c.segments[len(c.segments)-1].early {
			c.segments = append(c.segments, segment{first: in, header: header, joined: joined, early: early && c.marked(i, markEarly)})
		}
		header, joined = false, false
		c.segments[len(c.segments)-1].count++
		begin = in.Op.Ends() || in.Op.IsJump() || in.Op.IsInvoke() && !c.coarse && !c.marked(i, markRoot)
		if in.Op.IsReturn() {
			c.returns++
		}
	}
}

// What is known of a label, in Label.Mark.
const (
	labelJoin   = 1 << iota // something jumps here
	labelHead               // something jumps back here
	labelPassed             // markJumps has passed it
)

// markJumps marks the labels that something jumps to, and reports whether there are any.
func (c *countPlan) markJumps() (joins bool) {
	for _, in := range c.code.Insns {
		if !isReal(in) {
			in.Label.Mark = 0
		}
	}
	to := func(l *classfile.Label) {
		joins = true
		l.Mark |= labelJoin
		if l.Mark&labelPassed != 0 {
			l.Mark |= labelHead
			c.loops = true
		}
	}
	for _, in := range c.code.Insns {
		switch {
		case !isReal(in):
			in.Label.Mark |= labelPassed
		case in.Target != nil:
			to(in.Target)
		case in.Switch != nil:
			to(in.Switch.Default)
			for _, l := range in.Switch.Targets {
				to(l)
			}
		}
	}
	for _, h := range c.code.Handlers {
		joins = true
		h.Target.Mark |= labelJoin
	}
	return joins
}

// Bytes that counting adds, at most.
const (
	incBytes    = 6         // wide iinc
	directBytes = 3 + 3     // push, call
	foldBytes   = 4*4 + 5   // iload, i2l, lload, ladd, lstore, push, istore
	flushBytes  = 4 + 4 + 3 // iload, lload, call
	frameBytes  = 2 * 8     // preparing the locals, the handler
	maxCode     = 65535
)

// fits reports whether the method may grow by its counts: the JIT must still
// compile it if it does now, and the format must hold it. The size is an upper
// bound.
func (c *countPlan) fits() (size int, ok bool) {
	now, ok := codeSize(c.code.Method())
	if !ok {
		return 0, true
	}
	size = now + frameBytes + flushBytes
	for _, s := range c.segments {
		switch {
		case c.scheme == countDirect || s.early:
			size += directBytes
		case s.header:
			size += foldBytes
		case c.code.MaxLocals < 256 && s.count < 128:
			size += incBytes / 2
		default:
			size += incBytes
		}
	}
	size += c.returns * flushBytes
	if now <= hugeMethod {
		return size, size <= hugeMethod-reserve
	}
	return size, size <= maxCode-reserve
}

// reserve is the room for the probes of a task.
const reserve = 100

// String is the line of a listing.
func (c *countPlan) String() string {
	s := "count " + signature(c.code) + " " + c.scheme.String()
	if c.scheme != countNothing {
		s += fmt.Sprintf(" segments=%d", c.Segments)
	}
	if c.coarse {
		s += " coarse"
	}
	return s
}

// addCounts adds counts to the plan of the tasks. If there is nothing else to do, or
// the class was refused as a task, it makes a plan for the counts alone.
func addCounts(p *Plan, err error, in Input) (*Plan, error) {
	if p == nil {
		class, bad := in.parse()
		if bad != nil {
			return nil, refusal("", bad, ReasonVersion)
		}
		p = &Plan{target: target{Class: class.Name, Mode: in.Mode}, class: class}
		var refused *Refusal
		if errors.As(err, &refused) {
			if refused.Reason == ReasonAlreadyWoven {
				return nil, err
			}
			p.Left = append(p.Left, refused)
		}
	}
	if !countable(p.Class) {
		if len(p.Left) > 0 {
			return nil, err
		}
	} else {
		p.planCounts()
	}
	if p.empty() {
		return nil, nil
	}
	return p, nil
}

// countable reports whether the methods of a class can be counted: not those of the
// helper, nor of Continuation, whose frames the JVM itself moves.
func countable(class string) bool {
	return class != nameProbes && class != nameContinuation
}
