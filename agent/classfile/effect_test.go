package classfile

import (
	"errors"
	"strings"
	"testing"
)

// TestStackEffect checks operations of every sort.
func TestStackEffect(t *testing.T) {
	c := newClass(t, 61)
	p := c.Pool
	index := func(i uint16, err error) uint16 {
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	method := index(p.AddMethodRef("A", "m", "(IJ[D)D", false))
	field := index(p.AddFieldRef("A", "f", "J"))
	for _, tt := range []struct {
		in        *Insn
		pop, push int
	}{
		{NewInsn(OpNop), 0, 0}, {NewInsn(OpDup2X2), 4, 6}, {NewInsn(OpSwap), 2, 2},
		{NewInsn(OpLastore), 4, 0}, {NewInsn(OpDaload), 2, 2}, {NewInsn(OpLcmp), 4, 1},
		{NewInsn(OpLshl), 3, 2}, {NewInsn(OpI2d), 1, 2}, {NewVarInsn(OpDstore, 3), 2, 0},
		{NewConstInsn(1 << 20), 0, 1}, {NewLdc(index(p.AddString("x"))), 0, 1},
		{&Insn{Op: OpLdc2W, Index: index(p.AddLong(3))}, 0, 2},
		{NewInvoke(OpInvokestatic, method), 4, 2}, {NewInvoke(OpInvokevirtual, method), 5, 2},
		{NewFieldInsn(OpGetstatic, field), 0, 2}, {NewFieldInsn(OpPutstatic, field), 2, 0},
		{NewFieldInsn(OpGetfield, field), 1, 2}, {NewFieldInsn(OpPutfield, field), 3, 0},
		{&Insn{Op: OpMultianewarray, Const: 3}, 3, 1}, {newLabel().Insn(), 0, 0},
		{NewInsn(OpMonitorenter), 1, 0}, {NewInsn(OpIfIcmple), 2, 0}, {NewInsn(OpDreturn), 2, 0},
	} {
		pop, push, err := StackEffect(p, tt.in)
		if err != nil || pop != tt.pop || push != tt.push {
			t.Errorf("%s: %d %d %v, want %d %d", tt.in, pop, push, err, tt.pop, tt.push)
		}
	}
	var ee *EditError
	if _, _, err := StackEffect(p, NewInsn(opJsr)); !errors.As(err, &ee) {
		t.Errorf("jsr: %v", err)
	}
	var entry *EntryError
	if _, _, err := StackEffect(p, NewInvoke(OpInvokestatic, 60000)); !errors.As(err, &entry) || entry.Index != 60000 {
		t.Errorf("no such entry: %v", err)
	}
}

// TestDescriptors accepts what JVMS 4.3 does, and nothing else.
func TestDescriptors(t *testing.T) {
	for d, want := range map[string][2]int{
		"()V": {0, 0}, "(IJDF)J": {6, 2}, "([[J[Ljava/lang/String;Lx;)[D": {3, 1}, "(BCSZ)Lx;": {4, 1},
		"(" + strings.Repeat("J", 127) + "I)V": {255, 0},
	} {
		args, result, ok := methodSlots(d)
		if !ok || args != want[0] || result != want[1] {
			t.Errorf("%s: %d %d %v", d, args, result, ok)
		}
	}
	for _, d := range []string{"", "()", "(", "V", "(V)V", "()VV", "(L;)V", "(Lx)V", "([)V", "(X)V", "()[V", "()II",
		"(" + strings.Repeat("J", 128) + ")V", "(" + strings.Repeat("[", 256) + "I)V"} {
		if _, _, ok := methodSlots(d); ok {
			t.Errorf("%.40q was accepted", d)
		}
	}
}
