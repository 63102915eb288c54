package classfile

import "strings"

// typeState holds the verification types of locals and stack while stepping
// through straight code. Here a long or double takes two entries: itself, then
// Top.
type typeState struct {
	c      *Code
	locals []VerificationType
	stack  []VerificationType
	err    error
}

func newTypeState(c *Code) *typeState {
	s := &typeState{c: c}
	f := c.InitialFrame()
	s.set(&f)
	return s
}

func (s *typeState) set(f *Frame) {
	s.locals = expand(s.locals[:0], f.Locals)
	s.stack = expand(s.stack[:0], f.Stack)
}

// expand appends types, the two-slot ones followed by Top.
func expand(to, types []VerificationType) []VerificationType {
	for _, t := range types {
		to = append(to, t)
		if t.Slots() == 2 {
			to = append(to, VerificationType{})
		}
	}
	return to
}

// collapse is the inverse of expand.
func collapse(slots []VerificationType) []VerificationType {
	out := make([]VerificationType, 0, len(slots))
	for i := 0; i < len(slots); i++ {
		out = append(out, slots[i])
		if slots[i].Slots() == 2 {
			i++
		}
	}
	return out
}

// frame returns the state as a frame.
func (s *typeState) frame() *Frame {
	n := len(s.locals)
	for n > 0 && s.locals[n-1].Tag == TypeTop &&
		(n < 2 || s.locals[n-2].Slots() == 1) {
		n--
	}
	return &Frame{Locals: collapse(s.locals[:n]), Stack: collapse(s.stack)}
}

func (s *typeState) fail(in *Insn, what string) {
	if s.err == nil {
		s.err = &UnsupportedError{What: s.c.method.String() + ": types at " + in.String() + ": " + what}
	}
}

func (s *typeState) push(t VerificationType) {
	s.stack = append(s.stack, t)
	if t.Slots() == 2 {
		s.stack = append(s.stack, VerificationType{})
	}
}

func (s *typeState) pop(in *Insn, slots int) {
	if slots > len(s.stack) {
		s.fail(in, "stack underflow")
		return
	}
	s.stack = s.stack[:len(s.stack)-slots]
}

// top returns the stack entry n slots below the top.
func (s *typeState) top(in *Insn, n int) VerificationType {
	if n >= len(s.stack) {
		s.fail(in, "stack underflow")
		return VerificationType{}
	}
	return s.stack[len(s.stack)-1-n]
}

// step applies an instruction; here is the label right before it, needed for
// new only.
func (s *typeState) step(in *Insn, here *Label) error {
	switch {
	case in.Op == OpAload:
		if in.Local >= len(s.locals) {
			s.fail(in, "no such local")
			break
		}
		s.push(s.locals[in.Local])
	case in.Op >= OpIstore && in.Op <= OpAstore:
		s.store(in)
	case in.Op >= OpPop && in.Op <= OpSwap:
		s.shuffle(in)
	case in.Op == OpLdc:
		s.push(s.constant(in))
	case in.Op == OpLdc2W:
		s.push(s.constant(in))
	case in.Op >= OpGetstatic && in.Op <= OpInvokedynamic:
		s.member(in)
	case in.Op == OpPushInt:
		s.push(VerificationType{Tag: TypeInteger})
	default:
		s.plain(in, here)
	}
	return s.err
}

// store pops into a local. Overwriting half of a long or double voids it.
func (s *typeState) store(in *Insn) {
	slots := 1
	if in.Op == OpLstore || in.Op == OpDstore {
		slots = 2
	}
	t := s.top(in, slots-1)
	s.pop(in, slots)
	if s.err != nil {
		return
	}
	for len(s.locals) < in.Local+slots {
		s.locals = append(s.locals, VerificationType{})
	}
	if in.Local > 0 && s.locals[in.Local-1].Slots() == 2 {
		s.locals[in.Local-1] = VerificationType{}
	}
	if last := in.Local + slots - 1; s.locals[last].Slots() == 2 && last+1 < len(s.locals) {
		s.locals[last+1] = VerificationType{}
	}
	s.locals[in.Local] = t
	if slots == 2 {
		s.locals[in.Local+1] = VerificationType{}
	}
}

// shuffle applies pop to swap. The tables list which slots, counted from the
// top before, make up what is pushed.
func (s *typeState) shuffle(in *Insn) {
	orders := map[Opcode]string{
		OpPop: "", OpPop2: "", OpDup: "00", OpDupX1: "010", OpDupX2: "0210",
		OpDup2: "1010", OpDup2X1: "10210", OpDup2X2: "103210", OpSwap: "01",
	}
	pop, _, err := StackEffect(s.c.method.class.Pool, in)
	if err != nil || pop > len(s.stack) {
		s.fail(in, "stack underflow")
		return
	}
	old := append([]VerificationType(nil), s.stack[len(s.stack)-pop:]...)
	s.stack = s.stack[:len(s.stack)-pop]
	for _, d := range orders[in.Op] {
		s.stack = append(s.stack, old[len(old)-1-int(d-'0')])
	}
}

// constant returns the type that ldc and ldc2_w push.
func (s *typeState) constant(in *Insn) VerificationType {
	p := s.c.method.class.Pool
	switch p.Tag(in.Index) {
	case TagInteger:
		return VerificationType{Tag: TypeInteger}
	case TagFloat:
		return VerificationType{Tag: TypeFloat}
	case TagLong:
		return VerificationType{Tag: TypeLong}
	case TagDouble:
		return VerificationType{Tag: TypeDouble}
	case TagString:
		return ObjectType("java/lang/String")
	case TagClass:
		return ObjectType("java/lang/Class")
	case TagMethodType:
		return ObjectType("java/lang/invoke/MethodType")
	case TagMethodHandle:
		return ObjectType("java/lang/invoke/MethodHandle")
	}
	_, desc, err := p.NameAndType(in.Index)
	if _, n := fieldType(desc); err != nil || n == 0 || n != len(desc) {
		s.fail(in, "no constant")
		return VerificationType{}
	}
	return descriptorType(desc)
}

// member applies accesses to fields and calls.
func (s *typeState) member(in *Insn) {
	p := s.c.method.class.Pool
	pop, push, err := poolEffect(p, in)
	if err != nil {
		s.fail(in, err.Error())
		return
	}
	name, desc, _ := p.NameAndType(in.Index)
	if in.Op == OpInvokespecial && name == "<init>" {
		s.initialise(in, s.top(in, pop-1))
	}
	s.pop(in, pop)
	if push > 0 {
		if in.Op.IsInvoke() {
			desc = desc[strings.IndexByte(desc, ')')+1:]
		}
		s.push(descriptorType(desc))
	}
}

// initialise turns an uninitialized type into the class, wherever it is.
func (s *typeState) initialise(in *Insn, was VerificationType) {
	var now VerificationType
	switch was.Tag {
	case TypeUninitializedThis:
		now = ObjectType(s.c.method.class.Name)
	case TypeUninitialized:
		owner, _, _, _ := s.c.method.class.Pool.MemberRef(in.Index)
		now = ObjectType(owner)
	default:
		return // an error the verifier will report
	}
	for _, list := range [][]VerificationType{s.locals, s.stack} {
		for i := range list {
			if sameType(list[i], was) {
				list[i] = now
			}
		}
	}
}

// plain applies the operations whose effect the table describes, and adds the
// class where they push a reference.
func (s *typeState) plain(in *Insn, here *Label) {
	pop, push, err := StackEffect(s.c.method.class.Pool, in)
	if err != nil {
		s.fail(in, err.Error())
		return
	}
	below := VerificationType{}
	if pop > 0 {
		below = s.top(in, pop-1)
	}
	s.pop(in, pop)
	if push == 0 || s.err != nil {
		return
	}
	effect := ">A" // multianewarray
	if in.Op != OpMultianewarray {
		effect = ops[in.Op].effect
	}
	switch effect[len(effect)-1] {
	case 'I':
		s.push(VerificationType{Tag: TypeInteger})
	case 'F':
		s.push(VerificationType{Tag: TypeFloat})
	case 'J':
		s.push(VerificationType{Tag: TypeLong})
	case 'D':
		s.push(VerificationType{Tag: TypeDouble})
	case 'N':
		s.push(VerificationType{Tag: TypeNull})
	default:
		s.push(s.reference(in, below, here))
	}
}

// reference returns the type that an operation pushing a reference pushes; array
// is what aaload takes it from.
func (s *typeState) reference(in *Insn, array VerificationType, here *Label) VerificationType {
	class, _ := s.c.method.class.Pool.ClassName(in.Index)
	switch in.Op {
	case OpNew:
		return VerificationType{Tag: TypeUninitialized, NewInsn: here}
	case OpNewarray:
		return ObjectType("[" + "ZCFDBSIJ"[in.Const-4:in.Const-3])
	case OpAnewarray:
		if class[0] == '[' {
			return ObjectType("[" + class)
		}
		return ObjectType("[L" + class + ";")
	case OpCheckcast, OpMultianewarray:
		return ObjectType(class)
	}
	return component(array) // aaload
}

// component returns the type of an array's elements, which are references.
func component(array VerificationType) VerificationType {
	name := array.ClassName
	if array.Tag == TypeNull || len(name) < 2 || name[0] != '[' {
		return VerificationType{Tag: TypeNull}
	}
	if name[1] == 'L' {
		return ObjectType(strings.TrimSuffix(name[2:], ";"))
	}
	return ObjectType(name[1:])
}
