package classfile

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// strip takes the probes of probe out again and gives the slot they used.
func strip(c *Code) {
	slot := c.MaxLocals - 1
	c.MaxLocals = slot
	seen := 0
	c.Insns = slices.DeleteFunc(c.Insns, func(in *Insn) bool {
		if in.Op == OpLabel {
			return false
		}
		if seen++; seen <= 2 {
			return true
		}
		return in.Op == OpIinc && in.Local == slot
	})
	for _, in := range c.Insns {
		if in.Op == OpLabel && in.Label.frame != nil {
			f := *in.Label.frame
			f.Locals = f.Locals[:len(f.Locals)-1]
			in.Label.frame = &f
		}
	}
}

// trimFrames removes the Top entries at the end of locals, which the padding
// up to the new local adds.
func trimFrames(c *Code) {
	for _, in := range c.Insns {
		if in.Op != OpLabel || in.Label.frame == nil {
			continue
		}
		f := *in.Label.frame
		for len(f.Locals) > 0 && f.Locals[len(f.Locals)-1].Tag == TypeTop {
			f.Locals = f.Locals[:len(f.Locals)-1]
		}
		in.Label.frame = &f
	}
}

// next returns the instruction right after a label, with no probe between.
func next(c *Code, l *Label) *Insn {
	for i := c.find(&l.node); i < len(c.Insns); i++ {
		if c.Insns[i].Op != OpLabel {
			return c.Insns[i]
		}
	}
	return nil
}

// TestTablesFollow puts a probe before every instruction of real classes and
// checks that, the probes taken out again, nothing has changed: not a frame, a
// line, a variable, an exception range or a type annotation.
func TestTablesFollow(t *testing.T) {
	_, classes := compileJava(t, testjvm.JDKs(t)[0])
	var annotations, uninitialized, frames, variables int
	for name, b := range classes {
		out, err := transform(b, func(*Class) {}, probe)
		if err != nil {
			t.Fatal(err)
		}
		before, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse(out)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range before.Methods {
			x, err := m.Code()
			if err != nil {
				t.Fatal(err)
			}
			y, err := after.Methods[i].Code()
			if err != nil {
				t.Fatal(err)
			}
			if x == nil {
				continue
			}
			for k := range x.TypeAnnotations {
				at, to := x.TypeAnnotations[k].At, y.TypeAnnotations[k].At
				if at != nil && !sameOperation(next(x, at), next(y, to)) {
					t.Errorf("%s: annotation of %v is now at %v", m, next(x, at), next(y, to))
				}
				annotations++
			}
			for _, in := range y.Insns {
				if in.Op != OpLabel || in.Label.frame == nil {
					continue
				}
				frames++
				for _, v := range append(in.Label.frame.Locals, in.Label.frame.Stack...) {
					if v.Tag == TypeUninitialized {
						uninitialized++
						if n := next(y, v.NewInsn); n == nil || n.Op != OpNew {
							t.Errorf("%s: uninitialized object made by %v", m, n)
						}
					}
				}
			}
			variables += len(x.Variables)
			x.MaxStack = max(x.MaxStack, 1)
			strip(y)
			trimFrames(x)
			trimFrames(y)
			if d := difference(x, y); d != "" {
				t.Errorf("%s %s differs in %s", name, m, d)
			}
		}
	}
	if annotations < 5 || uninitialized < 2 || frames < 50 || variables < 100 {
		t.Errorf("only %d annotations, %d uninitialized, %d frames, %d variables", annotations, uninitialized, frames, variables)
	}
}

func sameOperation(a, b *Insn) bool {
	return a != nil && b != nil && a.Op == b.Op && a.Index == b.Index
}

// listing renders code with its labels numbered, for comparisons by eye.
func listing(c *Code) string {
	names := map[*Label]int{}
	for _, in := range c.Insns {
		if in.Op == OpLabel {
			names[in.Label] = len(names)
		}
	}
	var b strings.Builder
	for _, in := range c.Insns {
		switch {
		case in.Op == OpLabel:
			fmt.Fprintf(&b, "L%d: ", names[in.Label])
		case in.Target != nil:
			fmt.Fprintf(&b, "%s L%d; ", in, names[in.Target])
		default:
			fmt.Fprintf(&b, "%s; ", in)
		}
	}
	return strings.TrimSpace(b.String())
}

// TestInsert shows where each way of inserting puts code, relative to labels.
func TestInsert(t *testing.T) {
	for _, tt := range []struct {
		name string
		edit func(c *Code, at *Insn)
		want string
	}{
		{"before", func(c *Code, at *Insn) { c.InsertBefore(at, NewInsn(OpNop)) },
			"nop; L0: iload 0; ifeq L0; ireturn;"},
		{"before, targeted", func(c *Code, at *Insn) { c.InsertBeforeTargeted(at, NewInsn(OpNop)) },
			"L0: nop; iload 0; ifeq L0; ireturn;"},
		{"targeted twice", func(c *Code, at *Insn) {
			c.InsertBeforeTargeted(at, NewInsn(OpNop))
			c.InsertBeforeTargeted(at, NewInsn(OpIconst1), NewInsn(OpPop))
		}, "L0: nop; iconst_1; pop; iload 0; ifeq L0; ireturn;"},
		{"after", func(c *Code, at *Insn) { c.InsertAfter(at, NewInsn(OpNop)) },
			"L0: iload 0; nop; ifeq L0; ireturn;"},
		{"after, then label", func(c *Code, at *Insn) { c.InsertAfter(at, NewInsn(OpNop)); c.LabelAfter(at) },
			"L0: iload 0; L1: nop; ifeq L0; ireturn;"},
		{"label, then before", func(c *Code, at *Insn) { c.LabelBefore(at); c.InsertBeforeTargeted(at, NewInsn(OpNop)) },
			"L0: L1: nop; iload 0; ifeq L0; ireturn;"},
		{"pinned", func(c *Code, at *Insn) {
			c.LabelBefore(at).pinned = true
			c.LabelBefore(at)
			c.InsertBeforeTargeted(at, NewInsn(OpNop))
			c.InsertBefore(at, NewInsn(OpDup))
		}, "L0: L1: nop; dup; L2: iload 0; ifeq L0; ireturn;"},
		{"remove", func(c *Code, at *Insn) { c.Remove(at) }, "L0: ifeq L0; ireturn;"},
	} {
		c := NewCode(1, 1)
		l, at := c.NewLabel(), NewVarInsn(OpIload, 0)
		c.Append(l.Insn(), at, NewJump(OpIfeq, l), NewInsn(OpIreturn))
		tt.edit(c, at)
		if got := listing(c); got != tt.want || c.err != nil {
			t.Errorf("%s: %s, want %s (%v)", tt.name, got, tt.want, c.err)
		}
	}
}

// TestFrameForms encodes frames and looks at the form chosen for each.
func TestFrameForms(t *testing.T) {
	i, top, obj := VerificationType{Tag: TypeInteger}, VerificationType{}, ObjectType("T")
	long := VerificationType{Tag: TypeLong}
	list := func(v ...VerificationType) []VerificationType { return v }
	for _, tt := range []struct {
		name   string
		frame  Frame
		nops   int
		form   byte
		length int
	}{
		{"same", Frame{Locals: list(i)}, 63, 63, 1},
		{"same, far", Frame{Locals: list(i)}, 64, 251, 3},
		{"one on the stack", Frame{Locals: list(i), Stack: list(long)}, 5, 69, 2},
		{"one on the stack, far", Frame{Locals: list(i), Stack: list(obj)}, 64, 247, 6},
		{"append 1", Frame{Locals: list(i, long)}, 1, 252, 4},
		{"append 3", Frame{Locals: list(i, top, obj, top)}, 1, 254, 8},
		{"append 4", Frame{Locals: list(i, i, i, i, i)}, 1, 255, 12},
		{"chop", Frame{}, 1, 250, 3},
		{"other", Frame{Locals: list(long)}, 1, 255, 8},
		{"two on the stack", Frame{Locals: list(i), Stack: list(i, i)}, 1, 255, 10},
	} {
		c := newClass(t, 61)
		code := NewCode(4, 8)
		addF(t, c, code)
		padding(code, tt.nops)
		end := NewInsn(OpIreturn)
		code.Append(end)
		l := code.LabelBefore(end)
		code.SetFrame(l, tt.frame.Locals, tt.frame.Stack)
		b, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		c, err = Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		m := c.Method("f", "(I)I")
		data := m.Attribute("Code").Data
		table := data[len(data)-tt.length-2:]
		if table[1] != 1 || table[2] != tt.form {
			t.Errorf("%s: encoded as % x", tt.name, table)
		}
		got, err := m.Code()
		if err != nil {
			t.Fatal(err)
		}
		_, frames := ordinals(got)
		f := frames[int32(tt.nops)]
		if f == nil || !sameTypes(f.Locals, tt.frame.Locals) || !sameTypes(f.Stack, tt.frame.Stack) {
			t.Errorf("%s: came back as %v", tt.name, f)
		}
	}
}

// TestAddIntLocal looks at frames with long and short lists of locals.
func TestAddIntLocal(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(1, 5)
	addF(t, c, code)
	code.Append(NewInsn(OpNop), NewInsn(OpNop), NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
	i, long := VerificationType{Tag: TypeInteger}, VerificationType{Tag: TypeLong}
	labels := []*Label{code.LabelBefore(code.Insns[0]), code.LabelAfter(code.First())}
	code.SetFrame(labels[0], nil, nil)
	code.SetFrame(labels[1], []VerificationType{i, long, long}, []VerificationType{i})
	if slot := code.AddIntLocal(); slot != 5 || code.MaxLocals != 6 {
		t.Fatalf("slot %d, max_locals %d", slot, code.MaxLocals)
	}
	for n, want := range []string{"[0 0 0 0 0 1]", "[1 4 4 1]"} {
		var tags []TypeTag
		for _, v := range labels[n].Frame().Locals {
			tags = append(tags, v.Tag)
		}
		if got := fmt.Sprint(tags); got != want {
			t.Errorf("frame %d has the locals %s, want %s", n, got, want)
		}
	}
	if f := code.Frame(labels[1]); f != labels[1].Frame() || len(f.Stack) != 1 {
		t.Errorf("Frame gives %v", f)
	}
}

// TestAddLongLocal: a long takes two slots, and one entry of a frame.
func TestAddLongLocal(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(1, 2)
	addF(t, c, code)
	code.Append(NewInsn(OpNop), NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
	l := code.LabelBefore(code.Insns[1])
	code.SetFrame(l, nil, nil)
	if slot := code.AddLongLocal(); slot != 2 || code.MaxLocals != 4 {
		t.Fatalf("slot %d, max_locals %d", slot, code.MaxLocals)
	}
	if slot := code.AddIntLocal(); slot != 4 {
		t.Fatalf("slot %d behind the long", slot)
	}
	var tags []TypeTag
	for _, v := range l.Frame().Locals {
		tags = append(tags, v.Tag)
	}
	if got := fmt.Sprint(tags); got != "[0 0 4 1]" {
		t.Errorf("the frame has the locals %s", got)
	}
}

// TestInsertAllBeforeTargeted puts instructions where InsertBeforeTargeted does.
func TestInsertAllBeforeTargeted(t *testing.T) {
	build := func() *Code {
		code := NewCode(1, 1)
		code.Append(NewInsn(OpNop), NewInsn(OpIconst0), NewInsn(OpIreturn))
		code.LabelBefore(code.Insns[1])
		return code
	}
	one, all := build(), build()
	one.InsertBeforeTargeted(one.Insns[2], NewIincInsn(0, 1))
	one.InsertBeforeTargeted(one.Insns[0], NewIincInsn(0, 2))
	insert := map[*Insn][]*Insn{all.Insns[2]: {NewIincInsn(0, 1)}, all.Insns[0]: {NewIincInsn(0, 2)}}
	all.InsertAllBeforeTargeted(0, func(in *Insn) []*Insn { return insert[in] })
	if got, want := fmt.Sprint(all.Insns), fmt.Sprint(one.Insns); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestHasAnnotation reads annotations with elements of every kind around the one
// that is asked for, and rejects what ends too early.
func TestHasAnnotation(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(1, 1)
	code.Append(NewInsn(OpIconst0), NewInsn(OpIreturn))
	addF(t, c, code)
	m := c.Methods[len(c.Methods)-1]
	index := func(s string) []byte {
		i, err := c.Pool.AddUtf8(s)
		if err != nil {
			t.Fatal(err)
		}
		return []byte{byte(i >> 8), byte(i)}
	}
	name, a, b := index("x"), index("LA;"), index("LB;")
	join := func(parts ...[]byte) []byte { return slices.Concat(parts...) }
	data := join([]byte{0, 2}, a, []byte{0, 3},
		name, []byte{'e'}, a, name,
		name, []byte{'[', 0, 1, '@'}, b, []byte{0, 0},
		name, []byte{'s'}, name,
		b, []byte{0, 0})
	m.Attributes = append(m.Attributes, &Attribute{Name: "RuntimeVisibleAnnotations", Data: data})
	for want, has := range map[string]bool{"LA;": true, "LB;": true, "LC;": false} {
		if got, err := m.HasAnnotation(want); got != has || err != nil {
			t.Errorf("%s: %v %v", want, got, err)
		}
	}
	at := m.Attribute("RuntimeVisibleAnnotations")
	for n := 2; n < len(data); n++ {
		at.Data = data[:n]
		var fe *FormatError
		if _, err := m.HasAnnotation("LB;"); !errors.As(err, &fe) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
}
