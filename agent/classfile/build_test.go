package classfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackagent/internal/testjvm"
)

// newClass makes a class by hand: public class T extends Object.
func newClass(t testing.TB, major uint16) *Class {
	t.Helper()
	p := &Pool{off: []int32{-1}}
	c := &Class{Major: major, Pool: p, Access: AccPublic | AccSuper, Name: "T", Super: "java/lang/Object"}
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	c, err = Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// runClass adds `static int f(int)` and a main that prints f(0) to f(5), and
// runs it with everything verified.
func runClass(t *testing.T, jdk testjvm.JDK, c *Class, want string) {
	t.Helper()
	p := c.Pool
	must := func(i uint16, err error) uint16 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	code := NewCode(4, 1)
	for n := range int32(6) {
		code.Append(
			NewFieldInsn(OpGetstatic, must(p.AddFieldRef("java/lang/System", "out", "Ljava/io/PrintStream;"))),
			NewConstInsn(n),
			NewInvoke(OpInvokestatic, must(p.AddMethodRef("T", "f", "(I)I", false))),
			NewInvoke(OpInvokevirtual, must(p.AddMethodRef("java/io/PrintStream", "println", "(I)V", false))),
		)
	}
	code.Append(NewInsn(OpReturn))
	if _, err := c.AddMethod(AccPublic|AccStatic, "main", "([Ljava/lang/String;)V", code); err != nil {
		t.Fatal(err)
	}
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "T.class"), b, 0o644); err != nil {
		t.Fatal(err)
	}
	res := testjvm.Command{JDK: jdk, VM: verifyAll[1:], Classpath: dir, Main: "T"}.Plain(t)
	if got := strings.Join(strings.Fields(res.Stdout), " "); res.Exit != 0 || got != want {
		t.Errorf("exit %d, got %q, want %q\n%.2000s", res.Exit, got, want, res.Stderr)
	}
}

func intType() []VerificationType { return []VerificationType{{Tag: TypeInteger}} }

// padding appends instructions of n bytes that do nothing.
func padding(c *Code, n int) {
	for range n {
		c.Append(NewInsn(OpNop))
	}
}

// addF adds the method that runClass calls.
func addF(t testing.TB, c *Class, code *Code) {
	t.Helper()
	if _, err := c.AddMethod(AccPublic|AccStatic, "f", "(I)I", code); err != nil {
		t.Fatal(err)
	}
}

// TestWideJumps jumps over 40 KB, forwards and backwards, by every kind of
// jump that takes an int.
func TestWideJumps(t *testing.T) {
	for _, major := range []uint16{49, 50, 52, 61} {
		for _, op := range []Opcode{OpIfeq, OpIfne, OpIflt, OpIfge, OpIfgt, OpIfle} {
			t.Run(fmt.Sprint(op, major), func(t *testing.T) {
				c := newClass(t, major)
				code := NewCode(4, 1)
				addF(t, c, code)
				start, far, back := code.NewLabel(), code.NewLabel(), code.NewLabel()
				// back: iinc 0 10; iload; ireturn. start: if_x(n-2) far ... far: goto back
				code.Append(NewJump(OpGoto, start), back.Insn(), NewIincInsn(0, 10),
					NewVarInsn(OpIload, 0), NewInsn(OpIreturn),
					start.Insn(), NewVarInsn(OpIload, 0), NewConstInsn(2), NewInsn(OpIsub), NewJump(op, far))
				padding(code, 40000)
				code.Append(NewVarInsn(OpIload, 0), NewInsn(OpIreturn), far.Insn(), NewJump(OpGoto, back))
				for _, l := range []*Label{start, far, back} {
					code.SetFrame(l, intType(), nil)
				}
				holds := map[Opcode]func(int) bool{
					OpIfeq: func(v int) bool { return v == 0 }, OpIfne: func(v int) bool { return v != 0 },
					OpIflt: func(v int) bool { return v < 0 }, OpIfge: func(v int) bool { return v >= 0 },
					OpIfgt: func(v int) bool { return v > 0 }, OpIfle: func(v int) bool { return v <= 0 },
				}[op]
				var want []string
				for n := range 6 {
					if r := n; holds(n - 2) {
						want = append(want, fmt.Sprint(r+10))
					} else {
						want = append(want, fmt.Sprint(r))
					}
				}
				runClass(t, testjvm.JDKs(t)[0], c, strings.Join(want, " "))
			})
		}
	}
}

// TestOpposite checks the negation of every conditional jump.
func TestOpposite(t *testing.T) {
	pairs := []Opcode{OpIfeq, OpIfne, OpIflt, OpIfge, OpIfgt, OpIfle, OpIfIcmpeq, OpIfIcmpne,
		OpIfIcmplt, OpIfIcmpge, OpIfIcmpgt, OpIfIcmple, OpIfAcmpeq, OpIfAcmpne, OpIfnull, OpIfnonnull}
	for i, op := range pairs {
		if got := opposite(op); got != pairs[i^1] {
			t.Errorf("opposite(%s) = %s, want %s", op, got, pairs[i^1])
		}
	}
}

// TestSwitchPadding puts switches at every offset modulo 4.
func TestSwitchPadding(t *testing.T) {
	for _, op := range []Opcode{OpTableswitch, OpLookupswitch} {
		c := newClass(t, 61)
		code := NewCode(4, 1)
		addF(t, c, code)
		end := code.NewLabel()
		for pad := range 8 {
			a, b, next := code.NewLabel(), code.NewLabel(), code.NewLabel()
			s := &Switch{Default: next, Low: 1, Targets: []*Label{a, b}}
			if op == OpLookupswitch {
				s.Keys = []int32{-1 << 31, 3}
			}
			padding(code, pad)
			code.Append(NewVarInsn(OpIload, 0), &Insn{Op: op, Switch: s},
				a.Insn(), NewIincInsn(0, 100), NewJump(OpGoto, next),
				b.Insn(), NewIincInsn(0, 1000), next.Insn())
			for _, l := range []*Label{a, b, next} {
				code.SetFrame(l, intType(), nil)
			}
		}
		code.Append(end.Insn(), NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
		want := "0 101 1002 3 4 5"
		if op == OpLookupswitch {
			want = "0 1 2 1003 4 5"
		}
		runClass(t, testjvm.JDKs(t)[0], c, want)
	}
}

// TestConstants pushes ints of every size and adds them up.
func TestConstants(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(2, 1)
	addF(t, c, code)
	code.Append(NewVarInsn(OpIload, 0))
	sum := int32(0)
	for _, v := range []int32{-1, 0, 5, 6, -2, 127, -128, 128, -129, 32767, -32768, 32768, -32769, 1<<31 - 1, -1 << 31} {
		code.Append(NewConstInsn(v), NewInsn(OpIadd))
		sum += v
	}
	code.Append(NewInsn(OpIreturn))
	var want []string
	for n := range int32(6) {
		want = append(want, fmt.Sprint(sum+n))
	}
	runClass(t, testjvm.JDKs(t)[0], c, strings.Join(want, " "))
}

// TestPoolLimit fills the pool to the last entry and then asks for one more.
func TestPoolLimit(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(2, 1)
	addF(t, c, code)
	code.Append(NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
	// What runClass will ask for has to be there already.
	for _, s := range []string{"Code", "StackMapTable", "main", "([Ljava/lang/String;)V", "f", "(I)I"} {
		if _, err := c.Pool.AddUtf8(s); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		second(c.Pool.AddFieldRef("java/lang/System", "out", "Ljava/io/PrintStream;")),
		second(c.Pool.AddMethodRef("T", "f", "(I)I", false)),
		second(c.Pool.AddMethodRef("java/io/PrintStream", "println", "(I)V", false)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var err error
	last := uint16(0)
	for v := int32(0); err == nil; v++ {
		var i uint16
		if i, err = c.Pool.AddInteger(1<<20 + v); err == nil {
			last = i
		}
	}
	var full *PoolFullError
	if !errors.As(err, &full) || last != 65534 || c.Pool.Len() != 65535 {
		t.Fatalf("last index %d, pool of %d, %v", last, c.Pool.Len(), err)
	}
	if _, err := c.Pool.AddLong(1); !errors.As(err, &full) {
		t.Errorf("a long in the full pool: %v", err)
	}
	if i, err := c.Pool.AddInteger(1 << 20); err != nil || i == 0 {
		t.Errorf("an entry that exists: %d, %v", i, err)
	}
	code.InsertBefore(code.First(), NewLdc(last), NewInsn(OpPop))
	runClass(t, testjvm.JDKs(t)[0], c, "0 1 2 3 4 5")

	code.InsertBefore(code.First(), NewConstInsn(-1<<20), NewInsn(OpPop))
	if _, err := c.Write(); !errors.As(err, &full) {
		t.Errorf("writing with a constant that does not fit: %v", err)
	}
}

func second(_ uint16, err error) error { return err }

// TestTooLarge: the type of the error says what exceeds the format.
func TestTooLarge(t *testing.T) {
	body := func(nops int) (*Class, *Code) {
		c := newClass(t, 61)
		code := NewCode(2, 1)
		addF(t, c, code)
		padding(code, nops)
		code.Append(NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
		return c, code
	}
	c, _ := body(65533)
	runClass(t, testjvm.JDKs(t)[0], c, "0 1 2 3 4 5")
	for name, f := range map[string]func() *Class{
		"code":   func() *Class { c, _ := body(65534); return c },
		"stack":  func() *Class { c, code := body(1); code.MaxStack = 65536; return c },
		"locals": func() *Class { c, code := body(1); code.MaxLocals = 65535; code.AddIntLocal(); return c },
		"exception table": func() *Class {
			c, code := body(1)
			l, m := code.LabelBefore(code.First()), code.LabelAfter(code.First())
			for range 65536 {
				code.AddHandler(l, m, l, "")
			}
			return c
		},
	} {
		_, err := f().Write()
		var tl *TooLargeError
		if !errors.As(err, &tl) || tl.What != name || tl.Method != "T.f(I)I" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMisuse: Write reports wrong edits and writes nothing.
func TestMisuse(t *testing.T) {
	for name, edit := range map[string]func(c *Code){
		"label nowhere":       func(c *Code) { c.Append(NewJump(OpGoto, c.NewLabel())) },
		"label at the end":    func(c *Code) { l := c.NewLabel(); c.Append(NewJump(OpGoto, l), l.Insn()) },
		"label twice":         func(c *Code) { l := c.NewLabel(); c.Append(l.Insn(), l.Insn(), NewInsn(OpNop)) },
		"no target":           func(c *Code) { c.Append(NewInsn(OpGoto)) },
		"no switch":           func(c *Code) { c.Append(NewInsn(OpTableswitch)) },
		"nil":                 func(c *Code) { c.Append(nil) },
		"after nil":           func(c *Code) { c.InsertAfter(nil, NewInsn(OpNop)) },
		"nil put in":          func(c *Code) { c.Insns = append(c.Insns, nil); c.Remove(NewInsn(OpNop)) },
		"foreign instruction": func(c *Code) { c.InsertAfter(NewInsn(OpNop), NewInsn(OpNop)) },
		"wrong entry":         func(c *Code) { c.Append(NewInvoke(OpInvokestatic, 1)) },
		"no entry":            func(c *Code) { c.Append(NewLdc(60000)) },
		"encoded form":        func(c *Code) { c.Append(NewInsn(opIload0)) },
		"local":               func(c *Code) { c.Append(NewVarInsn(OpIload, 70000)) },
		"handler":             func(c *Code) { c.AddHandler(c.NewLabel(), c.NewLabel(), c.NewLabel(), "") },
		"frames differ": func(c *Code) {
			c.SetFrame(c.LabelBefore(c.First()), nil, nil)
			c.SetFrame(c.LabelBefore(c.First()), intType(), nil)
		},
		"empty": func(c *Code) { c.Insns = nil },
	} {
		c := newClass(t, 61)
		code := NewCode(2, 1)
		addF(t, c, code)
		code.Append(NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
		edit(code)
		_, err := c.Write()
		var ee *EditError
		if !errors.As(err, &ee) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEmptyRanges removes what handlers, variables and lines covered.
func TestEmptyRanges(t *testing.T) {
	c := newClass(t, 61)
	code := NewCode(2, 1)
	addF(t, c, code)
	gone := NewInsn(OpNop)
	load := NewVarInsn(OpIload, 0)
	code.Append(gone, load, NewInsn(OpIreturn))
	start, end := code.LabelBefore(gone), code.LabelAfter(gone)
	last := code.NewLabel()
	code.Append(last.Insn())
	code.AddHandler(start, end, end, "java/lang/Error")
	kept := &Handler{start, last, start, ""}
	code.Handlers = append(code.Handlers, kept)
	code.TypeAnnotations = []TypeAnnotation{
		{TargetType: 0x42, Handler: code.Handlers[0], rest: []byte{0, 0, 1, 0, 0}},
		{TargetType: 0x42, Handler: kept, rest: []byte{0, 0, 1, 0, 0}},
	}
	code.Lines = []LineNumber{{start, 1}, {last, 2}}
	code.Variables = []LocalVariable{{start, end, "x", "I", 0}}
	code.Remove(gone)
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	c, err = Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Method("f", "(I)I").Code()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Handlers) != 1 || got.Handlers[0].CatchType != "" || len(got.Lines) != 1 ||
		len(got.Variables) != 1 || len(got.TypeAnnotations) != 1 || got.TypeAnnotations[0].Handler != got.Handlers[0] {
		t.Errorf("got %+v", got)
	}
}

// TestSubroutines refuses jsr and ret by name, and only when edited.
func TestSubroutines(t *testing.T) {
	for name, bytecode := range map[string][]byte{
		"jsr": {168, 0, 3}, "ret": {169, 0}, "jsr_w": {201, 0, 0, 0, 5}, "wide ret": {196, 169, 1, 0},
	} {
		c := newClass(t, 48)
		if _, err := c.AddMethod(AccStatic, "f", "()V", nil); err != nil {
			t.Fatal(err)
		}
		data := []byte{0, 1, 1, 1, 0, 0, 0, byte(len(bytecode) + 1)}
		data = append(append(append(data, bytecode...), 177), 0, 0, 0, 0)
		c.Methods[0].Attributes = []*Attribute{{Name: "Code", Data: data}}
		b, err := c.Write()
		if err != nil {
			t.Fatal(err)
		}
		if c, err = Parse(b); err != nil {
			t.Fatal(err)
		}
		if out, err := c.Write(); err != nil || !bytes.Equal(b, out) {
			t.Errorf("%s: not the identity: %v", name, err)
		}
		_, err = c.Methods[0].Code()
		var ue *UnsupportedError
		if !errors.As(err, &ue) || !strings.Contains(ue.What, strings.TrimPrefix(name, "wide ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestVersions: class files that are too old, too new, or have another layout of code.
func TestVersions(t *testing.T) {
	b, err := newClass(t, 69).Write()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		major, minor uint16
		ok           bool
	}{{44, 0, false}, {45, 3, true}, {61, 0, true}, {69, 0xFFFF, true}, {70, 0, false}} {
		v := bytes.Clone(b)
		v[4], v[5], v[7] = byte(tt.minor>>8), byte(tt.minor), byte(tt.major)
		_, err := Parse(v)
		var ue *UnsupportedError
		if tt.ok != (err == nil) || !tt.ok && !errors.As(err, &ue) {
			t.Errorf("%d.%d: %v", tt.major, tt.minor, err)
		}
	}
	c := newClass(t, 45)
	c.Minor = 2
	c.Methods = []*Member{{class: c, isMethod: true, Name: "f", Descriptor: "()V",
		Attributes: []*Attribute{{Name: "Code", Data: []byte{0, 0, 0, 1, 177, 0, 0, 0, 0}}}}}
	_, err = c.Methods[0].Code()
	var ue *UnsupportedError
	if !errors.As(err, &ue) || !strings.Contains(ue.What, "45.2") {
		t.Errorf("code of 45.2: %v", err)
	}
}
