package instrument

import (
	"encoding/binary"
	"strings"

	"stackagent/agent/classfile"
	"stackagent/internal/taskdef"
)

// functions follows which lambdas and method references a method gives to the methods
// that it calls, along straight lines of code: what comes through a variable or past a
// branch is not known.
type functions struct {
	p       *Plan
	targets map[*classfile.Label]bool
	given   []function // made and not yet given to a call, the newest last
	fresh   bool       // the newest is on top of the stack
	stream  []string   // given to the operations of a stream that is not yet executed

	// Of the latest instruction, if it is a call: its name, and the function given to it.
	calls, function string
}

// function is an object of a functional interface.
type function struct{ descriptor, method string }

func (p *Plan) newFunctions(code *classfile.Code) *functions {
	f := &functions{p: p, targets: map[*classfile.Label]bool{}}
	for _, in := range code.Insns {
		if in.Target != nil {
			f.targets[in.Target] = true
		}
		if in.Switch != nil {
			f.targets[in.Switch.Default] = true
			for _, l := range in.Switch.Targets {
				f.targets[l] = true
			}
		}
	}
	for _, h := range code.Handlers {
		f.targets[h.Target] = true
	}
	return f
}

// follow goes past an instruction.
func (f *functions) follow(in *classfile.Insn) {
	f.calls, f.function = "", ""
	switch {
	case in.Op == classfile.OpLabel:
		if f.targets[in.Label] {
			f.forget()
		}
		return
	case in.Op == classfile.OpInvokedynamic:
		f.dynamic(in)
		return
	case in.Op.IsInvoke():
		f.call(in)
	case in.Op.IsJump(), in.Op.IsSwitch(), in.Op.Ends():
		f.forget()
	case f.fresh && !isReal(in), in.Op == classfile.OpCheckcast:
		return
	case f.fresh && takesTop(in.Op):
		f.given = f.given[:len(f.given)-1]
	}
	f.fresh = false
}

func (f *functions) forget() { f.given, f.stream, f.fresh = f.given[:0], f.stream[:0], false }

// takesTop reports whether an instruction takes an object from the stack and gives it to no call.
func takesTop(op classfile.Opcode) bool {
	switch op {
	case classfile.OpAstore, classfile.OpAastore, classfile.OpPutfield, classfile.OpPutstatic, classfile.OpPop:
		return true
	}
	return false
}

// dynamic goes past the creation of a lambda.
func (f *functions) dynamic(in *classfile.Insn) {
	_, descriptor, err := f.p.class.Pool.NameAndType(in.Index)
	end := strings.IndexByte(descriptor, ')')
	if err != nil || end < 0 {
		return
	}
	f.take(descriptor)
	f.function = f.p.lambdaMethod(in.Index)
	f.given, f.fresh = append(f.given, function{descriptor[end+1:], f.function}), true
}

// call goes past a call.
func (f *functions) call(in *classfile.Insn) {
	owner, name, descriptor, err := f.p.class.Pool.MemberRef(in.Index)
	if err != nil {
		return
	}
	f.calls, f.function = name, f.take(descriptor)
	if name == "<init>" {
		f.calls = "new " + owner[strings.LastIndexAny(owner, "/$")+1:]
	}
	if !strings.HasPrefix(owner, "java/util/stream/") {
		return
	}
	if f.function != "" {
		f.stream = append(f.stream, f.function)
	}
	if callsParallel(owner, name, descriptor) {
		if f.function = ""; len(f.stream) == 1 { // of several, it is not known which does the work
			f.function = f.stream[0]
		}
		f.stream = f.stream[:0]
	}
}

// take removes the functions that a call with this descriptor gets, and returns the
// method of the first one of the program.
func (f *functions) take(descriptor string) (method string) {
	if len(f.given) == 0 {
		return ""
	}
	var types []string
	for d := descriptor[1:]; d != "" && d[0] != ')'; {
		n := taskdef.FieldLen(d)
		if n == 0 {
			return ""
		}
		types, d = append(types, d[:n]), d[n:]
	}
	for i := len(types) - 1; i >= 0 && len(f.given) > 0; i-- {
		last := f.given[len(f.given)-1]
		if last.descriptor != types[i] {
			continue
		}
		f.given = f.given[:len(f.given)-1]
		if last.method != "" {
			method = last.method
		}
	}
	return method
}

const nameLambdaFactory = "java/lang/invoke/LambdaMetafactory"

// lambdaMethod is the program's method that a lambda or method reference stands for, as
// com.acme.Main.lambda$run$0; "" if it is the platform's or not known.
func (p *Plan) lambdaMethod(index uint16) string {
	n, err := p.class.Pool.Bootstrap(index)
	if err != nil {
		return ""
	}
	factory, args := p.bootstrap(int(n))
	if _, ref, err := p.class.Pool.MethodHandle(factory); err != nil || len(args) < 3 {
		return ""
	} else if owner, _, _, err := p.class.Pool.MemberRef(ref); err != nil || owner != nameLambdaFactory {
		return ""
	}
	_, ref, err := p.class.Pool.MethodHandle(args[1])
	if err != nil {
		return ""
	}
	owner, name, _, err := p.class.Pool.MemberRef(ref)
	if err != nil || ofPlatform(owner) && !p.options.everywhere {
		return ""
	}
	if name == "<init>" {
		name = "new"
	}
	return javaName(owner) + "." + name
}

// bootstrap is the nth bootstrap method of the class with its arguments; 0: there is none.
func (p *Plan) bootstrap(n int) (method uint16, args []uint16) {
	for _, a := range p.class.Attributes {
		if a.Name != "BootstrapMethods" || len(a.Data) < 2 {
			continue
		}
		for d := a.Data[2:]; len(d) >= 4; n-- {
			count := int(binary.BigEndian.Uint16(d[2:]))
			if len(d) < 4+2*count {
				return 0, nil
			}
			if n == 0 {
				for i := range count {
					args = append(args, binary.BigEndian.Uint16(d[4+2*i:]))
				}
				return binary.BigEndian.Uint16(d), args
			}
			d = d[4+2*count:]
		}
	}
	return 0, nil
}
