package units

import "hash/fnv"

// GCCause is why a collection ran: HotSpot's name for it as the agent carries it, FNV-1a in 32 bits. 0: not known.
type GCCause uint32

// Profiler is no collection's: the agent changed classes, which stopped the program. jvmti/state_gc_cause.h has it.
const Profiler = "Profiler"

// gcCauses are HotSpot's names, of JDK 11 to 25, without those of its own tests, and Profiler.
var gcCauses = []string{
	"System.gc()", "Diagnostic Command", "JvmtiEnv ForceGarbageCollection", "Heap Inspection Initiated GC", "Heap Dump Initiated GC",
	"GCLocker Initiated GC", "Allocation Failure", "Allocation Profiler", "Tenured Generation Full", "Permanent Generation Full",
	"Old Generation Expanded On Last Scavenge", "Old Generation Too Full To Scavenge", "Ergonomics", "Last ditch collection",
	"Metadata GC Threshold", "Metadata GC Clear Soft References", "CodeCache GC Threshold", "CodeCache GC Aggressive",
	"CMS Generation Full", "CMS Initial Mark", "CMS Final Remark", "CMS Concurrent Mark", "Full GC for -Xshare:dump",
	"G1 Evacuation Pause", "G1 Compaction Pause", "G1 Humongous Allocation", "G1 Periodic Collection", "G1 Preventive Collection",
	"Allocation Failure During Evacuation", "Humongous Allocation Failure", "Concurrent GC", "Upgrade To Full GC", "Stopping VM",
	"Timer", "Warmup", "Allocation Rate", "Allocation Stall", "Proactive", "High Usage",
	Profiler,
}

var gcCauseNames = func() map[GCCause]string {
	names := map[GCCause]string{}
	for _, name := range gcCauses {
		names[GCCauseOf(name)] = name
	}
	return names
}()

// GCCauseOf is the cause of that name, as jvmti/state_gc_cause.c makes it.
func GCCauseOf(name string) GCCause {
	h := fnv.New32a()
	h.Write([]byte(name)) // never fails
	return GCCause(h.Sum32())
}

// String is HotSpot's name, empty: not known.
func (c GCCause) String() string { return gcCauseNames[c] }
