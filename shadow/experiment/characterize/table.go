// Package characterize characterises a set of programs: it takes statistics from their
// sessions, ranks and scores them over the set, and finds the principal components.
package characterize

import (
	"slices"

	"stackagent/hpc"
)

// Statistic is a figure by which programs are compared.
type Statistic struct {
	Code string `json:"code"`
	Name string `json:"name"`
	Unit string `json:"unit"` // "": a number
	// Doc says what it is.
	Doc string `json:"doc"`
	// High says what a high value means.
	High string `json:"high"`
	// Chopin: DaCapo Chopin has the statistic under the same code.
	Chopin bool `json:"dacapo"`
	// Needs says what other runs the statistic needs; "": one session has it.
	Needs string `json:"needs,omitempty"`

	of   func(*facts) Value                      // a session; nil: it needs other runs
	over func(runs []Value) Cell                 // all runs; nil: the mean
	from func(other func(code string) Cell) Cell // other statistics of the program, above it in the table
}

// Statistics are all statistics, by group: allocation, garbage collection, performance,
// tasks, operating system, processor. The codes of the paper ("Rethinking Java Performance
// Analysis") stand for the same quantity.
func Statistics() []Statistic { return slices.Clone(statistics) }

// Find returns the statistic with the code.
func Find(code string) (Statistic, bool) {
	i := slices.IndexFunc(statistics, func(s Statistic) bool { return s.Code == code })
	if i < 0 {
		return Statistic{}, false
	}
	return statistics[i], true
}

const chopin = true

var statistics = []Statistic{
	{Code: "ARA", Name: "allocation rate", Unit: "MB/s", Chopin: chopin, High: "allocates much",
		Doc: "bytes that tasks and threads allocate per second; from a session, without what the main thread allocates outside tasks", of: allocationRate},

	{Code: "ATB", Name: "allocated bytes", Unit: "MB", High: "allocates much in all", Doc: "bytes that tasks and threads allocate in all; from a session, without what the main thread allocates outside tasks", of: allocatedBytes},

	{Code: "GCC", Name: "collections", Chopin: chopin, High: "collects often", Doc: "pauses for garbage collection", of: collections},
	{Code: "GCP", Name: "pause share", Unit: "%", Chopin: chopin, High: "stops long for collections", Doc: "share of the time in pauses for garbage collection", of: pauseShare},
	{Code: "GPX", Name: "longest pause", Unit: "ms", High: "has a long pause", Doc: "longest pause for garbage collection", of: longestPause},
	{Code: "GCW", Name: "collector's CPU share", Unit: "%", High: "spends much CPU time on collection", Doc: "share of the running time that collector threads have", of: collectorShare},
	{Code: "GMD", Name: "smallest heap", Unit: "MB", Chopin: chopin, High: "has much live data", Doc: "smallest heap with which the program completes", Needs: "shadow heap"},
	{Code: "GMU", Name: "smallest heap without compressed pointers", Unit: "MB", Chopin: chopin, High: "has much live data with many pointers",
		Doc: "smallest heap with -XX:-UseCompressedOops", Needs: "shadow heap"},
	{Code: "GLK", Name: "heap growth", Unit: "%", Chopin: chopin, High: "keeps more with each iteration", Doc: "how much larger the smallest heap is for ten iterations than for one", Needs: "shadow heap"},
	{Code: "GSS", Name: "heap sensitivity", Unit: "%", Chopin: chopin, High: "slow in a tight heap", Doc: "slowdown with G1 in the smallest heap against six times that", Needs: "runs with several heaps"},
	{Code: "GTO", Name: "memory turnover", Chopin: chopin, High: "allocates its heap many times over", Doc: "allocated bytes (ATB) over the smallest heap (GMD)", Needs: "shadow heap and --metric alloc", from: turnover},

	{Code: "PET", Name: "execution time", Unit: "s", Chopin: chopin, High: "runs long", Doc: "time of the last iteration, or of the whole program if nothing marks iterations", of: executionTime},
	{Code: "PSD", Name: "deviation between runs", Unit: "%", Chopin: chopin, High: "varies from run to run", Doc: "standard deviation of PET among runs over its mean", of: executionTime, over: deviation},
	{Code: "PKP", Name: "kernel share", Unit: "%", Chopin: chopin, High: "works in the kernel", Doc: "share of the CPU time that is spent in kernel mode", of: kernelShare},
	{Code: "PCU", Name: "CPU use", Unit: "%", High: "keeps all CPUs busy", Doc: "CPU time over wall time and number of CPUs", of: cpuUse},
	{Code: "PJC", Name: "compiler's CPU share", Unit: "%", High: "compiles much", Doc: "share of the running time that JIT compiler threads have", of: compilerShare},
	{Code: "PWU", Name: "warm-up", Unit: "iterations", Chopin: chopin, High: "warms up slowly", Doc: "iteration from which on all take at most 1.5 % longer than the fastest", of: warmUp},
	{Code: "PPE", Name: "parallel efficiency", Unit: "%", Chopin: chopin, High: "scales well", Doc: "speedup against one CPU, over the number of CPUs", Needs: "runs with one CPU"},
	{Code: "PIN", Name: "interpreter sensitivity", Unit: "%", Chopin: chopin, High: "slow without compilers", Doc: "slowdown with -Xint", Needs: "runs with -Xint"},
	{Code: "PCS", Name: "compiler sensitivity", Unit: "%", Chopin: chopin, High: "depends on the compiler", Doc: "slowdown with the worst compiler configuration against the best", Needs: "runs with -XX:TieredStopAtLevel=1 and -XX:-TieredCompilation"},
	{Code: "PCC", Name: "compiler cost", Unit: "%", Chopin: chopin, High: "has much code to compile", Doc: "slowdown if all is compiled before it runs", Needs: "runs with -Xcomp"},

	{Code: "TUS", Name: "rate of units", Unit: "1/s", High: "does many units of work", Doc: "units of work per second", of: unitRate},
	{Code: "TGS", Name: "small units", Unit: "µs", High: "even the smallest units are coarse", Doc: "5th percentile of the units' CPU time", of: unitQuantile(p5)},
	{Code: "TGM", Name: "median unit", Unit: "µs", High: "its units are coarse", Doc: "median of the units' CPU time", of: unitQuantile(p50)},
	{Code: "TGL", Name: "large units", Unit: "µs", High: "has some coarse units", Doc: "95th percentile of the units' CPU time", of: unitQuantile(p95)},
	{Code: "TQM", Name: "median queue time", Unit: "µs", High: "its units wait for a thread", Doc: "median time from submission to start", of: queueQuantile(p50)},
	{Code: "TQL", Name: "long queue time", Unit: "µs", High: "some units wait long for a thread", Doc: "95th percentile of the time from submission to start", of: queueQuantile(p95)},
	{Code: "TNE", Name: "never executed", Unit: "%", High: "most of its tasks never run", Doc: "share of the created units that were never executed", of: neverExecuted},
	{Code: "TTH", Name: "threads with units", High: "uses many threads", Doc: "threads that executed units", of: unitThreads},
	{Code: "TPA", Name: "parallelism", Unit: "threads", High: "runs many threads at once", Doc: "width of the program's threads in the bottle graph: how many threads run while one of them does", of: parallelism},

	{Code: "OMF", Name: "minor faults", Unit: "1/s", High: "touches new memory", Doc: "page faults without I/O per second", of: perSecond(minorFaults)},
	{Code: "OVS", Name: "voluntary switches", Unit: "1/s", High: "waits often", Doc: "context switches per second in which a thread began to wait", of: perSecond(voluntary)},
	{Code: "OIS", Name: "involuntary switches", Unit: "1/s", High: "has more ready threads than CPUs", Doc: "context switches per second in which a ready thread lost its CPU", of: perSecond(involuntary)},
	{Code: "OMR", Name: "resident memory", Unit: "MB", High: "uses much memory", Doc: "largest resident set of the process", of: residentMemory},

	{Code: "UIP", Name: "instructions per cycle", Unit: "1/100", Chopin: chopin, High: "uses the core well", Doc: "100 times the instructions per cycle, in user mode", of: per(100, hpc.Instructions, hpc.Cycles)},
	{Code: "UDC", Name: "data cache misses", Unit: "1/k", Chopin: chopin, High: "has poor locality", Doc: "misses of the level 1 data cache per thousand instructions", of: per(1e3, hpc.L1Misses, hpc.Instructions)},
	{Code: "ULL", Name: "last-level cache misses", Unit: "1/M", Chopin: chopin, High: "waits for memory", Doc: "misses of the last-level cache per million instructions", of: per(1e6, hpc.LLCMisses, hpc.Instructions)},
	{Code: "UDT", Name: "DTLB misses", Unit: "1/M", Chopin: chopin, High: "touches many pages", Doc: "misses of the data TLB per million instructions", of: per(1e6, hpc.DTLBMisses, hpc.Instructions)},
}
