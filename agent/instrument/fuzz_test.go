package instrument

import (
	"errors"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/internal/testjvm"
)

// FuzzWeave: for any bytes there is no panic, every error is a refusal,
// and what was woven is a class file whose code can be decoded.
func FuzzWeave(f *testing.F) {
	for _, b := range compile(f, testjvm.JDKs(f)[0], "main").classes {
		f.Add(b, uint8(ModeFull), true)
		f.Add(b, uint8(ModeFull)+4, true)
	}
	f.Add(header("T", nameObject, runnable), uint8(ModeStructure), false)
	f.Add(header(nameThread, nameObject, runnable), uint8(ModeBodies), false)
	f.Fuzz(func(t *testing.T, class []byte, mode uint8, all bool) {
		o := Options{}
		if all {
			o = everything
		}
		o.Count = mode&4 != 0
		LambdaTarget(class)
		out, err := weaveClass(Input{Class: class, Supers: knowsAll{}, Mode: Mode(mode & 3 % 3)}, o)
		var r *Refusal
		if err != nil && !errors.As(err, &r) {
			t.Fatalf("the error is no refusal: %v", err)
		}
		if out == nil {
			return
		}
		c, err := classfile.Parse(out)
		if err != nil {
			t.Fatalf("the woven class does not parse: %v", err)
		}
		before, err := classfile.Parse(class)
		if err != nil {
			t.Fatalf("woven, but the class does not parse: %v", err)
		}
		for i, m := range c.Methods {
			if _, err := before.Methods[i].Code(); err != nil {
				continue // it was not touched
			}
			if _, err := m.Code(); err != nil {
				t.Fatalf("%s does not decode: %v", m, err)
			}
		}
	})
}

// BenchmarkNothing is the cost of a class that is no task.
func BenchmarkNothing(b *testing.B) {
	benchmark(b, "java/util/ArrayList", false)
}

// BenchmarkPlan is the cost of the plan of a task class alone.
func BenchmarkPlan(b *testing.B) {
	jdk := testjvm.JDKs(b)[0]
	im := image(b, jdk)
	class, err := im.Class("java/util/concurrent/FutureTask")
	if err != nil {
		b.Fatal(err)
	}
	h := NewImageHierarchy(im.Class, Options{})
	for b.Loop() {
		if p, err := NewPlan(Input{Class: class, Supers: h, Platform: true}, Options{}); p == nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWeave is the cost of a task class, plan and code.
func BenchmarkWeave(b *testing.B) {
	benchmark(b, "java/util/concurrent/FutureTask", true)
}

func benchmark(b *testing.B, name string, woven bool) {
	jdk := testjvm.JDKs(b)[0]
	im := image(b, jdk)
	class, err := im.Class(name)
	if err != nil {
		b.Fatal(err)
	}
	h := NewImageHierarchy(im.Class, Options{})
	b.ReportAllocs()
	b.SetBytes(int64(len(class)))
	for b.Loop() {
		out, err := weaveClass(Input{Class: class, Supers: h, Platform: true}, Options{})
		if err != nil || woven != (out != nil) {
			b.Fatalf("%d bytes, %v", len(out), err)
		}
	}
}
