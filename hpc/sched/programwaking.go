package sched

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// wakingProgram: sched_waking(task *p), in the thread that ends the wait, or in one that an interrupt has stopped.
func wakingProgram(o *offsets) asm.Instructions {
	a := &assembler{offsets: o}
	a.add(asm.LoadMem(rPrev, asm.R1, 0, asm.DWord))
	a.watched(rPrev, "exit")
	a.waker("exit")
	a.add(asm.Mov.Reg(rRecord, asm.R0))
	a.copyField(rPrev, o.pid, wakerOf, asm.Word)
	a.add(asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(rNext, asm.R0))
	a.copyField(rNext, o.tgid, wakerTGID, asm.Word)
	a.copyField(rNext, o.pid, wakerTID, asm.Word)
	a.systemCall(rNext)
	a.notOfFutexWait()
	a.store(wakerCall, asm.Word)
	return a.finish()
}

// notOfFutexWait makes a system call in R1, whose registers R0 has, -1 if it waits for a futex: that ends no wait, so an
// interrupt did. Of two threads with the same time limit, the second's often ends when the first has just been woken.
func (a *assembler) notOfFutexWait() {
	if second := a.offsets.secondArgument; second.size == asm.DWord && a.offsets.systemCall.size == asm.DWord {
		a.add(
			asm.JNE.Imm(asm.R1, unix.SYS_FUTEX, "ends"),
			asm.LoadMem(asm.R2, asm.R0, second.offset, asm.DWord),
			asm.And.Imm(asm.R2, futexCommand),
			asm.JEq.Imm(asm.R2, futexWait, "waits"), asm.JNE.Imm(asm.R2, futexWaitBitset, "ends"),
		)
		a.at("waits")
		a.add(asm.Mov.Imm(asm.R1, -1))
		a.at("ends")
	}
}

// The commands of the system call futex with which a thread waits, from include/uapi/linux/futex.h.
const (
	futexWait       = 0
	futexWaitBitset = 9
	futexCommand    = 0x7f // without the flags
)
