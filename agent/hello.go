package agent

import (
	"os"
	"strings"

	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// Version of the agent, set by the linker from the repository's tags.
var Version = "dev"

// describe makes the description of this JVM, once it is up.
func describe(vm jvmti.VM, wallUnixNs int64, metrics []string) *wire.Hello {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	command := jvmti.Property("sun.java.command")
	main, _, _ := strings.Cut(command, " ")
	return &wire.Hello{
		PID:          os.Getpid(),
		Host:         host,
		JVMVersion:   jvmti.Property("java.vm.version"),
		JVMName:      jvmti.Property("java.vm.name"),
		JavaHome:     jvmti.Property("java.home"),
		MainClass:    main,
		GC:           collector(threadNames(), os.Args, os.Getenv("JAVA_TOOL_OPTIONS")),
		CPUs:         vm.Processors,
		AgentVersion: Version,
		ClockName:    vm.ClockName,
		CPUClock:     vm.CPUClock,
		WallUnixNs:   wallUnixNs,
		StartClock:   vm.Start,
		Metrics:      metrics,
	}
}

func threadNames() []string {
	var names []string
	var o osThreads
	for _, t := range o.snapshot() {
		names = append(names, t.Name)
	}
	return names
}

// collector finds the garbage collector by the names of its threads in the kernel.
// Serial and Epsilon have none.
func collector(threads, args []string, toolOptions string) string {
	parallel := false
	for _, name := range threads {
		switch {
		case strings.HasPrefix(name, "G1 "):
			return "G1"
		case strings.HasPrefix(name, "ZDriver"), strings.HasPrefix(name, "ZDirector"),
			strings.HasPrefix(name, "XDriver"), strings.HasPrefix(name, "ZWorker"):
			return "ZGC"
		case strings.HasPrefix(name, "Shenandoah"):
			return "Shenandoah"
		case strings.HasPrefix(name, "GC Thread#"):
			parallel = true
		}
	}
	if parallel {
		return "Parallel"
	}
	for _, a := range append(args, strings.Fields(toolOptions)...) {
		if a == "-XX:+UseEpsilonGC" {
			return "Epsilon"
		}
	}
	return "Serial"
}
