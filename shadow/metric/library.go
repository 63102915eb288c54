package metric

// Named is a metric of the library.
type Named struct {
	Name string
	Expr string
	Unit string // as shown; the expression gives the value in it
	Doc  string
}

// library are the named metrics, each declared here and nowhere else. A monitor of the same name wins.
var library = []Named{
	{"task_throughput", `rate(app.tasks.finished)`, "tasks/s", "executions of tasks that ended per second"},
	{"task_backlog", `app.tasks.queued`, "tasks", "tasks that were submitted and have not started"},
	{"allocation_rate", `rate(vm.alloc.bytes)`, "bytes/s", "bytes that the program allocated on the heap per second"},
	{"gc_share", `rate(vm.gc.pause_ns)`, "ratio", "share of the time in pauses for garbage collection"},
	{"safepoint_share", `rate(vm.safepoint.time_ns)`, "ratio", "share of the time at safepoints, for whatever reason"},
	{"jit_share", `rate(vm.jit.time_ns)`, "CPUs", "compilers that worked at once, on average"},
	{"cpu_share", `rate(os.cpu.user_ns + os.cpu.system_ns)`, "CPUs", "CPUs that the process used, on average"},
	{"system_share", `os.cpu.system_ns / (os.cpu.user_ns + os.cpu.system_ns)`, "ratio", "share of the CPU time that the process spent in the kernel"},
	{"steal_share", `rate(os.steal_ns)`, "CPUs", "CPUs that the hypervisor gave to other machines, on average"},
	{"fault_rate", `rate(os.minor_faults)`, "1/s", "minor page faults per second"},
	{"faults_per_mb", `os.minor_faults / (vm.alloc.bytes / 1MB)`, "1/MB", "minor page faults for each megabyte allocated"},
	{"syscall_rate", `rate(native.syscalls)`, "1/s", "system calls per second"},
	{"ipc", `hw.instructions / hw.cycles`, "ratio", "instructions per cycle"},
	{"cpi", `hw.cycles / hw.instructions`, "ratio", "cycles per instruction"},
	{"cache_miss_share", `hw.cache_misses / hw.cache_references`, "ratio", "share of the references to the last cache that missed"},
	{"branch_miss_share", `hw.branch_misses / hw.branches`, "ratio", "share of the branches that were predicted wrong"},
}

func named(name string) *Named {
	for i := range library {
		if library[i].Name == name {
			return &library[i]
		}
	}
	return nil
}

// Available is a metric of the library in a session.
type Available struct {
	Named
	Missing error // why this session cannot give it; nil: it can
}

// Library lists the named metrics, and of each whether this session has its monitors.
func (s *Set) Library() []Available {
	out := make([]Available, len(library))
	for i, m := range library {
		_, err := s.compile(m.Expr)
		out[i] = Available{m, err}
	}
	return out
}
