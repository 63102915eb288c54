package explain

import (
	"strings"

	"stackagent/hpc/monitor"
	"stackagent/internal/text"
)

// remedy is what a monitor is called in a sentence, and what to try if it rose and explains a change. Patterns are those
// of monitor.Match: without labels they match all. The first that matches holds.
type remedy struct {
	pattern, what, try string
}

var remedies = []remedy{
	{"task_throughput", "Throughput", ""},
	{"app.tasks.finished", "Throughput", ""},
	{"app.tasks.queued", "The number of waiting tasks", ""},
	{"app.tasks.in_flight", "The number of running tasks", ""},

	{"vm.gc.running", "Time in pauses of the collector", tryGC},
	{"vm.gc.pauses", "The number of pauses of the collector", tryGC},
	{"vm.gc.time_ns", "Time in pauses of the collector", tryGC},
	{"vm.gc.collections", "The number of collections", tryGC},
	{"vm.gc.cpu_ns", "CPU time of the collector", tryGC},
	{"vm.cpu.gc_*", "CPU time of the collector", tryGC},
	{"vm.gc.stall_ns", "Time in which threads waited for the collector", "Try a larger heap (-Xmx): the collector cannot free memory as fast as the program allocates."},
	{"vm.safepoint.*", "Time at safepoints", "Run with -Xlog:safepoint to see which operation stops the program."},
	{"vm.operation_time_ns", "Time of the VM thread in operations", "Run with -Xlog:safepoint to see which operation stops the program."},
	{"vm.jit.invalidations", "The number of compilations thrown away", "Use shadow run --deopts and shadow warmup to see which methods lose their compiled code, and why."},
	{"vm.deoptimizations", "The number of deoptimisations", "Use shadow run --deopts and shadow warmup to see which methods lose their compiled code, and why."},
	{"vm.jit.*", "Compilation by the JIT", "The JVM was compiling: let the program warm up first (shadow warmup), or give the compilers CPUs of their own."},
	{"vm.code_cache*", "The code cache in use", "Try a larger code cache (-XX:ReservedCodeCacheSize)."},
	{"vm.classes.*", "Class loading", "Load the classes before they are needed, or share them between runs (-XX:+AutoCreateSharedArchive)."},
	{"vm.monitor.wait_ns", "Time in which threads waited for a lock", "Use shadow waits --by site to see where it is taken. Hold it for less time, or divide what it guards."},
	{"vm.sync.*", "The number of contended locks", "Use shadow waits --by site to see where they are taken."},
	{"vm.heap.*", "The heap in use", ""},
	{"vm.tlab.*", "Allocation by buffers of threads", ""},
	{"vm.threads.started", "The number of threads started", "Use a pool, or virtual threads."},

	{"lib.park.wait_ns", "Time in which tasks waited for each other", "Use shadow waits --by site to see for what they waited and who ended it."},
	{"lib.object_wait_ns", "Time in which tasks waited in Object.wait", "Use shadow waits --by site to see for what they waited and who ended it."},
	{"lib.sleep_ns", "Time in which tasks slept", "Use shadow waits --by site to see where they sleep."},
	{"lib.io.wait_ns", "Time in which tasks waited for input and output", "Use shadow waits --by site to see for what they waited."},

	{"lib.exceptions.created", "The number of exceptions created", "Use shadow hotspots to see which tasks throw."},
	{"lib.finalizers.waiting", "The number of objects waiting for their finalizers", "Replace finalizers by Cleaner or try-with-resources."},
	{"lib.buffers.direct", "The number of direct buffers", "Keep such buffers and use them again."},
	{"lib.buffers.mapped", "The number of mapped buffers", "Keep such buffers and use them again."},
	{"lib.buffers.*", "Memory in direct and mapped buffers", "Keep such buffers and use them again."},

	{`os.minor_faults{region="heap"}`, "The number of page faults on the heap", tryTouch},
	{`os.minor_faults{region="file"}`, "The number of page faults on mapped files", "Read the file ahead, or keep the mapping."},
	{"os.minor_faults", "The number of minor page faults", tryTouch},
	{"os.major_faults", "The number of page faults that read from disk", "The machine is short of memory, or mapped files are read for the first time: give it more memory, or read them ahead."},
	{"os.steal_ns", "CPU time that the hypervisor gave to other machines", "Nothing in the program can change it: use a host with less load."},
	{"os.cgroup.throttled", "The number of periods in which the container's CPU limit was reached", "Raise the CPU limit, or run fewer threads."},
	{"os.cgroup.throttled_ns", "Time in which the container's CPU limit stopped the program", "Raise the CPU limit, or run fewer threads."},
	{"os.runnable_ns", "Time in which threads waited for a CPU", "Run fewer threads, or give the program more CPUs."},
	{"os.run_queue", "The number of threads waiting for a CPU", "Run fewer threads, or give the program more CPUs."},
	{"os.io_wait_ns", "Time in which threads waited for the disk or the network", "Use shadow waits to see for what they waited."},
	{"os.disk.*", "Disk traffic of the program", "Read and write less at once, or use a faster disk."},
	{"os.machine.disk.*", "Disk traffic of the machine", "Read and write less at once, or use a faster disk."},
	{"os.machine.cpu_ns", "CPU time of all programs of the machine", "Find the other programs that run then, or give this one CPUs of its own."},
	{"os.machine.pressure_ns", "Time in which programs of the machine waited for a resource", ""},
	{"os.rss_bytes", "Memory of the process", ""},
	{"os.net.*", "Network traffic", ""},
	{"os.context_switches", "The number of context switches", ""},
	{"native.fsync*", "Flushing files to the disk (fsync)", "Flush less often, several writes at once, or use a faster disk."},
	{"native.mmap*", "Mapping of memory and files", "Keep mappings and use them again."},
	{"native.munmap*", "Unmapping of memory and files", "Keep mappings and use them again."},
	{"native.madvise*", "Memory given back to the system", ""},
	{"native.futex.*", "Waiting and waking in the kernel (futex)", "Use shadow waits --by site to see which lock it is."},
	{"native.sleep.calls", "The number of sleeps", ""},
	{"native.syscalls", "The number of system calls", ""},
}

const tryTouch = "Try -XX:+AlwaysPreTouch: the JVM then touches the pages of its heap at the start."

const tryGC = "Use shadow gc to see the causes. Try a larger heap (-Xmx), or a collector with short pauses (-XX:+UseZGC)."

func remedyOf(name string) *remedy {
	for i := range remedies {
		if monitor.Match(remedies[i].pattern, name) {
			return &remedies[i]
		}
	}
	return nil
}

// subject is what a monitor or metric is called at the start of a sentence.
func subject(name string) string {
	_, labels, _ := strings.Cut(name, "{")
	known := remedyOf(name)
	if known != nil && known.pattern == name { // it says the label
		return known.what
	}
	if known == nil {
		return text.OneLine(name)
	}
	var values []string
	for _, part := range strings.Split(strings.TrimSuffix(labels, "}"), ",") {
		if _, value, ok := strings.Cut(part, "="); ok {
			values = append(values, strings.Trim(value, `"`))
		}
	}
	if len(values) == 0 {
		return known.what
	}
	return text.OneLine(known.what + " (" + strings.Join(values, ", ") + ")")
}
