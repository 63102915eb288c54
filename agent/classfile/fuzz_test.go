package classfile

import (
	"bytes"
	"errors"
	"testing"

	"stackagent/internal/testjvm"
)

// seeds adds small real classes, and some made by hand, to the corpus.
func seeds(f *testing.F) {
	_, classes := compileJava(f, testjvm.JDKs(f)[0])
	for _, b := range classes {
		f.Add(b)
	}
	for _, major := range []uint16{45, 49, 50, 52, 69} {
		c := newClass(f, major)
		code := NewCode(2, 1)
		addF(f, c, code)
		l, at := code.NewLabel(), NewInsn(OpNop)
		code.Append(at, l.Insn(), NewVarInsn(OpIload, 0), NewJump(OpIfeq, l), NewVarInsn(OpIload, 0), NewInsn(OpIreturn))
		code.SetFrame(l, intType(), nil)
		code.AddHandler(code.LabelBefore(at), l, l, "java/lang/Error")
		b, err := c.Write()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// typed fails unless the error is one that this package promises.
func typed(t *testing.T, err error) {
	t.Helper()
	var (
		fe *FormatError
		ue *UnsupportedError
		tl *TooLargeError
		pf *PoolFullError
		ee *EditError
		ne *EntryError
	)
	if !errors.As(err, &fe) && !errors.As(err, &ue) && !errors.As(err, &tl) && !errors.As(err, &pf) &&
		!errors.As(err, &ee) && !errors.As(err, &ne) {
		t.Fatalf("untyped error %v", err)
	}
}

// FuzzParse: no input makes Parse panic, and what it accepts is written as it
// was.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := ParseHeader(b); err != nil {
			typed(t, err)
		}
		c, err := Parse(b)
		if err != nil {
			typed(t, err)
			return
		}
		out, err := c.Write()
		if err != nil || !bytes.Equal(b, out) {
			t.Fatalf("not the identity: %v", err)
		}
	})
}

// FuzzEdit: what decodes can be encoded anew with the same meaning, and takes
// a probe before every instruction and far jumps, or a typed error says why not.
func FuzzEdit(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		out, err := transform(b, func(*Class) {}, func(*Code) {})
		if err != nil {
			typed(t, err)
			return
		}
		before, err := Parse(b)
		if err != nil {
			t.Fatal(err)
		}
		after, err := Parse(out)
		if err != nil {
			t.Fatalf("written anew: %v", err)
		}
		for i, m := range before.Methods {
			x, err := m.Code()
			if err != nil {
				t.Fatal(err)
			}
			y, err := after.Methods[i].Code()
			if err != nil {
				t.Fatalf("%s written anew: %v", m, err)
			}
			if x != nil {
				if d := difference(x, y); d != "" {
					t.Fatalf("%s: encoded anew it differs in %s", m, d)
				}
			}
		}
		out, err = transform(b, func(c *Class) { c.jumpLimit = 9 }, probe)
		if err != nil {
			typed(t, err)
			return
		}
		if _, err := transform(out, func(*Class) {}, func(*Code) {}); err != nil {
			typed(t, err)
		}
	})
}
