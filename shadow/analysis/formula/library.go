package formula

// Named is a metric of the library.
type Named struct {
	Name string
	Expr string
	Unit string // as shown; the expression gives the value in it
	Doc  string
}

// library are the named metrics, each declared here and nowhere else. A monitor of the same name wins.
var library = []Named{
	{"task_throughput", `rate(app.tasks.finished)`, "tasks/s", "units of work that ended per second"},
	{"task_backlog", `app.tasks.queued`, "tasks", "units of work that were submitted and had not begun"},
	{"task_latency", `app.tasks.wall_ns / app.tasks.finished`, "ns/task", "mean wall time of the units of work that ended"},
	{"allocation_rate", `max(delta(vm.heap.eden.used_bytes), 0) / interval`, "bytes/s", "growth of eden per second, as far as the JVM updates it between collections: with Serial and Parallel every 50 ms, with G1 at collections only"},
	{"gc_share", `vm.gc.running`, "ratio", "share of the time in which the collector had stopped the program"},
	{"safepoint_share", `rate(vm.safepoint.time_ns)`, "ratio", "share of the time at safepoints, for whatever reason"},
	{"jit_share", `rate(vm.jit.time_ns)`, "ratio", "time in compilations per time: compilers at work, on average"},
	{"lock_wait_share", `rate(vm.monitor.wait_ns)`, "ratio", "threads that waited to enter a synchronized block, on average"},
	{"cpu_share", `rate(os.cpu_ns)`, "ratio", "CPUs that the JVM's threads used, on average"},
	{"run_queue_share", `rate(os.runnable_ns)`, "ratio", "threads of the program that waited for a CPU, on average"},
	{"steal_share", `rate(os.steal_ns)`, "ratio", "CPUs that the hypervisor gave to other machines, on average"},
	{"fault_rate", `rate(os.minor_faults)`, "1/s", "minor page faults per second"},
	{"faults_per_mb", `os.minor_faults / (max(delta(vm.heap.eden.used_bytes), 0) / 1MB)`, "1/MB", "minor page faults for each megabyte by which eden grew"},
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
		_, err := s.compile(m.Name)
		out[i] = Available{m, err}
	}
	return out
}
