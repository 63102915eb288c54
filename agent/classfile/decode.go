package classfile

import (
	"encoding/binary"
	"fmt"
)

// decoder turns the bytes of a Code attribute into a Code.
type decoder struct {
	m      *Member
	work   *Workspace
	pool   *Pool
	c      *Code
	code   []byte
	base   int      // offset of code in the class file
	starts []int32  // offsets of the instructions
	insns  []Insn   // the instructions
	begins []bool   // per offset, code length included: may a label be here
	labels []*Label // per offset
	pinned []*Label // per offset: labels that stay with their instruction
}

// decodeCode reads a Code attribute (JVMS 4.7.3).
func decodeCode(m *Member, a *Attribute) (*Code, error) {
	if v := m.class; v.Major == 45 && v.Minor < 3 {
		return nil, &UnsupportedError{What: fmt.Sprintf(
			"%s: code of a class file of version 45.%d, before 45.3", m, v.Minor)}
	}
	r := &reader{b: a.Data, base: a.offset}
	work := m.class.work
	d := &decoder{m: m, work: work, pool: m.class.Pool, c: work.codes.one()}
	d.c.method = m
	d.c.MaxStack = int(r.u2())
	d.c.MaxLocals = int(r.u2())
	if need := argumentLocals(m); need > d.c.MaxLocals {
		r.failf("%s: the arguments need %d locals, there are %d", m, need, d.c.MaxLocals)
	}
	size := r.u4()
	if r.err == nil && (size == 0 || size > 65535) {
		r.failf("code of %d bytes", size)
	}
	d.base = r.base + r.off
	d.code = r.bytes(int(size))
	if r.err != nil {
		return nil, r.err
	}
	if err := d.instructions(); err != nil {
		return nil, err
	}
	d.handlers(r)
	d.attributes(r)
	if r.err == nil && r.left() > 0 {
		r.failf("%d bytes after the end of the code of %s", r.left(), m)
	}
	if r.err != nil {
		return nil, r.err
	}
	d.placeLabels()
	return d.c, nil
}

// argumentLocals is the number of local variables that a method's arguments take, this included.
func argumentLocals(m *Member) int {
	n, _, _ := methodSlots(m.Descriptor)
	if m.Access&AccStatic == 0 {
		n++
	}
	return n
}

func (d *decoder) errorf(at int, format string, args ...any) error {
	return &FormatError{Offset: d.base + at, What: d.m.String() + ": " + fmt.Sprintf(format, args...)}
}

// label returns the label at an offset where an instruction starts or the code
// ends, nil elsewhere.
func (d *decoder) label(off int) *Label { return d.labelIn(d.labels, off) }

func (d *decoder) labelIn(labels []*Label, off int) *Label {
	if off < 0 || off >= len(d.begins) || !d.begins[off] {
		return nil
	}
	if labels[off] == nil {
		labels[off] = d.work.labels.one().init()
	}
	return labels[off]
}

// pin returns the pinned label before the instruction at an offset, nil if none
// starts there.
func (d *decoder) pin(off int) *Label {
	if off == len(d.code) {
		return nil
	}
	if d.pinned == nil {
		d.pinned = d.work.labelRefs.take(len(d.begins))
	}
	l := d.labelIn(d.pinned, off)
	if l != nil {
		l.pinned = true
	}
	return l
}

// near is label for debugging information: an offset within an instruction
// counts as that of the next one.
func (d *decoder) near(off int) *Label {
	for off < len(d.code) && !d.begins[off] {
		off++
	}
	return d.label(off)
}

// instructions decodes all instructions, in two passes: where they start, then
// what they are.
func (d *decoder) instructions() error {
	n := len(d.code)
	if cap(d.work.begins) < n+1 {
		d.work.begins = make([]bool, 2*(n+1))
	}
	d.begins = d.work.begins[:n+1]
	clear(d.begins)
	d.labels = d.work.labelRefs.take(n + 1)
	starts := d.work.offsets.take(n)[:0]
	for at := 0; at < n; {
		size, err := d.size(at)
		if err != nil {
			return err
		}
		if size > n-at {
			return d.errorf(at, "instruction of %d bytes, %d left", size, n-at)
		}
		d.begins[at] = true
		starts = append(starts, int32(at))
		at += size
	}
	d.begins[n] = true
	d.starts = starts
	d.insns = d.work.insns.take(len(starts))
	for i, at := range starts {
		if err := d.decode(int(at), &d.insns[i]); err != nil {
			return err
		}
	}
	return nil
}

// size returns the length of the instruction at an offset; it may exceed the code.
func (d *decoder) size(at int) (int, error) {
	op := Opcode(d.code[at])
	switch op.kind() {
	case kindPlain, kindVarN:
		return 1, nil
	case kindS1, kindLdc, kindVar, kindNewarray:
		return 2, nil
	case kindS2, kindLdcW, kindPool, kindIinc, kindJump:
		return 3, nil
	case kindMulti:
		return 4, nil
	case kindInterface, kindDynamic, kindGotoW:
		return 5, nil
	case kindWide:
		if at+1 < len(d.code) && Opcode(d.code[at+1]) == OpIinc {
			return 6, nil
		}
		if at+1 < len(d.code) && Opcode(d.code[at+1]) == opRet {
			return 0, d.noSubroutines(opRet)
		}
		return 4, nil
	case kindJsr:
		return 0, d.noSubroutines(op)
	case kindTable, kindLookup:
		return d.switchSize(at)
	}
	return 0, d.errorf(at, "unknown opcode %d", op)
}

func (d *decoder) noSubroutines(op Opcode) error {
	return &UnsupportedError{What: fmt.Sprintf("%s: instruction %s", d.m, op)}
}

func (d *decoder) switchSize(at int) (int, error) {
	pad := 3 - at&3
	head := 1 + pad + 8
	if Opcode(d.code[at]) == OpTableswitch {
		head += 4
	}
	if head > len(d.code)-at {
		return 0, d.errorf(at, "switch exceeds the code")
	}
	a, b := d.s4(at+1+pad+4), int32(0)
	n, each := int64(a), int64(8)
	if Opcode(d.code[at]) == OpTableswitch {
		b = d.s4(at + 1 + pad + 8)
		n, each = int64(b)-int64(a)+1, 4
	}
	if n < 0 || n == 0 && each == 4 || n*each > int64(len(d.code)-at-head) {
		return 0, d.errorf(at, "switch with %d cases", n)
	}
	return head + int(n*each), nil
}

func (d *decoder) u2(at int) uint16 { return binary.BigEndian.Uint16(d.code[at:]) }
func (d *decoder) s4(at int) int32  { return int32(binary.BigEndian.Uint32(d.code[at:])) }

// decode fills in the instruction at an offset, whose size was checked.
func (d *decoder) decode(at int, in *Insn) error {
	in.Op = Opcode(d.code[at])
	in.off = int32(at)
	switch in.Op.kind() {
	case kindVarN:
		d.shortVar(in)
	case kindS1:
		in.Const = int32(int8(d.code[at+1]))
	case kindS2:
		in.Const = int32(int16(d.u2(at + 1)))
	case kindNewarray:
		in.Const = int32(d.code[at+1])
		if in.Const < 4 || in.Const > 11 {
			return d.errorf(at, "newarray of type %d", in.Const)
		}
	case kindVar:
		in.Local = int(d.code[at+1])
	case kindIinc:
		in.Local, in.Const = int(d.code[at+1]), int32(int8(d.code[at+2]))
	case kindWide:
		return d.wide(at, in)
	case kindJump:
		return d.jump(at, in, int(int16(d.u2(at+1))))
	case kindGotoW:
		in.Op = OpGoto
		return d.jump(at, in, int(d.s4(at+1)))
	case kindTable, kindLookup:
		return d.switchInsn(at, in)
	case kindLdc, kindLdcW, kindPool, kindInterface, kindDynamic, kindMulti:
		return d.poolInsn(at, in)
	}
	return nil
}

// poolInsn decodes the operations with a constant pool index.
func (d *decoder) poolInsn(at int, in *Insn) error {
	switch in.Op.kind() {
	case kindLdc:
		in.Index = uint16(d.code[at+1])
	case kindLdcW:
		in.Op, in.Index = OpLdc, d.u2(at+1)
	case kindMulti:
		in.Index, in.Const = d.u2(at+1), int32(d.code[at+3])
		if in.Const == 0 {
			return d.errorf(at, "multianewarray of no dimensions")
		}
	default:
		in.Index = d.u2(at + 1)
	}
	return d.checkIndex(at, in)
}

// shortVar unfolds iload_0 to astore_3.
func (d *decoder) shortVar(in *Insn) {
	first, long := opIload0, OpIload
	if in.Op >= opIstore0 {
		first, long = opIstore0, OpIstore
	}
	n := in.Op - first
	in.Op, in.Local = long+n/4, int(n%4)
}

func (d *decoder) wide(at int, in *Insn) error {
	in.Op = Opcode(d.code[at+1])
	in.Local = int(d.u2(at + 2))
	switch in.Op.kind() {
	case kindVar:
	case kindIinc:
		in.Const = int32(int16(d.u2(at + 4)))
	default:
		return d.errorf(at, "wide before %s", in.Op)
	}
	return nil
}

func (d *decoder) jump(at int, in *Insn, by int) error {
	if in.Target = d.target(at + by); in.Target == nil {
		return d.errorf(at, "%s to offset %d, where no instruction starts", in.Op, at+by)
	}
	return nil
}

// target is the label of a jump: within the code, not at its end.
func (d *decoder) target(off int) *Label {
	if off == len(d.code) {
		return nil
	}
	return d.label(off)
}

func (d *decoder) switchInsn(at int, in *Insn) error {
	p := at + 4 - at&3
	next := func() int32 { p += 4; return d.s4(p - 4) }
	s := &Switch{}
	in.Switch = s
	bad := false
	target := func() *Label {
		l := d.target(at + int(next()))
		bad = bad || l == nil
		return l
	}
	s.Default = target()
	n := 0
	if in.Op == OpTableswitch {
		s.Low = next()
		n = int(next()-s.Low) + 1
	} else {
		n = int(next())
		s.Keys = make([]int32, 0, n)
	}
	s.Targets = make([]*Label, 0, n)
	for range n {
		if in.Op == OpLookupswitch {
			s.Keys = append(s.Keys, next())
		}
		s.Targets = append(s.Targets, target())
	}
	for i := 1; i < len(s.Keys); i++ {
		if s.Keys[i] <= s.Keys[i-1] {
			return d.errorf(at, "lookupswitch whose keys do not ascend")
		}
	}
	if bad {
		return d.errorf(at, "%s to an offset where no instruction starts", in.Op)
	}
	return nil
}

// checkIndex checks that a pool index names what the operation needs, so that
// later steps can rely on it.
func (d *decoder) checkIndex(at int, in *Insn) error {
	t := d.pool.Tag(in.Index)
	if !tagFits(in.Op, t) {
		return d.errorf(at, "%s of constant pool entry %d of tag %d", in.Op, in.Index, t)
	}
	if in.Op == OpLdc || in.Op == OpLdc2W {
		if t != TagDynamic {
			return nil
		}
		_, desc := d.pool.nameAndType(d.pool.at2(in.Index, 3))
		slots, n := fieldType(desc)
		if n != len(desc) || (slots == 2) != (in.Op == OpLdc2W) {
			return d.errorf(at, "%s of a dynamic constant of type %q", in.Op, desc)
		}
		return nil
	}
	if in.Op >= OpNew {
		if name, _ := d.pool.ClassName(in.Index); name == "" {
			return d.errorf(at, "%s of a class without a name", in.Op)
		}
		return nil
	}
	if _, _, err := poolEffect(d.pool, in); err != nil {
		return d.errorf(at, "%v", err)
	}
	return nil
}

func tagFits(op Opcode, t Tag) bool {
	switch op {
	case OpLdc:
		switch t {
		case TagInteger, TagFloat, TagString, TagClass, TagMethodType, TagMethodHandle, TagDynamic:
			return true
		}
		return false
	case OpLdc2W:
		return t == TagLong || t == TagDouble || t == TagDynamic
	case OpGetstatic, OpPutstatic, OpGetfield, OpPutfield:
		return t == TagFieldref
	case OpInvokevirtual:
		return t == TagMethodref
	case OpInvokespecial, OpInvokestatic:
		return t == TagMethodref || t == TagInterfaceMethodref
	case OpInvokeinterface:
		return t == TagInterfaceMethodref
	case OpInvokedynamic:
		return t == TagInvokeDynamic
	}
	return t == TagClass // new, anewarray, checkcast, instanceof, multianewarray
}

// placeLabels makes the list of instructions, with the labels in it.
func (d *decoder) placeLabels() {
	n := len(d.insns)
	for off := range d.labels {
		if d.labels[off] != nil {
			n++
		}
		if d.pinned != nil && d.pinned[off] != nil {
			n++
		}
	}
	out := d.work.insnRefs.take(n)[:0]
	add := func(off int) {
		if l := d.labels[off]; l != nil {
			out = append(out, &l.node)
		}
		if d.pinned != nil && d.pinned[off] != nil {
			out = append(out, &d.pinned[off].node)
		}
	}
	for i := range d.insns {
		add(int(d.starts[i]))
		out = append(out, &d.insns[i])
	}
	add(len(d.code))
	d.c.Insns = out
}
