package kernelprog

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// Field is the offset and size of a number in a structure of the running kernel.
type Field struct {
	Offset int16
	Size   asm.Size
}

// Load loads the field of the structure to which base points.
func (f Field) Load(into, base asm.Register) asm.Instruction {
	return asm.LoadMem(into, base, f.Offset, f.Size)
}

// Register is a register of a thread that its system call has saved, by what it holds then.
type Register int

// The registers. Arguments count from one.
const (
	CallNumber Register = iota // syscall_get_nr
	Argument1
	Argument2
	Argument3
	Argument4
	StackPointer
)

// registerFields is where each architecture keeps them. Some overwrite the first argument with the result.
var registerFields = map[string]map[Register]string{
	"amd64":   {CallNumber: "orig_ax", Argument1: "di", Argument2: "si", Argument3: "dx", Argument4: "r10", StackPointer: "sp"},
	"arm64":   {CallNumber: "syscallno", StackPointer: "sp"},
	"riscv64": {CallNumber: "a7", Argument1: "orig_a0", Argument2: "a1", Argument3: "a2", Argument4: "a3", StackPointer: "sp"},
}

// FindRegister is zero where the register is not known.
func FindRegister(spec *btf.Spec, r Register) Field {
	var regs *btf.Struct
	name := registerFields[runtime.GOARCH][r]
	if name == "" || spec.TypeByName("pt_regs", &regs) != nil {
		return Field{}
	}
	f, err := FindField(regs, name)
	if err != nil {
		return Field{}
	}
	return f
}

// FieldOf finds a field by the name of its structure.
func FieldOf(spec *btf.Spec, structure string, path ...string) (Field, error) {
	var s *btf.Struct
	if err := spec.TypeByName(structure, &s); err != nil {
		return Field{}, fmt.Errorf("the kernel's %s: %w", structure, err)
	}
	f, err := FindField(s, path...)
	if err != nil {
		return Field{}, fmt.Errorf("the kernel's %s: %w", structure, err)
	}
	return f, nil
}

// FindField follows path through structures, anonymous ones included.
func FindField(s btf.Type, path ...string) (Field, error) {
	t, bits, ok := member(s, path[0])
	if !ok {
		return Field{}, fmt.Errorf("no member %s", path[0])
	}
	if len(path) > 1 {
		f, err := FindField(t, path[1:]...)
		total := int64(bits/8) + int64(f.Offset)
		if err == nil && total > math.MaxInt16 {
			err = fmt.Errorf("member %s is too far away", path[0])
		}
		f.Offset = int16(total)
		return f, err
	}
	if bits%8 != 0 || bits/8 > math.MaxInt16 {
		return Field{}, fmt.Errorf("member %s is too far away", path[0])
	}
	f := Field{Offset: int16(bits / 8), Size: asm.DWord}
	if n, err := btf.Sizeof(t); err == nil {
		switch n {
		case 2:
			f.Size = asm.Half
		case 4:
			f.Size = asm.Word
		}
	}
	return f, nil
}

func member(t btf.Type, name string) (btf.Type, btf.Bits, bool) {
	var members []btf.Member
	switch s := btf.UnderlyingType(t).(type) {
	case *btf.Struct:
		members = s.Members
	case *btf.Union:
		members = s.Members
	}
	for _, m := range members {
		if m.Name == name {
			return m.Type, m.Offset, true
		}
		if m.Name == "" {
			if t, bits, ok := member(m.Type, name); ok {
				return t, m.Offset + bits, true
			}
		}
	}
	return nil, 0, false
}
