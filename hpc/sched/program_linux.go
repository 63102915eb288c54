package sched

import (
	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"stackagent/hpc/kernelprog"
)

// The kernel's side of the eBPF source, six small programs on the scheduler's
// tracepoints. Each writes a record of what concerns a watched process; only who ends a
// wait is kept from one program to another. They are assembled here with the offsets of the running kernel,
// so the build needs no C compiler for BPF.

// Entries of the map of processes: what to do, and records that had no room.
const (
	flagWatch  = 1 // write records about its threads
	flagFollow = 2 // do the same with the processes that it starts

	entryFlags = 0
	entryLost  = 8
	entrySize  = 16
)

// Records, by offset. The first fields are common.
const (
	recTime = 0 // u64, CLOCK_MONOTONIC
	recType = 8 // u32
	recTGID = 12
	recTID  = 16

	typeSwitch = 0
	typeWake   = 1
	typeNew    = 2
	typeExit   = 3

	swNextTGID   = 20 // 0: not watched; recTGID and recTID are those of the previous thread, or 0
	swNextTID    = 24
	swPrevState  = 28 // bit 31: it was preempted
	swPrevCall   = 32 // number of the system call in which it is, from the registers
	swPrevCount  = 36 // its switches so far, this one included
	swNextCount  = 40
	swPrevCPU    = 48 // its CPU time so far, ns
	swClock      = 56 // u64, the scheduler's clock of this CPU when it began to charge the next thread; 0: not known
	swCPU        = 64 // u32, and four bytes of nothing
	swPrevFirst  = 72 // u64, first argument of that system call; 0: not known
	swPrevLimit  = 80 // u64, its fourth argument: of a futex, where its time limit is; 0: none, or not known
	switchSize   = 88
	preemptedBit = 31

	newSize = 24

	// Who ended the wait; all -1 if it is not known.
	wakeTGID = 20
	wakeTID  = 24
	wakeCall = 28 // number of the system call in which it is, from the registers
	wakeSize = 32

	exitVoluntary   = 24
	exitInvoluntary = 32
	exitComm        = 48
	exitSize        = 64
	commSize        = 16
)

// Waking the reader costs a switch, so it polls. While little happens it polls seldom, and listens: the record with which
// more than wakeBytes wait wakes it.
const (
	noWakeup    = 1 // BPF_RB_NO_WAKEUP
	forceWakeup = 2 // BPF_RB_FORCE_WAKEUP
	wakeBytes   = 8 << 10
	wakeRange   = 4 << 10 // more than several CPUs write between two checks of what waits
)

// Offsets on the stack.
const (
	stackKey  = -4
	stackPrev = -16 // the previous thread's entry, or 0
	stackNext = -24
	stackTime = -32 // of the switch; read first: the rest may wait for memory
)

// Registers that outlive a call of a helper.
const (
	rCtx    = asm.R6
	rPrev   = asm.R7
	rNext   = asm.R8
	rRecord = asm.R9
)

const (
	mapProcesses = "processes"
	mapRecords   = "records"
	mapWakers    = "wakers"
)

// An entry of the map of wakers belongs to all threads whose ids have the same low bits. The kernel reports a wake-up
// to the waker (sched_waking), then, perhaps on another CPU, that the thread can run (sched_wakeup). It does not
// report another wake-up of the thread in between.
const (
	nWakers = 1 << 16

	wakerOf   = 0 // id of the thread whose wait it ends
	wakerTGID = 4
	wakerTID  = 8
	wakerCall = 12
	wakerSize = 16
)

// assembler adds what the programs on the scheduler share.
type assembler struct {
	kernelprog.Assembler
	offsets *offsets
}

// field loads a field of a task_struct into R1.
func (a *assembler) field(task asm.Register, f field) {
	a.Add(asm.LoadMem(asm.R1, task, f.Offset, f.Size))
}

// store writes R1 into the record.
func (a *assembler) store(offset int16, size asm.Size) {
	a.Add(asm.StoreMem(rRecord, offset, asm.R1, size))
}

func (a *assembler) copyField(task asm.Register, f field, offset int16, size asm.Size) {
	a.field(task, f)
	a.store(offset, size)
}

// lookup leaves the entry of the task's process in R0, or goes to none. The
// idle task has process 0 and is looked up most often.
func (a *assembler) lookup(task asm.Register, none string) {
	a.field(task, a.offsets.tgid)
	a.Add(
		asm.JEq.Imm(asm.R1, 0, none),
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapProcesses),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, none),
	)
}

// watched is lookup for the processes that are watched.
func (a *assembler) watched(task asm.Register, none string) {
	a.lookup(task, none)
	a.Add(
		asm.LoadMem(asm.R1, asm.R0, entryFlags, asm.Word),
		asm.And.Imm(asm.R1, flagWatch),
		asm.JEq.Imm(asm.R1, 0, none),
	)
}

// reserve makes room for a record, or goes to lost.
func (a *assembler) reserve(size int32, kind int32, lost string) {
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapRecords),
		asm.Mov.Imm(asm.R2, size),
		asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, lost),
		asm.Mov.Reg(rRecord, asm.R0),
		asm.Mov.Imm(asm.R1, kind),
	)
	a.store(recType, asm.Word)
}

func (a *assembler) submit() {
	const unread = 0 // BPF_RB_AVAIL_DATA
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapRecords),
		asm.Mov.Imm(asm.R2, unread),
		asm.FnRingbufQuery.Call(),
		asm.Mov.Reg(asm.R1, rRecord),
		asm.Mov.Imm(asm.R2, noWakeup),
		asm.JLT.Imm(asm.R0, wakeBytes, "submit"),
		asm.JGT.Imm(asm.R0, wakeBytes+wakeRange, "submit"),
		asm.Mov.Imm(asm.R2, forceWakeup),
	)
	a.At("submit")
	a.Add(asm.FnRingbufSubmit.Call())
}

// countLost adds one to the lost records of the entry on the stack, if there is one.
func (a *assembler) countLost(stack int16, none string) {
	a.Add(
		asm.LoadMem(asm.R1, asm.RFP, stack, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, none),
		asm.Mov.Imm(asm.R2, 1),
		asm.AddAtomic.Mem(asm.R1, asm.R2, asm.DWord, entryLost),
	)
}

// switchProgram: sched_switch(bool preempt, task *prev, task *next, unsigned prev_state).
func switchProgram(o *offsets) asm.Instructions {
	a := &assembler{offsets: o}
	a.Add(asm.Mov.Reg(rCtx, asm.R1), asm.FnKtimeGetNs.Call(), asm.StoreMem(asm.RFP, stackTime, asm.R0, asm.DWord))
	a.Add(
		asm.LoadMem(rPrev, rCtx, 8, asm.DWord),
		asm.LoadMem(rNext, rCtx, 16, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, stackPrev, asm.R1, asm.DWord),
		asm.StoreMem(asm.RFP, stackNext, asm.R1, asm.DWord),
	)
	a.watched(rPrev, "look_next")
	a.Add(asm.StoreMem(asm.RFP, stackPrev, asm.R0, asm.DWord))
	a.At("look_next")
	a.watched(rNext, "looked")
	a.Add(asm.StoreMem(asm.RFP, stackNext, asm.R0, asm.DWord))
	a.At("looked")
	a.Add(
		asm.LoadMem(asm.R1, asm.RFP, stackPrev, asm.DWord),
		asm.JNE.Imm(asm.R1, 0, "write"),
		asm.LoadMem(asm.R1, asm.RFP, stackNext, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "exit"),
	)
	a.At("write")
	a.reserve(switchSize, typeSwitch, "lost")
	a.Add(asm.LoadMem(asm.R1, asm.RFP, stackTime, asm.DWord))
	a.store(recTime, asm.DWord)
	a.previous()
	a.next()
	a.clock()
	a.submit()
	a.Add(asm.Ja.Label("exit"))
	a.At("lost")
	a.countLost(stackPrev, "lost_next")
	a.field(rPrev, o.tgid) // a switch between two threads of a process is one record
	a.Add(asm.Mov.Reg(asm.R2, asm.R1))
	a.field(rNext, o.tgid)
	a.Add(asm.JEq.Reg(asm.R1, asm.R2, "exit"))
	a.At("lost_next")
	a.countLost(stackNext, "exit")
	return a.Finish()
}

// previous writes what the thread that leaves the CPU does.
func (a *assembler) previous() {
	o := a.offsets
	a.Add(asm.Mov.Imm(asm.R1, 0))
	for _, offset := range []int16{recTGID, recTID, swPrevState, swPrevCall, swPrevCount} {
		a.store(offset, asm.Word)
	}
	a.store(swNextCount, asm.DWord) // and the padding
	a.store(swPrevCPU, asm.DWord)
	a.store(swPrevFirst, asm.DWord)
	a.store(swPrevLimit, asm.DWord)
	a.Add(asm.LoadMem(asm.R1, asm.RFP, stackPrev, asm.DWord), asm.JEq.Imm(asm.R1, 0, "no_previous"))
	a.copyField(rPrev, o.tgid, recTGID, asm.Word)
	a.copyField(rPrev, o.pid, recTID, asm.Word)
	a.copyField(rPrev, o.cpuTime, swPrevCPU, asm.DWord)
	a.switches(rPrev, swPrevCount)
	a.Add(
		asm.LoadMem(asm.R1, rCtx, 24, asm.DWord),
		asm.LoadMem(asm.R2, rCtx, 0, asm.DWord),
		asm.And.Imm(asm.R2, 1),
		asm.LSh.Imm(asm.R2, preemptedBit),
		asm.Or.Reg(asm.R1, asm.R2),
	)
	a.store(swPrevState, asm.Word)
	a.systemCall(rPrev)
	a.store(swPrevCall, asm.Word)
	if first := o.firstArgument; first.Size == asm.DWord && o.systemCall.Size == asm.DWord {
		a.Add(asm.LoadMem(asm.R1, asm.R0, first.Offset, asm.DWord))
		a.store(swPrevFirst, asm.DWord)
		if limit := o.fourthArgument; limit.Size == asm.DWord {
			a.Add(asm.LoadMem(asm.R1, asm.R0, limit.Offset, asm.DWord))
			a.store(swPrevLimit, asm.DWord)
		}
	}
	a.At("no_previous")
}

// systemCall loads the number of the task's system call into R1, -1 if it is not known, and leaves its registers in R0.
func (a *assembler) systemCall(task asm.Register) {
	if call := a.offsets.systemCall; call.Size == asm.DWord {
		a.Add(asm.Mov.Reg(asm.R1, task), asm.FnTaskPtRegs.Call(), asm.LoadMem(asm.R1, asm.R0, call.Offset, asm.DWord))
	} else {
		a.Add(asm.Mov.Imm(asm.R1, -1))
	}
}

// next writes which thread gets the CPU.
func (a *assembler) next() {
	a.Add(asm.Mov.Imm(asm.R1, 0))
	a.store(swNextTGID, asm.Word)
	a.store(swNextTID, asm.Word)
	a.Add(asm.LoadMem(asm.R1, asm.RFP, stackNext, asm.DWord), asm.JEq.Imm(asm.R1, 0, "no_next"))
	a.copyField(rNext, a.offsets.tgid, swNextTGID, asm.Word)
	a.copyField(rNext, a.offsets.pid, swNextTID, asm.Word)
	a.switches(rNext, swNextCount)
	a.At("no_next")
}

// clock writes when the scheduler began to charge the next thread: a moment before the
// switch is reported or, if one thread woke another, at the wake-up. The program finds
// the run queue through the next thread.
func (a *assembler) clock() {
	a.Add(asm.Mov.Imm(asm.R1, 0))
	if path := a.offsets.clock; path != nil {
		a.Add(asm.Mov.Reg(asm.R1, rNext))
		for _, f := range path {
			a.Add(asm.LoadMem(asm.R1, asm.R1, f.Offset, f.Size))
		}
	}
	a.store(swClock, asm.DWord)
	a.Add(asm.FnGetSmpProcessorId.Call(), asm.Mov.Reg(asm.R1, asm.R0))
	a.store(swCPU, asm.DWord)
}

// switches writes how often a thread has left a CPU.
func (a *assembler) switches(task asm.Register, offset int16) {
	a.field(task, a.offsets.involuntary)
	a.Add(asm.Mov.Reg(asm.R2, asm.R1))
	a.field(task, a.offsets.voluntary)
	a.Add(asm.Add.Reg(asm.R1, asm.R2))
	a.store(offset, asm.Word)
}

// taskProgram begins a program whose first argument is a task of a watched process.
func taskProgram(o *offsets, size, kind int32) *assembler {
	a := &assembler{offsets: o}
	a.Add(asm.LoadMem(rPrev, asm.R1, 0, asm.DWord))
	a.watched(rPrev, "exit")
	a.Add(asm.StoreMem(asm.RFP, stackPrev, asm.R0, asm.DWord))
	a.reserve(size, kind, "lost")
	a.Add(asm.FnKtimeGetNs.Call(), asm.Mov.Reg(asm.R1, asm.R0))
	a.store(recTime, asm.DWord)
	a.copyField(rPrev, o.tgid, recTGID, asm.Word)
	a.copyField(rPrev, o.pid, recTID, asm.Word)
	a.Add(asm.Mov.Imm(asm.R1, 0))
	a.store(recTID+4, asm.Word)
	return a
}

func (a *assembler) finishTask() asm.Instructions {
	a.submit()
	a.Add(asm.Ja.Label("exit"))
	a.At("lost")
	a.countLost(stackPrev, "exit")
	return a.Finish()
}

// newProgram: sched_wakeup_new(task *p).
func newProgram(o *offsets) asm.Instructions { return taskProgram(o, newSize, typeNew).finishTask() }

// wakeProgram: sched_wakeup(task *p).
func wakeProgram(o *offsets) asm.Instructions {
	a := taskProgram(o, wakeSize, typeWake)
	a.Add(asm.Mov.Imm(asm.R1, -1))
	a.store(wakeTGID, asm.Word)
	a.store(wakeTID, asm.Word)
	a.store(wakeCall, asm.Word)
	if o.systemCall.Size != asm.DWord { // an interrupt could not be known from a system call
		return a.finishTask()
	}
	a.waker("no_waker")
	a.field(rPrev, o.pid)
	a.Add(asm.LoadMem(asm.R2, asm.R0, wakerOf, asm.Word), asm.JNE.Reg(asm.R1, asm.R2, "no_waker"))
	for _, f := range [][2]int16{{wakerTGID, wakeTGID}, {wakerTID, wakeTID}, {wakerCall, wakeCall}} {
		a.Add(asm.LoadMem(asm.R1, asm.R0, f[0], asm.Word))
		a.store(f[1], asm.Word)
	}
	a.At("no_waker")
	return a.finishTask()
}

// waker leaves the entry for who wakes rPrev in R0, or goes to none.
func (a *assembler) waker(none string) {
	a.field(rPrev, a.offsets.pid)
	a.Add(
		asm.And.Imm(asm.R1, nWakers-1),
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapWakers),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, stackKey),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, none),
	)
}

// exitProgram: sched_process_exit(task *p, ...), before the thread's last switch.
func exitProgram(o *offsets) asm.Instructions {
	a := taskProgram(o, exitSize, typeExit)
	a.copyField(rPrev, o.voluntary, exitVoluntary, asm.DWord)
	a.copyField(rPrev, o.involuntary, exitInvoluntary, asm.DWord)
	a.copyField(rPrev, o.cpuTime, exitInvoluntary+8, asm.DWord)
	a.Add(
		asm.Mov.Reg(asm.R1, rRecord), asm.Add.Imm(asm.R1, exitComm),
		asm.Mov.Imm(asm.R2, commSize),
		asm.Mov.Reg(asm.R3, rPrev), asm.Add.Imm(asm.R3, int32(o.comm.Offset)),
		asm.FnProbeReadKernel.Call(),
	)
	return a.finishTask()
}

// forkProgram: sched_process_fork(task *parent, task *child). A process started
// by one that is followed is watched and followed, too.
func forkProgram(o *offsets) asm.Instructions {
	const entry = stackTime - entrySize
	a := &assembler{offsets: o}
	a.Add(asm.LoadMem(rPrev, asm.R1, 0, asm.DWord), asm.LoadMem(rNext, asm.R1, 8, asm.DWord))
	a.field(rNext, o.tgid)
	a.Add(asm.Mov.Reg(asm.R2, asm.R1))
	a.field(rPrev, o.tgid)
	a.Add(asm.JEq.Reg(asm.R1, asm.R2, "exit")) // a thread
	a.lookup(rPrev, "exit")
	a.Add(
		asm.LoadMem(asm.R1, asm.R0, entryFlags, asm.Word),
		asm.And.Imm(asm.R1, flagFollow),
		asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, entry, asm.R1, asm.DWord),
		asm.StoreImm(asm.RFP, entry+entryFlags, flagWatch|flagFollow, asm.Word),
		asm.StoreMem(asm.RFP, entry+entryLost, asm.R1, asm.DWord),
	)
	a.field(rNext, o.tgid)
	a.Add(
		asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapProcesses),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackKey),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, entry),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	return a.Finish()
}

// collection puts programs and maps together.
func collection(o *offsets, ringBytes, processes uint32) *ebpf.CollectionSpec {
	program := func(point string, ins asm.Instructions) *ebpf.ProgramSpec {
		return kernelprog.Program(ebpf.AttachTraceRawTp, point, ins)
	}
	return &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			mapProcesses: {Name: mapProcesses, Type: ebpf.Hash, KeySize: 4, ValueSize: entrySize, MaxEntries: processes},
			mapRecords:   {Name: mapRecords, Type: ebpf.RingBuf, MaxEntries: ringBytes},
			mapWakers:    {Name: mapWakers, Type: ebpf.Array, KeySize: 4, ValueSize: wakerSize, MaxEntries: nWakers},
		},
		Programs: map[string]*ebpf.ProgramSpec{
			"sched_switch":       program("sched_switch", switchProgram(o)),
			"sched_waking":       program("sched_waking", wakingProgram(o)),
			"sched_wakeup":       program("sched_wakeup", wakeProgram(o)),
			"sched_wakeup_new":   program("sched_wakeup_new", newProgram(o)),
			"sched_process_exit": program("sched_process_exit", exitProgram(o)),
			"sched_process_fork": program("sched_process_fork", forkProgram(o)),
		},
	}
}

// programNames are in the order of attaching: what removes is attached before what adds.
var programNames = []string{"sched_process_exit", "sched_switch", "sched_waking", "sched_wakeup", "sched_wakeup_new", "sched_process_fork"}
