package classfile

import (
	"fmt"
	"math"
)

// Insn is an instruction, or a label between instructions. Which fields have a
// meaning depends on Op. An Insn is in one Code, once.
type Insn struct {
	Op     Opcode
	Marked bool   // sipush: Class.Marks says where its operand is in the written class
	Index  uint16 // constant pool index: fields, methods, classes, ldc, ldc2_w
	Const  int32  // bipush, sipush, OpPushInt, iinc amount, newarray type, multianewarray dimensions
	Local  int    // slot of a local variable: loads, stores, iinc
	Target *Label // jumps
	Switch *Switch
	Label  *Label // OpLabel

	pos int32 // where it was last seen in Code.Insns
	off int32 // offset in bytes, as of the last layout
}

// Switch holds the operands of tableswitch and lookupswitch.
type Switch struct {
	Default *Label
	Low     int32    // tableswitch: the key of Targets[0]
	Keys    []int32  // lookupswitch: ascending, one for each of Targets
	Targets []*Label // in the order of the keys
}

// Label is a position in a method: that of its OpLabel pseudo instruction in
// Code.Insns. Its zero value is not usable; see Code.NewLabel.
type Label struct {
	node   Insn
	frame  *Frame
	Mark   uint8 // for the use of readers and editors of the code; not written
	pinned bool  // stays right before the instruction that follows it
	pass   int32
	off    int32
}

func newLabel() *Label { return new(Label).init() }

func (l *Label) init() *Label {
	l.node.Op = OpLabel
	l.node.Label = l
	return l
}

// Insn returns the pseudo instruction of l. It may be in the code once.
func (l *Label) Insn() *Insn { return &l.node }

// Frame returns the stack map frame at l, or nil. It must not be changed; see
// Code.SetFrame.
func (l *Label) Frame() *Frame { return l.frame }

// NewInsn makes an instruction without operands.
func NewInsn(op Opcode) *Insn { return &Insn{Op: op} }

// NewVarInsn makes a load or store of the local at slot.
func NewVarInsn(op Opcode, slot int) *Insn { return &Insn{Op: op, Local: slot} }

// NewIincInsn makes an iinc of the local at slot.
func NewIincInsn(slot int, by int16) *Insn {
	return &Insn{Op: OpIinc, Local: slot, Const: int32(by)}
}

// NewConstInsn makes the shortest instruction that pushes v.
func NewConstInsn(v int32) *Insn {
	switch {
	case v >= -1 && v <= 5:
		return &Insn{Op: OpIconst0 + Opcode(v)}
	case v >= math.MinInt8 && v <= math.MaxInt8:
		return &Insn{Op: OpBipush, Const: v}
	case v >= math.MinInt16 && v <= math.MaxInt16:
		return &Insn{Op: OpSipush, Const: v}
	}
	return &Insn{Op: OpPushInt, Const: v}
}

// NewMarkedInsn makes a sipush of v whose place in the written class is in Class.Marks.
func NewMarkedInsn(v int16) *Insn { return &Insn{Op: OpSipush, Const: int32(v), Marked: true} }

// NewLdc makes an ldc (one slot) of a pool entry, not of a long or double.
func NewLdc(index uint16) *Insn { return &Insn{Op: OpLdc, Index: index} }

// NewFieldInsn makes a getstatic, putstatic, getfield or putfield.
func NewFieldInsn(op Opcode, index uint16) *Insn { return &Insn{Op: op, Index: index} }

// NewInvoke makes a call; the count of invokeinterface follows from the
// descriptor.
func NewInvoke(op Opcode, index uint16) *Insn { return &Insn{Op: op, Index: index} }

// NewJump makes a goto or a conditional jump.
func NewJump(op Opcode, target *Label) *Insn { return &Insn{Op: op, Target: target} }

// String renders the instruction without resolving pool indexes.
func (in *Insn) String() string {
	s := in.Op.String()
	switch in.Op.kind() {
	case kindS1, kindS2, kindNewarray:
		return fmt.Sprintf("%s %d", s, in.Const)
	case kindVar:
		return fmt.Sprintf("%s %d", s, in.Local)
	case kindIinc:
		return fmt.Sprintf("%s %d %d", s, in.Local, in.Const)
	case kindLdc, kindPool, kindInterface, kindDynamic:
		return fmt.Sprintf("%s #%d", s, in.Index)
	case kindMulti:
		return fmt.Sprintf("%s #%d %d", s, in.Index, in.Const)
	}
	if in.Op == OpPushInt {
		return fmt.Sprintf("%s %d", s, in.Const)
	}
	return s
}
