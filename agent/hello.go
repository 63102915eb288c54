package agent

import (
	"math"
	"os"
	"strconv"
	"strings"

	"stackagent/internal/wire"
	"stackagent/jvmti"
)

// Version of the agent, set by the linker from the repository's tags.
var Version = "dev"

// describe makes the description of this JVM, once it is up.
func describe(vm jvmti.VM, wallUnixNs int64, metrics []string) *wire.Hello {
	host := hostName()
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
		MaxHeapBytes: maxHeap(optionWords(os.Args, os.Getenv)),
		CPUs:         vm.Processors,
		AgentVersion: Version,
		ClockName:    vm.ClockName,
		CPUClock:     vm.CPUClock,
		WallUnixNs:   wallUnixNs,
		StartClock:   vm.Start,
		Metrics:      metrics,
	}
}

func hostName() string {
	host, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return host
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

// optionWords are the JVM's options in the order in which it reads them, as far as files of arguments do not hide them.
func optionWords(args []string, getenv func(string) string) []string {
	words := strings.Fields(getenv("JAVA_TOOL_OPTIONS"))
	words = append(words, strings.Fields(getenv("JDK_JAVA_OPTIONS"))...)
	for _, a := range args[min(1, len(args)):] {
		if !strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "@") && !isPathOption(words) {
			break // the main class: what follows is the program's
		}
		words = append(words, a)
	}
	return append(words, strings.Fields(getenv("_JAVA_OPTIONS"))...)
}

// isPathOption reports whether the last option takes the next word as its value.
func isPathOption(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path", "--add-modules", "--add-exports", "--add-opens", "--add-reads",
		"--limit-modules", "--patch-module", "--source", "--enable-native-access":
		return true
	}
	return false
}

// maxHeap is the largest heap by the last option that says it, bytes; 0: none does.
func maxHeap(words []string) (bytes int64) {
	for _, w := range words {
		for _, option := range []string{"-Xmx", "-XX:MaxHeapSize="} {
			if size, ok := strings.CutPrefix(w, option); ok {
				bytes = sizeOf(size)
			}
		}
	}
	return bytes
}

// sizeOf is a size as HotSpot takes it, 64m or 1073741824; 0: it is none.
func sizeOf(text string) int64 {
	shift := 0
	if n := len(text); n > 0 {
		if i := strings.IndexByte("kmgt", text[n-1]|0x20); i >= 0 {
			text, shift = text[:n-1], 10*(i+1)
		}
	}
	v, err := strconv.ParseInt(text, 0, 64)
	if err != nil || v <= 0 || v > math.MaxInt64>>shift {
		return 0
	}
	return v << shift
}
