// Package kernelprog is what the programs in the kernel (eBPF) have in common: they are assembled in Go with the offsets of
// the running kernel, so that the build needs no C compiler for BPF, and a refusal says why and what to do.
package kernelprog

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
)

// License of the programs. Kernel helpers require one that is compatible with the GPL: the programs alone are under MIT or GPL.
const License = "Dual MIT/GPL"

// Assembler collects instructions; a label is set on the instruction that follows.
type Assembler struct {
	ins   asm.Instructions
	label string
}

// Add appends instructions.
func (a *Assembler) Add(ins ...asm.Instruction) {
	for _, in := range ins {
		if a.label != "" {
			in = in.WithSymbol(a.label)
			a.label = ""
		}
		a.ins = append(a.ins, in)
	}
}

// At sets a label on the next instruction.
func (a *Assembler) At(label string) {
	if a.label != "" { // two labels on one instruction
		a.Add(asm.Mov.Reg(asm.R0, asm.R0))
	}
	a.label = label
}

// Finish ends the program at the label exit and returns it.
func (a *Assembler) Finish() asm.Instructions {
	a.At("exit")
	a.Add(asm.Mov.Imm(asm.R0, 0), asm.Return())
	return a.ins
}

// Program is a program at a raw tracepoint, or at the return of a function of the kernel.
func Program(at ebpf.AttachType, point string, ins asm.Instructions) *ebpf.ProgramSpec {
	return &ebpf.ProgramSpec{Name: "stackagent", Type: ebpf.Tracing, AttachType: at, AttachTo: point, Instructions: ins, License: License}
}

// Atomic is op.Mem for operations that return what was there before, such as asm.Xchg: cilium/ebpf 0.22 assembles those as a
// mere addition unless the constant says which one it is.
func Atomic(op asm.AtomicOp, dst, src asm.Register, size asm.Size, offset int16) asm.Instruction {
	in := op.Mem(dst, src, size, offset)
	in.Constant = int64(op >> 8)
	return in
}
