package sched

import (
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"
)

// wakingProgram: sched_waking(task *p), in the thread that ends the wait, or in one that an interrupt has stopped.
func wakingProgram(o *offsets) asm.Instructions {
	a := &assembler{offsets: o}
	a.Add(asm.LoadMem(rPrev, asm.R1, 0, asm.DWord))
	a.watched(rPrev, "exit")
	a.waker("exit")
	a.Add(asm.Mov.Reg(rRecord, asm.R0))
	a.copyField(rPrev, o.pid, wakerOf, asm.Word)
	a.Add(asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(rNext, asm.R0))
	a.copyField(rNext, o.tgid, wakerTGID, asm.Word)
	a.copyField(rNext, o.pid, wakerTID, asm.Word)
	a.systemCall(rNext)
	a.notOfInterrupt()
	a.store(wakerCall, asm.Word)
	return a.Finish()
}

// notOfInterrupt makes a system call in R1, whose registers R0 has, -1 if it waits for a futex, or wakes those that wait
// for another one than the thread in rPrev: that ends no wait of this thread, so an interrupt did. Of two threads with the
// same time limit, the second's often ends when the first has just been woken, or has just done what it was woken for. A thread
// that exits wakes only who waits for its end, and takes so long that an interrupt often meets it there.
func (a *assembler) notOfInterrupt() {
	first, second := a.offsets.firstArgument, a.offsets.secondArgument
	if first.Size != asm.DWord || second.Size != asm.DWord || a.offsets.systemCall.Size != asm.DWord {
		return
	}
	a.Add(
		asm.JEq.Imm(asm.R1, unix.SYS_EXIT, "exits"),
		asm.JNE.Imm(asm.R1, unix.SYS_FUTEX, "ends"),
		asm.LoadMem(rCtx, asm.R0, first.Offset, asm.DWord),
		asm.LoadMem(asm.R2, asm.R0, second.Offset, asm.DWord),
		asm.And.Imm(asm.R2, futexCommand),
		asm.JEq.Imm(asm.R2, futexWait, "not"), asm.JEq.Imm(asm.R2, futexWaitBitset, "not"),
		asm.JEq.Imm(asm.R2, futexWake, "wakes"), asm.JNE.Imm(asm.R2, futexWakeBitset, "ends"),
	)
	a.At("wakes")
	a.systemCall(rPrev)
	a.Add(
		asm.LoadMem(asm.R2, asm.R0, first.Offset, asm.DWord),
		asm.Mov.Reg(asm.R3, asm.R1),
		asm.Mov.Imm(asm.R1, unix.SYS_FUTEX),
		asm.JNE.Imm(asm.R3, unix.SYS_FUTEX, "ends"), // waits for something else, or a signal let it begin again
		asm.JEq.Reg(asm.R2, rCtx, "ends"),
		asm.Ja.Label("not"),
	)
	a.At("exits")
	a.Add(asm.LoadMem(rCtx, rNext, a.offsets.exitFutex.Offset, asm.DWord))
	a.systemCall(rPrev)
	a.Add(
		asm.JNE.Imm(asm.R1, unix.SYS_FUTEX, "not"),
		asm.LoadMem(asm.R2, asm.R0, first.Offset, asm.DWord),
		asm.Mov.Imm(asm.R1, unix.SYS_EXIT),
		asm.JEq.Reg(asm.R2, rCtx, "ends"),
	)
	a.At("not")
	a.Add(asm.Mov.Imm(asm.R1, -1))
	a.At("ends")
}

// The commands of the system call futex with which a thread waits or wakes others, from include/uapi/linux/futex.h.
const (
	futexWait       = 0
	futexWake       = 1
	futexWaitBitset = 9
	futexWakeBitset = 10
	futexCommand    = 0x7f // without the flags
)
