package instrument

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"stackagent/agent/classfile"
	"stackagent/internal/units"
)

// knowsAll is a hierarchy in which what is not listed is no task.
type knowsAll map[string]units.Kinds

func (k knowsAll) Kinds(class string) (units.Kinds, bool) { return k[class], true }

// knowsNone is a hierarchy that knows no class.
type knowsNone struct{}

func (knowsNone) Kinds(string) (units.Kinds, bool) { return 0, false }

// builder makes a class with hand-written methods.
type builder struct {
	t     testing.TB
	class *classfile.Class
}

func build(t testing.TB, interfaces ...string) builder {
	t.Helper()
	c, err := classfile.Parse(header("T", nameObject, interfaces...))
	if err != nil {
		t.Fatal(err)
	}
	c.Major = 49 // no frames to write by hand
	return builder{t, c}
}

func (b builder) method(name, descriptor string, stack, locals int, insns ...*classfile.Insn) *classfile.Code {
	b.t.Helper()
	code := classfile.NewCode(stack, locals)
	code.Append(insns...)
	if _, err := b.class.AddMethod(classfile.AccPublic, name, descriptor, code); err != nil {
		b.t.Fatal(err)
	}
	return code
}

// rawCode adds a method from its bytes.
func (b builder) rawCode(name string, code ...byte) {
	b.t.Helper()
	m, err := b.class.AddMethod(classfile.AccPublic, name, "()V", nil)
	if err != nil {
		b.t.Fatal(err)
	}
	data := []byte{0, 2, 0, 2}
	data = binary.BigEndian.AppendUint32(data, uint32(len(code)))
	data = append(append(data, code...), 0, 0, 0, 0)
	m.Attributes = append(m.Attributes, &classfile.Attribute{Name: "Code", Data: data})
}

func (b builder) field(access uint16, name, descriptor string) {
	b.t.Helper()
	if _, err := b.class.AddField(access, name, descriptor); err != nil {
		b.t.Fatal(err)
	}
}

func (b builder) superInit() *classfile.Insn {
	b.t.Helper()
	i, err := b.class.Pool.AddMethodRef(nameObject, "<init>", "()V", false)
	if err != nil {
		b.t.Fatal(err)
	}
	return classfile.NewInvoke(classfile.OpInvokespecial, i)
}

func (b builder) bytes() []byte {
	b.t.Helper()
	out, err := b.class.Write()
	if err != nil {
		b.t.Fatal(err)
	}
	return out
}

func op(o classfile.Opcode) *classfile.Insn { return classfile.NewInsn(o) }

func variable(o classfile.Opcode, slot int) *classfile.Insn { return classfile.NewVarInsn(o, slot) }

const runnable = "java/lang/Runnable"

// TestRefusals makes every reason of a refusal happen.
func TestRefusals(t *testing.T) {
	all := knowsAll{}
	tests := []struct {
		name   string
		want   Reason
		supers Hierarchy
		class  func(t *testing.T) []byte
	}{
		{"truncated", ReasonBadClass, all, func(t *testing.T) []byte { return header("T", nameObject, runnable)[:40] }},
		{"no class", ReasonBadClass, all, func(t *testing.T) []byte { return []byte("#!/bin/sh") }},
		{"trailing bytes", ReasonBadClass, all, func(t *testing.T) []byte { return append(header("T", nameObject, runnable), 0) }},
		{"version", ReasonVersion, all, func(t *testing.T) []byte {
			b := header("T", nameObject, runnable)
			b[7] = classfile.MaxMajor + 1
			return b
		}},
		{"jsr", ReasonSubroutine, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.rawCode("run", 0xa8, 0, 4, 0xb1, 0x4c, 0xa9, 1) // jsr 4; return; 4: astore_1; ret 1
			return b.bytes()
		}},
		{"too large", ReasonMethodSize, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			code := make([]byte, 65530)
			code[len(code)-1] = 0xb1
			b.rawCode("run", code...)
			return b.bytes()
		}},
		{"too large for the JIT", ReasonJIT, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			code := make([]byte, 7990)
			code[len(code)-1] = 0xb1
			b.rawCode("run", code...)
			return b.bytes()
		}},
		{"full pool", ReasonPoolFull, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.method("run", "()V", 0, 1, op(classfile.OpReturn))
			b.bytes() // puts the names into the pool
			for i := 0; b.class.Pool.Len() < 65535; i++ {
				if _, err := b.class.Pool.AddInteger(int32(i)); err != nil {
					t.Fatal(err)
				}
			}
			return b.bytes()
		}},
		{"this not in local 0", ReasonThisLost, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.method("<init>", "()V", 1, 2,
				variable(classfile.OpAload, 0), variable(classfile.OpAstore, 1),
				op(classfile.OpAconstNull), variable(classfile.OpAstore, 0),
				variable(classfile.OpAload, 1), b.superInit(), op(classfile.OpReturn))
			return b.bytes()
		}},
		{"stack underflow", ReasonBadCode, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.method("<init>", "()V", 1, 1, b.superInit(), op(classfile.OpReturn))
			return b.bytes()
		}},
		{"off the end", ReasonBadCode, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.method("<init>", "()V", 1, 1, variable(classfile.OpAload, 0), b.superInit())
			return b.bytes()
		}},
		{"unknown interface", ReasonHierarchy, knowsNone{}, func(t *testing.T) []byte { return header("T", nameObject, "Gone") }},
		{"unknown superclass", ReasonHierarchy, knowsNone{}, func(t *testing.T) []byte { return header("T", "Gone", runnable) }},
		{"woven already", ReasonAlreadyWoven, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.method("run", "()V", 0, 1, op(classfile.OpReturn))
			out, err := weaveClass(Input{Class: b.bytes(), Supers: all}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return out
		}},
		{"field of the same name", ReasonFieldConflict, all, func(t *testing.T) []byte {
			b := build(t, runnable)
			b.field(classfile.AccPublic, FieldTaskID, "Ljava/lang/Object;")
			return b.bytes()
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := weaveClass(Input{Class: tt.class(t), Supers: tt.supers}, Options{})
			var r *Refusal
			if !errors.As(err, &r) {
				t.Fatalf("got %d bytes, error %v; want the refusal %q", len(out), err, tt.want)
			}
			if r.Reason != tt.want {
				t.Errorf("reason %q, want %q (%v)", r.Reason, tt.want, err)
			}
			if out != nil {
				t.Error("bytes and a refusal")
			}
		})
	}
}

// TestThisOverwritten: the code before the overwriting store is covered.
func TestThisOverwritten(t *testing.T) {
	b := build(t, runnable)
	b.method("<init>", "()V", 1, 1,
		variable(classfile.OpAload, 0), b.superInit(), op(classfile.OpNop),
		op(classfile.OpAconstNull), op(classfile.OpArraylength), op(classfile.OpPop), op(classfile.OpAconstNull), variable(classfile.OpAstore, 0), op(classfile.OpNop), op(classfile.OpReturn))
	plan, err := NewPlan(Input{Class: b.bytes(), Supers: knowsAll{}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := stepsOf[*constructorStep](plan)[0]
	if len(c.supers) != 1 || len(c.spans) != 1 {
		t.Fatalf("plan %s", plan)
	}
	if from, to := c.spans[0].from.Op, c.spans[0].to.Op; from != classfile.OpNop || to != classfile.OpAstore {
		t.Errorf("covered from %v to %v, want nop to astore", from, to)
	}
	if _, err := plan.Weave(); err != nil {
		t.Error(err)
	}
}

// TestNothingToDo: classes that get no plan.
func TestNothingToDo(t *testing.T) {
	final := header("T", nameObject)
	tests := []struct {
		name string
		in   Input
		o    Options
	}{
		{"no task", Input{Class: final}, Options{}},
		{"excluded", Input{Class: header("com/acme/T", nameObject, runnable)}, Options{Exclude: []string{"com.acme.*"}}},
		{"not included", Input{Class: header("org/T", nameObject, runnable)}, Options{Include: []string{"com.acme.*"}}},
		{"Object", Input{Class: header(nameObject, "T"), Platform: true}, Options{Tasks: []TaskDefinition{{"*", "*", ""}}}},
		{"Continuation", Input{Class: header("jdk/internal/vm/Continuation", nameObject, runnable), Platform: true}, Options{}},
		{"nothing but code in ModeStructure", Input{Class: header("T", "Task"), Mode: ModeStructure}, Options{}},
	}
	for _, tt := range tests {
		tt.in.Supers = knowsAll{"Task": units.KindRunnable}
		if plan, err := NewPlan(tt.in, tt.o); plan != nil || err != nil {
			t.Errorf("%s: plan %v, error %v", tt.name, plan, err)
		}
	}
}

// TestModes: the fields of ModeStructure and ModeFull are equal, those of
// ModeBodies are the class's own, and weaving is deterministic.
func TestModes(t *testing.T) {
	for _, name := range []string{"T", nameThread, nameClassValues} {
		b := header(name, nameObject, runnable)
		fields := map[Mode]string{}
		for _, mode := range []Mode{ModeFull, ModeStructure, ModeBodies} {
			in := Input{Class: b, Supers: knowsAll{}, Mode: mode, Platform: true}
			one, err := weaveClass(in, Options{})
			if err != nil {
				t.Fatalf("%s, %v: %v", name, mode, err)
			}
			two, _ := weaveClass(in, Options{})
			if !bytes.Equal(one, two) {
				t.Errorf("%s, %v: two results for one input", name, mode)
			}
			fields[mode] = fieldList(t, one)
			if mode == ModeStructure && one != nil { // java.lang.Thread is never seen in this mode
				in.Class, in.Mode = one, ModeFull
				again, err := weaveClass(in, Options{})
				if err != nil {
					t.Fatal(err)
				}
				if again != nil && fieldList(t, again) != fields[mode] {
					t.Errorf("%s: the fields are added twice: %s", name, fieldList(t, again))
				}
			}
		}
		want := map[string]string{"T": "[stackagent$id]", nameThread: "[]",
			nameClassValues: "[stackagent$id stackagent$class]"}[name]
		if fields[ModeFull] != want || fields[ModeStructure] != want || fields[ModeBodies] != "[]" {
			t.Errorf("%s: fields %v, want %s", name, fields, want)
		}
	}
}

func fieldList(t *testing.T, class []byte) string {
	t.Helper()
	names := []string{}
	if class != nil {
		c, err := classfile.Parse(class)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range c.Fields {
			names = append(names, f.Name)
		}
	}
	return fmt.Sprint(names)
}

// TestSelection: which methods are execution methods.
func TestSelection(t *testing.T) {
	const public, private, protected, static = classfile.AccPublic, classfile.AccPrivate, classfile.AccProtected, classfile.AccStatic
	tests := []struct {
		kinds      units.Kinds // of the superclass
		class      uint16      // its access
		access     uint16
		name, desc string
		want       string // the probe, "" for none
	}{
		{units.KindRunnable, 0, public, "run", "()V", "enter"},
		{units.KindRunnable, 0, private, "run", "()V", ""},
		{units.KindRunnable, 0, protected, "run", "()V", ""},
		{units.KindRunnable, 0, public | static, "run", "()V", ""},
		{units.KindRunnable, 0, public, "run", "(I)V", ""},
		{units.KindRunnable, 0, public, "run", "()I", ""},
		{units.KindRunnable, 0, public, "call", "()Ljava/lang/Object;", "enterCallable"}, // a subclass may add Callable
		{units.KindCallable, 0, public, "call", "()Ljava/lang/Object;", "enter"},
		{units.KindCallable, 0, public, "call", "()Ljava/lang/String;", "enterCovariant"},
		{units.KindCallable, 0, public, "call", "()[I", "enterCovariant"},
		{units.KindCallable, 0, public, "call", "()I", "enterCovariant"}, // Scala's Callable[Int]
		{units.KindCallable, 0, 0, "call", "()Ljava/lang/String;", ""},
		{units.KindCallable, 0, public | static, "call", "()Ljava/lang/String;", ""},
		{units.KindCallable, 0, public, "call", "(I)Ljava/lang/String;", ""},
		{0, 0, public, "call", "()Ljava/lang/String;", "enterCallable"}, // a subclass may have a bridge to it
		{0, 0, public, "call", "()I", ""},
		{units.KindForkJoin, 0, protected, "exec", "()Z", "enter"},
		{units.KindForkJoin, 0, public, "exec", "()Z", "enter"},
		{units.KindForkJoin, 0, private, "exec", "()Z", ""},
		{units.KindThread | units.KindRunnable, 0, public, "run", "()V", "enter"},
		{0, 0, public, "run", "()V", "enterRunnable"},
		{0, 0, public, "call", "()Ljava/lang/Object;", "enterCallable"},
		{0, 0, public, "exec", "()Z", "enterForkJoin"},
		{0, 0, protected, "exec", "()Z", ""},
		{0, classfile.AccFinal, public, "run", "()V", ""},
		{0, classfile.AccInterface | classfile.AccAbstract, public, "run", "()V", "enterRunnable"},
		{units.KindCustom, 0, private, "go", "(J)J", "enter"},
		{units.KindCustom, 0, private, "stop", "(J)J", ""},
	}
	o := Options{Tasks: []TaskDefinition{{"Other", "go", "(J)J"}}}
	for _, tt := range tests {
		b := build(t)
		b.class.Super = "S"
		b.class.Access = tt.class | classfile.AccPublic
		code := classfile.NewCode(2, 4)
		code.Append(op(classfile.OpAconstNull), op(classfile.OpAthrow))
		if _, err := b.class.AddMethod(tt.access, tt.name, tt.desc, code); err != nil {
			t.Fatal(err)
		}
		plan, err := NewPlan(Input{Class: b.bytes(), Supers: knowsAll{"S": tt.kinds}}, o)
		if err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
		got := ""
		if plan != nil {
			if found := stepsOf[*executionStep](plan); len(found) > 0 {
				got = found[0].enter.name
			}
		}
		if got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// stepsOf returns the steps of one kind.
func stepsOf[T step](p *Plan) []T {
	var found []T
	for _, s := range p.steps {
		if s, ok := s.(T); ok {
			found = append(found, s)
		}
	}
	return found
}
