package instrument

import (
	"stackagent/agent/classfile"
)

func (f *frame) push(c ...value) { f.stack = append(f.stack, c...) }

// pop takes n slots and gives them, topmost last; nil, false if there are too
// few.
func (f *frame) pop(n int) ([]value, bool) {
	if n < 0 || n > len(f.stack) {
		return nil, false
	}
	top := f.stack[len(f.stack)-n:]
	f.stack = f.stack[:len(f.stack)-n]
	return top, true
}

// shuffles are the instructions that move stack slots: how many slots they
// take, and which of them (0 is the lowest taken) they leave.
var shuffles = map[classfile.Opcode]struct {
	take  int
	leave []int
}{
	classfile.OpDup:    {1, []int{0, 0}},
	classfile.OpDupX1:  {2, []int{1, 0, 1}},
	classfile.OpDupX2:  {3, []int{2, 0, 1, 2}},
	classfile.OpDup2:   {2, []int{0, 1, 0, 1}},
	classfile.OpDup2X1: {3, []int{1, 2, 0, 1, 2}},
	classfile.OpDup2X2: {4, []int{2, 3, 0, 1, 2, 3}},
	classfile.OpSwap:   {2, []int{1, 0}},
}

const errStack = flowError("the stack runs empty or over")

// step applies an instruction to f and reports whether the locals changed.
func (a *analysis) step(i int, in *classfile.Insn, f *frame) (changed bool, err error) {
	if s, ok := shuffles[in.Op]; ok {
		return false, f.shuffle(s.take, s.leave, a.code.MaxStack)
	}
	pops, pushes, err := classfile.StackEffect(a.class.Pool, in)
	if err != nil {
		return false, err
	}
	if n := localSize(in.Op); n > 0 && (in.Local < 0 || in.Local+n > len(f.locals)) {
		return false, flowError("no such local variable")
	}
	if in.Op == classfile.OpAload {
		f.push(f.locals[in.Local])
		return false, f.limit(a.code.MaxStack)
	}
	taken, ok := f.pop(pops)
	if !ok {
		return false, errStack
	}
	switch {
	case in.Op == classfile.OpAstore:
		changed = f.locals[in.Local] != taken[0]
		f.locals[in.Local] = taken[0]
	case in.Op >= classfile.OpIstore && in.Op < classfile.OpAstore:
		for k := 0; k < localSize(in.Op); k++ {
			changed = changed || f.locals[in.Local+k] != valueOther
			f.locals[in.Local+k] = valueOther
		}
	case in.Op == classfile.OpInvokespecial:
		changed, err = a.special(i, in, f, taken)
	}
	for k := 0; k < pushes; k++ {
		f.push(valueOther)
	}
	if err == nil {
		err = f.limit(a.code.MaxStack)
	}
	return changed, err
}

// localSize is the number of local variables that op uses, from Insn.Local on.
func localSize(op classfile.Opcode) int {
	switch op {
	case classfile.OpIload, classfile.OpFload, classfile.OpAload,
		classfile.OpIstore, classfile.OpFstore, classfile.OpAstore, classfile.OpIinc:
		return 1
	case classfile.OpLload, classfile.OpDload, classfile.OpLstore, classfile.OpDstore:
		return 2
	}
	return 0
}

func (f *frame) limit(max int) error {
	if len(f.stack) > max {
		return errStack
	}
	return nil
}

func (f *frame) shuffle(take int, leave []int, max int) error {
	top, ok := f.pop(take)
	if !ok {
		return errStack
	}
	var slots [4]value
	copy(slots[:], top)
	for _, k := range leave {
		f.push(slots[k])
	}
	return f.limit(max)
}

// special handles invokespecial: a call of <init> on this before it is
// initialised turns every copy of it into the initialised object.
func (a *analysis) special(i int, in *classfile.Insn, f *frame, taken []value) (changed bool, err error) {
	_, name, _, err := a.class.Pool.MemberRef(in.Index)
	if err != nil {
		return false, err
	}
	if name != "<init>" {
		return false, nil
	}
	if len(taken) == 0 {
		return false, errStack
	}
	a.receiver[i] = taken[0]
	if taken[0] != valueUninit {
		return false, nil
	}
	for _, values := range [][]value{f.locals, f.stack} {
		for k := range values {
			if values[k] == valueUninit {
				values[k] = valueSelf
			}
		}
	}
	return true, nil
}
