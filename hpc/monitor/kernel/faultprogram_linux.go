package kernel

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
)

// The kernel's side of the group faults. A tracepoint reports a page fault before the kernel handles it, so nobody knows
// yet whether it is minor or major, or a fault at all. The program therefore notes what the address belongs to, and gives
// that region what the thread's own counts (min_flt, maj_flt) have grown by when it sees the thread again: at its next fault,
// at its end, or when the shadow reads. Counts are in memory that the shadow maps.

// region is what the address of a page fault belongs to.
type region uint32

const (
	otherRegion region = iota
	heapRegion
	codeRegion
	classRegion
	fileRegion
	stackRegion
	regions
)

var regionNames = [regions]string{"other", "heap", "code", "metaspace", "file", "stack"}

// The counts of a thread, by offset. Slot 0 is for all threads for which there was none.
const (
	slotThread  = 0 // u32, its id; written before the first count
	slotEnded   = 4 // u32, not 0: the thread counts no more
	slotSeenMin = 8 // u64, min_flt and maj_flt of the thread, as far as they have been given to a region
	slotSeenMaj = 16
	slotMinor   = 24 // u64 for each region
	slotMajor   = slotMinor + 8*int16(regions)
	slotRegion  = slotMajor + 8*int16(regions) // u32, of the thread's last fault
	slotSize    = 128

	nSlots = 1 << 14
)

// The state of the programs.
const (
	stateNext  = 0 // u64, the first slot that was never used
	stateTable = 8 // u32, which of the two tables holds
	stateSize  = 16
)

// A table of regions: entries in the order of their addresses. Unused ones begin at the last address.
const (
	entryFrom   = 0  // u64
	entryTo     = 8  // u64, the address behind its last
	entryRegion = 16 // u32
	entrySize   = 24
	tableBits   = 10
	nEntries    = 1 << tableBits
	noEntry     = uint64(math.MaxUint64)
)

// A fault within these distances of the stack pointer touches the stack. The JVM touches the pages below before it needs them
// (StackShadowPages).
const (
	belowStack = 256 << 10
	aboveStack = 64 << 10
)

const (
	mapSlots   = "slots"
	mapThreads = "threads" // from a thread's id to its slot
	mapFree    = "free"    // slots of ended threads that have been read
	mapState   = "state"
	mapTables  = "tables"
)

const exiting = 0x4 // PF_EXITING in task_struct.flags

type faultFields struct {
	pid, tgid, flags, started, minor, major, stackPointer kernelprog.Field
}

func findFaultFields(spec *btf.Spec) (f faultFields, err error) {
	for name, into := range map[string]*kernelprog.Field{"pid": &f.pid, "tgid": &f.tgid, "flags": &f.flags, "start_time": &f.started,
		"min_flt": &f.minor, "maj_flt": &f.major} {
		if *into, err = kernelprog.FieldOf(spec, "task_struct", name); err != nil {
			return f, err
		}
	}
	if f.stackPointer = kernelprog.FindRegister(spec, kernelprog.StackPointer); f.stackPointer.Size == 0 {
		return f, fmt.Errorf("the stack pointer of a thread is not known on %s", runtime.GOARCH)
	}
	var tracepoint *btf.Typedef
	if err := spec.TypeByName("btf_trace_page_fault_user", &tracepoint); err != nil {
		return f, fmt.Errorf("the kernel has no tracepoint page_fault_user on %s", runtime.GOARCH)
	}
	return f, nil
}

// Registers that outlive a call of a helper.
const (
	rTask    = asm.R6
	rAddress = asm.R7
	rSlot    = asm.R8
)

// Offsets on the stack of the programs.
const (
	stackThread = -4
	stackSlot   = -8
	stackKey    = -12
)

// faultAssembler adds what the programs share.
type faultAssembler struct {
	kernelprog.Assembler
	faultFields
	process int
	since   int64 // CLOCK_MONOTONIC when counting began
}

// ofProcess goes on with threads of the process only.
func (a *faultAssembler) ofProcess() {
	a.Add(a.tgid.Load(asm.R1, rTask), asm.JNE.Imm(asm.R1, int32(a.process), "exit"))
}

// call calls a helper for a map and the key on the stack.
func (a *faultAssembler) call(m string, key int32, helper asm.BuiltinFunc) {
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(m),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, key),
		helper.Call(),
	)
}

// state leaves the state in R0.
func (a *faultAssembler) state() {
	a.Add(asm.StoreImm(asm.RFP, stackKey, 0, asm.Word))
	a.call(mapState, stackKey, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "exit")) // never
}

// slot finds or begins the counts of rTask and leaves them in rSlot.
func (a *faultAssembler) slot() {
	a.Add(
		a.pid.Load(asm.R1, rTask),
		asm.StoreMem(asm.RFP, stackThread, asm.R1, asm.Word),
		asm.StoreImm(asm.RFP, stackSlot, 0, asm.Word),
	)
	a.call(mapThreads, stackThread, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "new"), asm.LoadMem(asm.R1, asm.R0, 0, asm.Word), asm.StoreMem(asm.RFP, stackSlot, asm.R1, asm.Word))
	a.call(mapSlots, stackSlot, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "exit"), asm.Mov.Reg(rSlot, asm.R0), asm.Ja.Label("slot"))
	a.At("new")
	a.Add( // what an ended thread counts would never be read
		a.flags.Load(asm.R1, rTask),
		asm.And.Imm(asm.R1, exiting),
		asm.JNE.Imm(asm.R1, 0, "exit"),
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapFree),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackSlot),
		asm.FnMapPopElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "have"),
	)
	a.state()
	a.Add(
		asm.LoadMem(asm.R1, asm.R0, stateNext, asm.DWord),
		asm.JGE.Imm(asm.R1, nSlots, "none"),
		asm.Mov.Imm(asm.R1, 1),
		kernelprog.Atomic(asm.FetchAdd, asm.R0, asm.R1, asm.DWord, stateNext),
		asm.JGE.Imm(asm.R1, nSlots, "none"),
		asm.StoreMem(asm.RFP, stackSlot, asm.R1, asm.Word),
		asm.Ja.Label("have"),
	)
	a.none()
	a.begin()
	a.At("slot")
}

// none gives a thread without slot to slot 0: it counts one fault each time, as a minor one.
func (a *faultAssembler) none() {
	a.At("none")
	a.Add(asm.StoreImm(asm.RFP, stackSlot, 0, asm.Word))
	a.call(mapSlots, stackSlot, asm.FnMapLookupElem)
	a.Add(
		asm.JEq.Imm(asm.R0, 0, "exit"), // never
		asm.Mov.Imm(asm.R1, 1),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, slotSeenMin),
		asm.AddAtomic.Mem(asm.R0, asm.R1, asm.DWord, slotMinor+8*int16(otherRegion)),
		asm.Ja.Label("exit"),
	)
}

// begin prepares a slot. The faults of a thread that is older than the record are not counted.
func (a *faultAssembler) begin() {
	a.At("have")
	a.call(mapSlots, stackSlot, asm.FnMapLookupElem)
	a.Add(
		asm.JEq.Imm(asm.R0, 0, "exit"), // never
		asm.Mov.Reg(rSlot, asm.R0),
		asm.LoadMem(asm.R1, asm.RFP, stackThread, asm.Word),
		asm.StoreMem(rSlot, slotThread, asm.R1, asm.Word),
		a.started.Load(asm.R1, rTask),
		asm.LoadImm(asm.R2, a.since, asm.DWord),
		asm.JGE.Reg(asm.R1, asm.R2, "young"),
		a.minor.Load(asm.R1, rTask), asm.StoreMem(rSlot, slotSeenMin, asm.R1, asm.DWord),
		a.major.Load(asm.R1, rTask), asm.StoreMem(rSlot, slotSeenMaj, asm.R1, asm.DWord),
	)
	a.At("young")
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapThreads),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackThread),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackSlot),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
}

// settle gives the region of the thread's last fault what its counts have grown by.
func (a *faultAssembler) settle() {
	for _, x := range []struct {
		now         kernelprog.Field
		seen, count int16
		label       string
	}{{a.minor, slotSeenMin, slotMinor, "no_minor"}, {a.major, slotSeenMaj, slotMajor, "no_major"}} {
		a.Add(
			x.now.Load(asm.R1, rTask),
			asm.Mov.Reg(asm.R2, asm.R1),
			kernelprog.Atomic(asm.Xchg, rSlot, asm.R2, asm.DWord, x.seen), // not even two readers at once count anything twice
			asm.Sub.Reg(asm.R1, asm.R2),
			asm.JEq.Imm(asm.R1, 0, x.label),
			asm.LoadMem(asm.R2, rSlot, slotRegion, asm.Word),
			asm.JGE.Imm(asm.R2, int32(regions), x.label), // never
			asm.LSh.Imm(asm.R2, 3),
			asm.Add.Reg(asm.R2, rSlot),
			asm.AddAtomic.Mem(asm.R2, asm.R1, asm.DWord, x.count),
		)
		a.At(x.label)
	}
}

// region leaves the region of rAddress in R1.
func (a *faultAssembler) region() {
	const index, probe, base = asm.R1, asm.R2, asm.R3
	a.state()
	a.Add(asm.LoadMem(asm.R1, asm.R0, stateTable, asm.Word), asm.StoreMem(asm.RFP, stackKey, asm.R1, asm.Word))
	a.call(mapTables, stackKey, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "exit"), asm.Mov.Imm(index, 0)) // never
	for bit := tableBits - 1; bit >= 0; bit-- {
		less := fmt.Sprintf("less_%d", bit)
		a.Add(
			asm.Mov.Reg(probe, index), asm.Add.Imm(probe, 1<<bit),
			asm.Mov.Reg(base, probe), asm.And.Imm(base, nEntries-1), asm.Mul.Imm(base, entrySize), asm.Add.Reg(base, asm.R0),
			asm.LoadMem(asm.R4, base, entryFrom, asm.DWord),
			asm.JGT.Reg(asm.R4, rAddress, less),
			asm.Mov.Reg(index, probe),
		)
		a.At(less)
	}
	a.Add(
		asm.And.Imm(index, nEntries-1), asm.Mul.Imm(index, entrySize), asm.Add.Reg(asm.R0, index),
		asm.LoadMem(asm.R2, asm.R0, entryFrom, asm.DWord), asm.JGT.Reg(asm.R2, rAddress, "unlisted"), // below the first
		asm.LoadMem(asm.R2, asm.R0, entryTo, asm.DWord), asm.JGE.Reg(rAddress, asm.R2, "unlisted"),
		asm.LoadMem(asm.R1, asm.R0, entryRegion, asm.Word),
		asm.Ja.Label("region"),
	)
	a.At("unlisted")
	a.Add(
		asm.Mov.Reg(asm.R1, rTask), asm.FnTaskPtRegs.Call(),
		a.stackPointer.Load(asm.R2, asm.R0),
		asm.Mov.Imm(asm.R1, int32(otherRegion)),
		asm.Mov.Reg(asm.R3, rAddress), asm.Add.Imm(asm.R3, belowStack), asm.JLT.Reg(asm.R3, asm.R2, "region"),
		asm.Add.Imm(asm.R2, aboveStack), asm.JGT.Reg(rAddress, asm.R2, "region"),
		asm.Mov.Imm(asm.R1, int32(stackRegion)),
	)
	a.At("region")
}

// faultProgram: page_fault_user(unsigned long address, ...), page_fault_kernel is the same.
func (a faultAssembler) faultProgram() asm.Instructions {
	a.Add(asm.LoadMem(rAddress, asm.R1, 0, asm.DWord), asm.FnGetCurrentTaskBtf.Call(), asm.Mov.Reg(rTask, asm.R0))
	a.ofProcess()
	a.slot()
	a.settle()
	a.region()
	a.Add(asm.StoreMem(rSlot, slotRegion, asm.R1, asm.Word))
	return a.Finish()
}

// readProgram runs for each thread when the shadow reads: iterator of tasks {meta, task}.
func (a faultAssembler) readProgram() asm.Instructions {
	a.Add(asm.LoadMem(rTask, asm.R1, 8, asm.DWord), asm.JEq.Imm(rTask, 0, "exit"))
	a.ofProcess()
	a.slot()
	a.settle()
	return a.Finish()
}

// endProgram: sched_process_exit(task *p, ...) in the thread that ends.
func (a faultAssembler) endProgram() asm.Instructions {
	a.Add(asm.LoadMem(rTask, asm.R1, 0, asm.DWord))
	a.ofProcess()
	a.Add(a.pid.Load(asm.R1, rTask), asm.StoreMem(asm.RFP, stackThread, asm.R1, asm.Word))
	a.call(mapThreads, stackThread, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "exit"), asm.LoadMem(asm.R1, asm.R0, 0, asm.Word), asm.StoreMem(asm.RFP, stackSlot, asm.R1, asm.Word))
	a.call(mapThreads, stackThread, asm.FnMapDeleteElem)
	a.call(mapSlots, stackSlot, asm.FnMapLookupElem)
	a.Add(asm.JEq.Imm(asm.R0, 0, "exit"), asm.Mov.Reg(rSlot, asm.R0))
	a.settle()
	a.Add(asm.StoreImm(rSlot, slotEnded, 1, asm.Word))
	return a.Finish()
}

const (
	programEnd    = "sched_process_exit"
	programUser   = "page_fault_user"
	programKernel = "page_fault_kernel"
	programRead   = "task"
)

func faultCollection(f faultFields, pid int, since int64) *ebpf.CollectionSpec {
	a := faultAssembler{faultFields: f, process: pid, since: since}
	array := func(name string, size, n uint32) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: size, MaxEntries: n, Flags: unix.BPF_F_MMAPABLE}
	}
	point := func(name string, ins asm.Instructions) *ebpf.ProgramSpec {
		return kernelprog.Program(ebpf.AttachTraceRawTp, name, ins)
	}
	return &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			mapSlots:   array(mapSlots, slotSize, nSlots),
			mapState:   array(mapState, stateSize, 1),
			mapTables:  array(mapTables, entrySize*nEntries, 2),
			mapThreads: {Name: mapThreads, Type: ebpf.Hash, KeySize: 4, ValueSize: 4, MaxEntries: nSlots},
			mapFree:    {Name: mapFree, Type: ebpf.Queue, ValueSize: 4, MaxEntries: nSlots},
		},
		Programs: map[string]*ebpf.ProgramSpec{
			programEnd:    point(programEnd, a.endProgram()),
			programUser:   point(programUser, a.faultProgram()),
			programKernel: point(programKernel, a.faultProgram()),
			programRead:   kernelprog.Program(ebpf.AttachTraceIter, programRead, a.readProgram()),
		},
	}
}
