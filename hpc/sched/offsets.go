package sched

import (
	"fmt"
	"math"
	"runtime"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
)

// field is the offset and size of a number in a structure of the kernel.
type field struct {
	offset int16
	size   asm.Size
}

// offsets are the fields that the programs read, as laid out in the
// running kernel.
type offsets struct {
	pid, tgid, comm, voluntary, involuntary, cpuTime field // of task_struct
	exitFutex                                        field // of task_struct: address of the futex that the thread wakes when it exits
	systemCall, firstArgument, secondArgument        field // of pt_regs; zero where it is not known
	fourthArgument                                   field
	// clock is the path from a task_struct to the clock of its run queue; nil
	// in a kernel without CONFIG_FAIR_GROUP_SCHED.
	clock []field
}

// systemCallFields is where each architecture keeps the number of the system
// call (syscall_get_nr).
var systemCallFields = map[string]string{"amd64": "orig_ax", "arm64": "syscallno", "riscv64": "a7"}

// firstArgumentFields is where each architecture keeps the first argument of the system call, for a futex its address.
var firstArgumentFields = map[string]string{"amd64": "di", "riscv64": "orig_a0"}

// secondArgumentFields is the same of the second argument, for a futex what is done with it.
var secondArgumentFields = map[string]string{"amd64": "si", "riscv64": "a1"}

// fourthArgumentFields is the same of the fourth argument, for a futex the address of the time limit.
var fourthArgumentFields = map[string]string{"amd64": "r10", "riscv64": "a3"}

// findOffsets reads the type information (BTF) of the kernel.
func findOffsets(spec *btf.Spec) (*offsets, error) {
	var task *btf.Struct
	if err := spec.TypeByName("task_struct", &task); err != nil {
		return nil, fmt.Errorf("the kernel's task_struct: %w", err)
	}
	var o offsets
	for _, x := range []struct {
		into *field
		path []string
	}{
		{&o.pid, []string{"pid"}}, {&o.tgid, []string{"tgid"}}, {&o.comm, []string{"comm"}},
		{&o.voluntary, []string{"nvcsw"}}, {&o.involuntary, []string{"nivcsw"}}, {&o.cpuTime, []string{"se", "sum_exec_runtime"}},
		{&o.exitFutex, []string{"clear_child_tid"}},
	} {
		f, err := findField(task, x.path)
		if err != nil {
			return nil, fmt.Errorf("the kernel's task_struct: %w", err)
		}
		*x.into = f
	}
	o.systemCall = findRegister(spec, systemCallFields[runtime.GOARCH])
	o.firstArgument = findRegister(spec, firstArgumentFields[runtime.GOARCH])
	o.secondArgument = findRegister(spec, secondArgumentFields[runtime.GOARCH])
	o.fourthArgument = findRegister(spec, fourthArgumentFields[runtime.GOARCH])
	o.clock = findClock(spec)
	return &o, checkSwitch(spec)
}

// findRegister is zero where the register is not known.
func findRegister(spec *btf.Spec, name string) field {
	var regs *btf.Struct
	if name == "" || spec.TypeByName("pt_regs", &regs) != nil {
		return field{}
	}
	f, err := findField(regs, []string{name})
	if err != nil {
		return field{}
	}
	return f
}

// findClock finds the path from a thread to the clock of its CPU's run queue.
func findClock(spec *btf.Spec) (path []field) {
	for _, step := range [][]string{{"task_struct", "se", "cfs_rq"}, {"cfs_rq", "rq"}, {"rq", "clock"}} {
		var s *btf.Struct
		if spec.TypeByName(step[0], &s) != nil {
			return nil
		}
		f, err := findField(s, step[1:])
		if err != nil || f.size != asm.DWord {
			return nil
		}
		path = append(path, f)
	}
	return path
}

// checkSwitch: the previous thread's state is an argument of sched_switch since
// Linux 5.18. Before that it may change while it is being read.
func checkSwitch(spec *btf.Spec) error {
	var def *btf.Typedef
	if err := spec.TypeByName("btf_trace_sched_switch", &def); err != nil {
		return fmt.Errorf("the kernel's sched_switch: %w", err)
	}
	if p, ok := def.Type.(*btf.Pointer); ok {
		if f, ok := p.Target.(*btf.FuncProto); ok && len(f.Params) >= 5 { // the first is the tracer's own
			return nil
		}
	}
	return fmt.Errorf("the kernel's sched_switch does not report the state of the previous thread (Linux 5.18 and later do)")
}

// findField follows path through structures, anonymous ones included.
func findField(s btf.Type, path []string) (field, error) {
	t, bits, ok := member(s, path[0])
	if !ok {
		return field{}, fmt.Errorf("no member %s", path[0])
	}
	if len(path) > 1 {
		f, err := findField(t, path[1:])
		total := int64(bits/8) + int64(f.offset)
		if err == nil && total > math.MaxInt16 {
			err = fmt.Errorf("member %s is too far away", path[0])
		}
		f.offset = int16(total)
		return f, err
	}
	if bits%8 != 0 || bits/8 > math.MaxInt16 {
		return field{}, fmt.Errorf("member %s is too far away", path[0])
	}
	f := field{offset: int16(bits / 8), size: asm.DWord}
	if n, err := btf.Sizeof(t); err == nil && n == 4 {
		f.size = asm.Word
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
