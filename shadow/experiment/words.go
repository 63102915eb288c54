package experiment

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"stackagent/internal/units"
)

// Factors that the words of a command are filled from.
const (
	Threads    = "threads"
	GCThreads  = "gcthreads"
	Collector  = "collector"
	Heap       = "heap" // bytes, or a multiple such as 2x
	JVMOptions = "jvm"
	JDK        = "jdk"
	Program    = "program"
	// HeapMultiple is a heap that is given as a multiple of the smallest one; the factor Heap beside it has its bytes.
	HeapMultiple = "heap-multiple"
)

// Collectors are the names of collectors and the JVM options that choose them.
var Collectors = []struct{ Name, Options string }{
	{"Serial", "-XX:+UseSerialGC"},
	{"Parallel", "-XX:+UseParallelGC"},
	{"G1", "-XX:+UseG1GC"},
	{"Shenandoah", "-XX:+UseShenandoahGC"},
	{"ZGC", "-XX:+UseZGC"},
	{"Epsilon", "-XX:+UnlockExperimentalVMOptions -XX:+UseEpsilonGC"},
}

// CollectorOptions are the JVM options that choose a collector by its name in any case, with or without
// GC behind it.
func CollectorOptions(name string) (canonical, options string, err error) {
	var known []string
	short := strings.TrimSuffix(strings.ToLower(name), "gc")
	for _, c := range Collectors {
		if strings.TrimSuffix(strings.ToLower(c.Name), "gc") == short {
			return c.Name, c.Options, nil
		}
		known = append(known, c.Name)
	}
	return "", "", fmt.Errorf("no collector is called %q; there are %s", name, strings.Join(known, ", "))
}

// HeapOption is the value of -Xmx for so many bytes, rounded up to KiB, which is what a JVM can tell apart.
func HeapOption(bytes int64) string {
	const mib = 1 << 20
	if bytes%mib == 0 {
		return fmt.Sprintf("%dm", bytes/mib)
	}
	return fmt.Sprintf("%dk", (bytes+1023)/1024)
}

// HeapText shows so many bytes to people.
func HeapText(bytes int64) string { return units.FormatBytes(bytes) }

// ParseHeap reads a size as -Xmx takes it: 64m, 2g, 65536k.
func ParseHeap(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKmMgGtT")
	n, err := strconv.ParseInt(digits, 10, 64)
	unit := s[len(digits):]
	shift := 10 * (strings.Index("kmgt", strings.ToLower(unit)) + 1)
	if unit == "" {
		shift = 0
	}
	if err != nil || n <= 0 || len(unit) > 1 || n > math.MaxInt64>>(shift+1) {
		return 0, fmt.Errorf("%q is no size: use a number with k, m or g, as in 64m", s)
	}
	return n << shift, nil
}

// Multiple is a multiple of the smallest heap, rounded up to MiB.
func Multiple(smallest int64, by float64) int64 {
	return int64(math.Ceil(float64(smallest)*by/mib)) * mib
}
