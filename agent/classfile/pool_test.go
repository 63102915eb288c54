package classfile

import (
	"errors"
	"strings"
	"testing"
)

// TestPool adds entries of every kind, reads them back, also after writing and
// parsing, and adds them again, which must not make the pool grow.
func TestPool(t *testing.T) {
	c := newClass(t, 61)
	p := c.Pool
	index := func(i uint16, err error) uint16 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	add := func() []uint16 {
		return []uint16{
			index(p.AddUtf8("text")), index(p.AddClass("a/B")), index(p.AddString("text")),
			index(p.AddFieldRef("a/B", "f", "J")), index(p.AddMethodRef("a/B", "m", "()V", false)),
			index(p.AddMethodRef("a/I", "m", "()V", true)), index(p.AddNameAndType("m", "()V")),
			index(p.AddInteger(-7)), index(p.AddLong(1 << 40)), index(p.AddDouble(2.5)), index(p.AddFloat(1)),
		}
	}
	first := add()
	size := p.Len()
	for i, again := range add() {
		if again != first[i] {
			t.Errorf("entry %d was added again as %d", first[i], again)
		}
	}
	if p.Len() != size {
		t.Errorf("the pool grew from %d to %d", size, p.Len())
	}
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Parse(b); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Pool{p, c.Pool} {
		owner, name, desc, err := p.MemberRef(first[5])
		if err != nil || owner+name+desc != "a/Im()V" || p.Tag(first[5]) != TagInterfaceMethodref {
			t.Errorf("MemberRef: %s %s %s %v", owner, name, desc, err)
		}
		s, err1 := p.String(first[2])
		k, err2 := p.ClassName(first[1])
		u, err3 := p.Utf8(first[0])
		n, err4 := p.Integer(first[7])
		if s != "text" || k != "a/B" || u != "text" || n != -7 || errors.Join(err1, err2, err3, err4) != nil {
			t.Errorf("got %q %q %q %d", s, k, u, n)
		}
	}
	if c.Pool.Tag(first[8]+1) != TagUnusable || c.Pool.Tag(0) != TagUnusable || c.Pool.Tag(65535) != TagUnusable {
		t.Error("an index without entry has a tag")
	}
}

// TestPoolMismatch asks for entries that are something else.
func TestPoolMismatch(t *testing.T) {
	p := newClass(t, 61).Pool
	for name, get := range map[string]func(i uint16) error{
		"Utf8":         func(i uint16) error { _, err := p.Utf8(i); return err },
		"Class":        func(i uint16) error { _, err := p.ClassName(i); return err },
		"String":       func(i uint16) error { _, err := p.String(i); return err },
		"Integer":      func(i uint16) error { _, err := p.Integer(i); return err },
		"MethodHandle": func(i uint16) error { _, _, err := p.MethodHandle(i); return err },
		"Dynamic":      func(i uint16) error { _, err := p.Bootstrap(i); return err },
		"method ref":   func(i uint16) error { _, _, _, err := p.MemberRef(i); return err },
		"name":         func(i uint16) error { _, _, err := p.NameAndType(i); return err },
	} {
		long, err := p.AddLong(5)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []uint16{0, long, long + 1, 65535} {
			var ee *EntryError
			if err := get(i); !errors.As(err, &ee) || ee.Index != i {
				t.Errorf("%s of entry %d: %v", name, i, err)
			}
		}
	}
	var ee *EditError
	if _, err := p.AddUtf8(strings.Repeat("x", 65536)); !errors.As(err, &ee) {
		t.Errorf("a string that is too long: %v", err)
	}
}

// TestMembers adds fields and methods and changes what a class says of itself.
func TestMembers(t *testing.T) {
	c := newClass(t, 61)
	if _, err := c.AddField(AccPrivate|AccTransient|AccSynthetic, "id", "J"); err != nil {
		t.Fatal(err)
	}
	var ee *EditError
	if _, err := c.AddField(AccPrivate, "id", "J"); !errors.As(err, &ee) {
		t.Errorf("the same field again: %v", err)
	}
	if _, err := c.AddField(AccPrivate, "x", "V"); !errors.As(err, &ee) {
		t.Errorf("a field of type void: %v", err)
	}
	if _, err := c.AddMethod(AccAbstract, "m", "()", nil); !errors.As(err, &ee) {
		t.Errorf("a bad descriptor: %v", err)
	}
	if _, err := c.AddMethod(AccAbstract, "m", "()V", nil); err != nil {
		t.Fatal(err)
	}
	c.Name, c.Super, c.Access = "a/Other", "a/Base", AccAbstract
	c.Interfaces = append(c.Interfaces, "java/lang/Runnable")
	b, err := c.Write()
	if err != nil {
		t.Fatal(err)
	}
	if c, err = Parse(b); err != nil {
		t.Fatal(err)
	}
	f := c.Field("id", "J")
	if f == nil || f.Access != AccPrivate|AccTransient|AccSynthetic || c.Method("m", "()V") == nil || c.Field("id", "I") != nil {
		t.Errorf("members %v %v", c.Fields, c.Methods)
	}
	h, err := ParseHeader(b)
	if err != nil || h.Name != "a/Other" || h.Super != "a/Base" || h.Access != AccAbstract ||
		len(h.Interfaces) != 1 || h.Interfaces[0] != "java/lang/Runnable" {
		t.Errorf("header %+v, %v", h, err)
	}
}
