package kernel

import (
	"fmt"
	"runtime"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"golang.org/x/sys/unix"

	"stackagent/hpc/kernelprog"
)

// The kernel's side of the group syscalls: a program at the return of each system call adds to counters of the CPU on which
// it runs, in memory that the shadow maps. What to do with a call stands in a table by its number.

// The counters of a CPU: 8 bytes each, by number.
const (
	cpuWords = 128
	cpuBytes = 8 * cpuWords
	maxCalls = 512 // numbers of system calls
)

// An entry of the table of calls: what a call adds to which counter.
const (
	callCount  = 0 // u16, offset of the counter of calls
	callAmount = 2 // u16, offset of the counter of bytes or ns; 0: none
	callHow    = 4 // u32, bits
	callSize   = 8

	howKnown   = 1 << 0 // the entry is used
	howResult  = 1 << 1 // the amount is the result
	howLength  = 1 << 2 // the amount is the second argument
	howTime    = 1 << 3 // the amount is how long the call took
	howByFile  = 1 << 4 // file, socket and other have counters of their own, one after the other
	howFutex   = 1 << 5 // waits, wakes and others have counters of their own, one after the other
	howAllHows = howResult | howLength | howTime
)

// Kinds of files, in the order of their counters.
const (
	ofFile = iota
	ofSocket
	ofOther
	fileKinds
)

var fileKindNames = [fileKinds]string{"file", "socket", "other"}

// Commands of futex(2), from include/uapi/linux/futex.h, in the order of their counters: waits, wakes, others.
const (
	futexCommand = 0x7f // without the flags
	futexKinds   = 3
)

var futexWaits, futexWakes = []int32{0, 6, 9, 11, 13}, []int32{1, 3, 4, 5, 7, 10, 12}

// From include/uapi/linux/stat.h.
const (
	typeMask    = 0o170000
	typeSocket  = 0o140000
	typeRegular = 0o100000
)

const (
	mapCounters = "counters"
	mapCalls    = "calls"
	mapBegun    = "begun" // when a thread began a call whose time counts

	nBegun = 4096
)

type callFields struct {
	number, first, second                        kernelprog.Field // of pt_regs
	tgid, pid, files, table, maxFiles, all, mode kernelprog.Field
	inode                                        kernelprog.Field
}

func findCallFields(spec *btf.Spec) (f callFields, err error) {
	for _, x := range []struct {
		into              *kernelprog.Field
		structure, member string
	}{
		{&f.tgid, "task_struct", "tgid"}, {&f.pid, "task_struct", "pid"}, {&f.files, "task_struct", "files"}, {&f.table, "files_struct", "fdt"},
		{&f.maxFiles, "fdtable", "max_fds"}, {&f.all, "fdtable", "fd"}, {&f.inode, "file", "f_inode"}, {&f.mode, "inode", "i_mode"},
	} {
		if *x.into, err = kernelprog.FieldOf(spec, x.structure, x.member); err != nil {
			return f, err
		}
	}
	for r, into := range map[kernelprog.Register]*kernelprog.Field{kernelprog.CallNumber: &f.number, kernelprog.Argument1: &f.first, kernelprog.Argument2: &f.second} {
		if *into = kernelprog.FindRegister(spec, r); into.Size != asm.DWord || f.mode.Size != asm.Half {
			return f, fmt.Errorf("where the registers keep the arguments of a system call is not known on %s", runtime.GOARCH)
		}
	}
	return f, nil
}

// Registers that outlive a call of a helper.
const (
	rRegs     = asm.R6
	rResult   = asm.R7
	rEntry    = asm.R8
	rCounters = asm.R9
)

// Offsets on the stack of the programs.
const (
	stackCPU    = -4
	stackCall   = -8
	stackSelf   = -12 // the thread's id
	stackHow    = -16
	stackOffset = -24 // of the counter of calls
	stackAmount = -32
	stackRead   = -40 // what is read from the kernel
)

type callAssembler struct {
	kernelprog.Assembler
	callFields
	process int
}

// ofProcess goes on in threads of the process only.
func (a *callAssembler) ofProcess() {
	a.Add(
		asm.FnGetCurrentPidTgid.Call(),
		asm.StoreMem(asm.RFP, stackSelf, asm.R0, asm.Word), // the lower half: the thread
		asm.RSh.Imm(asm.R0, 32),
		asm.JNE.Imm(asm.R0, int32(a.process), "exit"),
	)
}

func (a *callAssembler) lookup(m string, key int32, none string) {
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(m),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, key),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, none),
	)
}

// enterProgram: sys_enter(struct pt_regs *regs, long number). Few calls have a time.
func (a callAssembler) enterProgram(timed []int32) asm.Instructions {
	a.Add(asm.LoadMem(asm.R1, asm.R1, 8, asm.DWord))
	for _, n := range timed {
		a.Add(asm.JEq.Imm(asm.R1, n, "timed"))
	}
	a.Add(asm.Ja.Label("exit"))
	a.At("timed")
	a.ofProcess()
	a.Add(
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.RFP, stackAmount, asm.R0, asm.DWord),
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapBegun),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackSelf),
		asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, stackAmount),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	return a.Finish()
}

// exitProgram: sys_exit(struct pt_regs *regs, long result).
func (a callAssembler) exitProgram() asm.Instructions {
	a.Add(asm.LoadMem(rRegs, asm.R1, 0, asm.DWord), asm.LoadMem(rResult, asm.R1, 8, asm.DWord))
	a.ofProcess()
	a.Add(
		a.number.Load(asm.R1, rRegs), asm.StoreMem(asm.RFP, stackCall, asm.R1, asm.Word),
		asm.FnGetSmpProcessorId.Call(), asm.StoreMem(asm.RFP, stackCPU, asm.R0, asm.Word),
	)
	a.lookup(mapCounters, stackCPU, "exit")
	a.Add(asm.Mov.Reg(rCounters, asm.R0), asm.Mov.Imm(asm.R1, 1), asm.AddAtomic.Mem(rCounters, asm.R1, asm.DWord, 8*int16(countAll)))
	a.Add(asm.JSGE.Imm(rResult, 0, "succeeded"), asm.AddAtomic.Mem(rCounters, asm.R1, asm.DWord, 8*int16(countFailed)))
	a.At("succeeded")
	a.lookup(mapCalls, stackCall, "exit") // a number that no kernel has
	a.Add(
		asm.Mov.Reg(rEntry, asm.R0),
		asm.LoadMem(asm.R1, rEntry, callHow, asm.Word),
		asm.StoreMem(asm.RFP, stackHow, asm.R1, asm.Word),
		asm.And.Imm(asm.R1, howKnown), asm.JEq.Imm(asm.R1, 0, "exit"),
		asm.Mov.Imm(asm.R1, 0), asm.StoreMem(asm.RFP, stackOffset, asm.R1, asm.DWord),
	)
	a.byFutex()
	a.byFile()
	a.Add(asm.LoadMem(asm.R2, asm.RFP, stackOffset, asm.DWord))
	a.addTo(callCount, asm.Mov.Imm(asm.R1, 1))
	a.amount()
	return a.Finish()
}

// how jumps to the label if the call has none of these bits.
func (a *callAssembler) how(bits int32, label string) {
	a.Add(asm.LoadMem(asm.R1, asm.RFP, stackHow, asm.Word), asm.And.Imm(asm.R1, bits), asm.JEq.Imm(asm.R1, 0, label))
}

// addTo adds R1, which value loads, to the counter that the entry names at field, and R2 bytes further.
func (a *callAssembler) addTo(field int16, value asm.Instruction) {
	a.Add(
		asm.LoadMem(asm.R3, rEntry, field, asm.Half),
		asm.Add.Reg(asm.R3, asm.R2),
		asm.And.Imm(asm.R3, cpuBytes-8), // for the verifier
		asm.Add.Reg(asm.R3, rCounters),
		value,
		asm.AddAtomic.Mem(asm.R3, asm.R1, asm.DWord, 0),
	)
}

func (a *callAssembler) byFutex() {
	a.how(howFutex, "no_futex")
	a.Add(a.second.Load(asm.R1, rRegs), asm.And.Imm(asm.R1, futexCommand), asm.Mov.Imm(asm.R2, 0))
	for _, command := range futexWaits {
		a.Add(asm.JEq.Imm(asm.R1, command, "futex"))
	}
	a.Add(asm.Mov.Imm(asm.R2, 8))
	for _, command := range futexWakes {
		a.Add(asm.JEq.Imm(asm.R1, command, "futex"))
	}
	a.Add(asm.Mov.Imm(asm.R2, 16))
	a.At("futex")
	a.Add(asm.StoreMem(asm.RFP, stackOffset, asm.R2, asm.DWord))
	a.At("no_futex")
}

// byFile finds what the descriptor in the first argument is. Another thread may close it meanwhile: then it may be taken for
// what has its number now.
func (a *callAssembler) byFile() {
	a.how(howByFile, "no_file")
	a.Add(
		asm.Mov.Imm(asm.R1, 8*ofOther), asm.StoreMem(asm.RFP, stackOffset, asm.R1, asm.DWord),
		asm.FnGetCurrentTaskBtf.Call(),
		a.files.Load(asm.R1, asm.R0), asm.JEq.Imm(asm.R1, 0, "no_file"),
		a.table.Load(asm.R1, asm.R1), asm.JEq.Imm(asm.R1, 0, "no_file"),
		a.maxFiles.Load(asm.R2, asm.R1),
		a.first.Load(asm.R3, rRegs),
		asm.JGE.Reg(asm.R3, asm.R2, "no_file"),
		a.all.Load(asm.R4, asm.R1),
		asm.LSh.Imm(asm.R3, 3),
		asm.Add.Reg(asm.R3, asm.R4),
	)
	a.readKernel(8)
	a.Add(asm.LoadMem(asm.R3, asm.RFP, stackRead, asm.DWord), asm.JEq.Imm(asm.R3, 0, "no_file"), asm.Add.Imm(asm.R3, int32(a.inode.Offset)))
	a.readKernel(8)
	a.Add(asm.LoadMem(asm.R3, asm.RFP, stackRead, asm.DWord), asm.JEq.Imm(asm.R3, 0, "no_file"), asm.Add.Imm(asm.R3, int32(a.mode.Offset)))
	a.readKernel(2)
	a.Add(
		asm.LoadMem(asm.R1, asm.RFP, stackRead, asm.Half), asm.And.Imm(asm.R1, typeMask),
		asm.Mov.Imm(asm.R2, 8*ofFile), asm.JEq.Imm(asm.R1, typeRegular, "file"),
		asm.Mov.Imm(asm.R2, 8*ofSocket), asm.JNE.Imm(asm.R1, typeSocket, "no_file"),
	)
	a.At("file")
	a.Add(asm.StoreMem(asm.RFP, stackOffset, asm.R2, asm.DWord))
	a.At("no_file")
}

// readKernel reads some bytes at the address in R3.
func (a *callAssembler) readKernel(bytes int32) {
	a.Add(
		asm.Mov.Reg(asm.R1, asm.RFP), asm.Add.Imm(asm.R1, stackRead),
		asm.Mov.Imm(asm.R2, bytes),
		asm.FnProbeReadKernel.Call(),
		asm.JNE.Imm(asm.R0, 0, "no_file"),
	)
}

// amount adds bytes or time. A call that failed moved no bytes.
func (a *callAssembler) amount() {
	a.how(howAllHows, "exit")
	a.how(howTime, "bytes")
	a.lookup(mapBegun, stackSelf, "exit") // it began before the program did
	a.Add(asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord), asm.StoreMem(asm.RFP, stackAmount, asm.R1, asm.DWord))
	a.Add(
		asm.LoadMapPtr(asm.R1, 0).WithReference(mapBegun),
		asm.Mov.Reg(asm.R2, asm.RFP), asm.Add.Imm(asm.R2, stackSelf),
		asm.FnMapDeleteElem.Call(),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(asm.R1, asm.RFP, stackAmount, asm.DWord),
		asm.Sub.Reg(asm.R0, asm.R1),
		asm.Mov.Reg(rResult, asm.R0),
		asm.Ja.Label("add"),
	)
	a.At("bytes")
	// Addresses and sizes are positive; so is what was read or written.
	a.Add(asm.JSLE.Imm(rResult, 0, "not_positive"))
	a.how(howLength, "add")
	a.At("length")
	a.Add(a.second.Load(rResult, rRegs), asm.Ja.Label("add"))
	a.At("not_positive")
	a.Add(asm.JNE.Imm(rResult, 0, "exit")) // failed
	a.how(howLength, "exit")               // nothing was read, but 0 is success for munmap
	a.Add(asm.Ja.Label("length"))
	a.At("add")
	a.Add(asm.LoadMem(asm.R2, asm.RFP, stackOffset, asm.DWord))
	a.addTo(callAmount, asm.Mov.Reg(asm.R1, rResult))
}

const (
	programEnter = "sys_enter"
	programExit  = "sys_exit"
)

func callCollection(f callFields, pid, cpus int, timed []int32) *ebpf.CollectionSpec {
	a := callAssembler{callFields: f, process: pid}
	array := func(name string, size, n uint32) *ebpf.MapSpec {
		return &ebpf.MapSpec{Name: name, Type: ebpf.Array, KeySize: 4, ValueSize: size, MaxEntries: n, Flags: unix.BPF_F_MMAPABLE}
	}
	return &ebpf.CollectionSpec{
		Maps: map[string]*ebpf.MapSpec{
			mapCounters: array(mapCounters, cpuBytes, uint32(cpus)),
			mapCalls:    array(mapCalls, callSize, maxCalls),
			mapBegun:    {Name: mapBegun, Type: ebpf.LRUHash, KeySize: 4, ValueSize: 8, MaxEntries: nBegun},
		},
		Programs: map[string]*ebpf.ProgramSpec{
			programEnter: kernelprog.Program(ebpf.AttachTraceRawTp, programEnter, a.enterProgram(timed)),
			programExit:  kernelprog.Program(ebpf.AttachTraceRawTp, programExit, a.exitProgram()),
		},
	}
}
