package classfile

import (
	"fmt"
	"math"
)

// maxCode is the largest code_length (JVMS 4.7.3).
const maxCode = 65535

// encoder writes one Code. It works on its own list of instructions, so that
// jumps widened for this encoding leave Code.Insns alone.
type encoder struct {
	c     *Code
	pool  *Pool
	insns []*Insn
	wide  map[*Insn]bool // gotos that take four bytes of displacement; nil: none
	size  int            // of the code in bytes
	w     writer
}

// encode returns the content of the Code attribute, which the next encode overwrites.
func (c *Code) encode() ([]byte, error) {
	if c.err != nil {
		return nil, c.err
	}
	e := &encoder{c: c, pool: c.method.class.Pool, insns: c.Insns}
	if err := e.prepare(); err != nil {
		return nil, err
	}
	if err := e.layout(); err != nil {
		return nil, err
	}
	e.w.b = c.memory().code[:0]
	c.marks = c.marks[:0]
	e.w.u2(uint16(c.MaxStack))
	e.w.u2(uint16(c.MaxLocals))
	e.w.u4(uint32(e.size))
	for _, in := range e.insns {
		e.emit(in)
	}
	for _, step := range []func() error{e.handlers, e.attributes} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	c.memory().code = e.w.b
	return e.w.b, nil
}

func (e *encoder) errorf(format string, args ...any) error {
	return &EditError{Where: e.c.method.String(), What: fmt.Sprintf(format, args...)}
}

func (e *encoder) tooLarge(what string, n int) error {
	return &TooLargeError{Method: e.c.method.String(), What: what, Size: n}
}

// prepare checks the instructions and gives integers their pool entries.
func (e *encoder) prepare() error {
	if n := e.c.MaxStack; n < 0 || n > math.MaxUint16 {
		return e.tooLarge("stack", n)
	}
	if n := e.c.MaxLocals; n < 0 || n > math.MaxUint16 {
		return e.tooLarge("locals", n)
	}
	for _, in := range e.insns {
		if in == nil {
			return e.errorf("an instruction is nil")
		}
		if in.Op == OpPushInt {
			i, err := e.pool.AddInteger(in.Const)
			if err != nil {
				return err
			}
			in.Index = i
			continue
		}
		if what := e.problem(in); what != "" {
			return e.errorf("%s: %s", in, what)
		}
	}
	return nil
}

// problem says why an instruction cannot be encoded, or "".
func (e *encoder) problem(in *Insn) string {
	if in.Op == OpLabel {
		if in.Label == nil || &in.Label.node != in {
			return "not the instruction of its label"
		}
		return ""
	}
	switch k := in.Op.kind(); k {
	case kindPlain:
	case kindS1:
		return outside(in.Const, math.MinInt8, math.MaxInt8)
	case kindS2:
		return outside(in.Const, math.MinInt16, math.MaxInt16)
	case kindNewarray:
		return outside(in.Const, 4, 11)
	case kindVar, kindIinc:
		if in.Local < 0 || in.Local > math.MaxUint16 {
			return "no such local"
		}
		if k == kindIinc {
			return outside(in.Const, math.MinInt16, math.MaxInt16)
		}
	case kindLdc, kindPool, kindInterface, kindDynamic, kindMulti:
		if t := e.pool.Tag(in.Index); !tagFits(in.Op, t) {
			return fmt.Sprintf("constant pool entry of tag %d", t)
		}
		if k == kindMulti {
			return outside(in.Const, 1, 255)
		}
	case kindJump:
		if in.Target == nil {
			return "no target"
		}
	case kindTable, kindLookup:
		return switchProblem(in)
	default:
		return "not an operation of decoded code"
	}
	return ""
}

func outside(v, low, high int32) string {
	if v < low || v > high {
		return fmt.Sprintf("operand not within %d and %d", low, high)
	}
	return ""
}

func switchProblem(in *Insn) string {
	s := in.Switch
	switch {
	case s == nil || s.Default == nil:
		return "no default target"
	case in.Op == OpLookupswitch && len(s.Keys) != len(s.Targets):
		return "keys and targets differ in number"
	case in.Op == OpTableswitch && (len(s.Targets) == 0 ||
		int64(s.Low)+int64(len(s.Targets))-1 > math.MaxInt32):
		return "no targets, or keys beyond an int"
	}
	for i, t := range s.Targets {
		if t == nil {
			return "no target"
		}
		if i > 0 && in.Op == OpLookupswitch && s.Keys[i] <= s.Keys[i-1] {
			return "keys do not ascend"
		}
	}
	return ""
}

// length returns the bytes an instruction takes at an offset.
func (e *encoder) length(in *Insn, off int) int {
	switch in.Op.kind() {
	case kindPlain:
		return 1
	case kindS1, kindNewarray:
		return 2
	case kindVar:
		switch {
		case in.Local < 4:
			return 1
		case in.Local < 256:
			return 2
		}
		return 4
	case kindIinc:
		if narrowIinc(in) {
			return 3
		}
		return 6
	case kindLdc:
		return 2 + int(min(in.Index>>8, 1))
	case kindS2, kindPool:
		return 3
	case kindMulti:
		return 4
	case kindInterface, kindDynamic:
		return 5
	case kindJump:
		if e.wide != nil && e.wide[in] {
			return 5
		}
		return 3
	case kindTable:
		return 1 + 3 - off&3 + 12 + 4*len(in.Switch.Targets)
	case kindLookup:
		return 1 + 3 - off&3 + 8 + 8*len(in.Switch.Targets)
	}
	if in.Op == OpPushInt {
		return 2 + int(min(in.Index>>8, 1))
	}
	return 0 // label
}

func narrowIinc(in *Insn) bool {
	return in.Local < 256 && in.Const >= math.MinInt8 && in.Const <= math.MaxInt8
}

// emit appends an instruction, which prepare and layout have checked.
func (e *encoder) emit(in *Insn) {
	w := &e.w
	switch in.Op.kind() {
	case kindPlain:
		w.u1(byte(in.Op))
	case kindS1, kindNewarray:
		w.u1(byte(in.Op))
		w.u1(byte(in.Const))
	case kindS2:
		w.u1(byte(in.Op))
		if in.Marked {
			e.c.marks = append(e.c.marks, len(w.b))
		}
		w.u2(uint16(in.Const))
	case kindVar:
		e.emitVar(in)
	case kindIinc:
		e.emitIinc(in)
	case kindLdc:
		e.emitLdc(in.Index)
	case kindPool, kindMulti, kindInterface, kindDynamic:
		e.emitPool(in)
	case kindJump:
		e.emitJump(in)
	case kindTable, kindLookup:
		e.emitSwitch(in)
	default:
		if in.Op == OpPushInt {
			e.emitLdc(in.Index)
		}
	}
}

func (e *encoder) emitVar(in *Insn) {
	switch {
	case in.Local < 4:
		first, long := opIload0, OpIload
		if in.Op >= OpIstore {
			first, long = opIstore0, OpIstore
		}
		e.w.u1(byte(first + (in.Op-long)*4 + Opcode(in.Local)))
	case in.Local < 256:
		e.w.u1(byte(in.Op))
		e.w.u1(byte(in.Local))
	default:
		e.w.u1(byte(opWide))
		e.w.u1(byte(in.Op))
		e.w.u2(uint16(in.Local))
	}
}

func (e *encoder) emitIinc(in *Insn) {
	if narrowIinc(in) {
		e.w.raw([]byte{byte(in.Op), byte(in.Local), byte(in.Const)})
		return
	}
	e.w.raw([]byte{byte(opWide), byte(in.Op)})
	e.w.u2(uint16(in.Local))
	e.w.u2(uint16(in.Const))
}

func (e *encoder) emitLdc(index uint16) {
	if index < 256 {
		e.w.raw([]byte{byte(OpLdc), byte(index)})
		return
	}
	e.w.u1(byte(opLdcW))
	e.w.u2(index)
}

func (e *encoder) emitPool(in *Insn) {
	e.w.u1(byte(in.Op))
	e.w.u2(in.Index)
	switch in.Op {
	case OpMultianewarray:
		e.w.u1(byte(in.Const))
	case OpInvokeinterface:
		// The count repeats what the descriptor says.
		_, desc := e.pool.nameAndType(e.pool.at2(in.Index, 3))
		args, _, _ := methodSlots(desc)
		e.w.raw([]byte{byte(args + 1), 0})
	case OpInvokedynamic:
		e.w.u2(0)
	}
}

func (e *encoder) emitJump(in *Insn) {
	by := in.Target.off - in.off
	if e.wide[in] {
		e.w.u1(byte(opGotoW))
		e.w.u4(uint32(by))
		return
	}
	e.w.u1(byte(in.Op))
	e.w.u2(uint16(by))
}

func (e *encoder) emitSwitch(in *Insn) {
	w, s := &e.w, in.Switch
	w.u1(byte(in.Op))
	for range 3 - in.off&3 {
		w.u1(0)
	}
	w.u4(uint32(s.Default.off - in.off))
	if in.Op == OpTableswitch {
		w.u4(uint32(s.Low))
		w.u4(uint32(s.Low + int32(len(s.Targets)) - 1))
	} else {
		w.u4(uint32(len(s.Targets)))
	}
	for i, t := range s.Targets {
		if in.Op == OpLookupswitch {
			w.u4(uint32(s.Keys[i]))
		}
		w.u4(uint32(t.off - in.off))
	}
}
