package sched

import (
	"fmt"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"stackagent/hpc/kernelprog"
)

// field is a number in a structure of the kernel.
type field = kernelprog.Field

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
		f, err := kernelprog.FindField(task, x.path...)
		if err != nil {
			return nil, fmt.Errorf("the kernel's task_struct: %w", err)
		}
		*x.into = f
	}
	o.systemCall = kernelprog.FindRegister(spec, kernelprog.CallNumber)
	o.firstArgument = kernelprog.FindRegister(spec, kernelprog.Argument1)
	o.secondArgument = kernelprog.FindRegister(spec, kernelprog.Argument2)
	o.fourthArgument = kernelprog.FindRegister(spec, kernelprog.Argument4)
	o.clock = findClock(spec)
	return &o, checkSwitch(spec)
}

// findClock finds the path from a thread to the clock of its CPU's run queue.
func findClock(spec *btf.Spec) (path []field) {
	for _, step := range [][]string{{"task_struct", "se", "cfs_rq"}, {"cfs_rq", "rq"}, {"rq", "clock"}} {
		var s *btf.Struct
		if spec.TypeByName(step[0], &s) != nil {
			return nil
		}
		f, err := kernelprog.FindField(s, step[1:]...)
		if err != nil || f.Size != asm.DWord {
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
