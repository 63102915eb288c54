package session

import (
	"fmt"
	"strings"

	"stackagent/granularity/activity"
)

// Kinds of threads.
const (
	KindApplication = activity.KindApplication
	KindMain        = activity.KindMain
	KindGC          = activity.KindGC
	KindCompiler    = activity.KindCompiler
	KindVM          = activity.KindVM
	KindOther       = activity.KindOther
)

// TimerThread is the class of the threads that run the tasks of a java.util.Timer, and that end if one throws.
const TimerThread = "java.util.TimerThread"

// servicePrefixes name the JVM's own threads as the kernel knows them, cut to
// 15 characters (HotSpot's names, JDK 11 to 25).
var servicePrefixes = []struct{ kind, prefixes string }{
	{KindGC, "GC Thread#|G1 |ParGC|Gang worker|ZWorker|ZDriver|ZDirector|ZStat|ZUncommit|ZUnmapper|ZRuntime|RuntimeWorker#|" +
		"XWorker|XDriver|XDirector|XStat|XUncommit|XUnmapper|Shenandoah|StrDedup"},
	{KindCompiler, "C1 Compiler|C2 Compiler|JVMCI|Sweeper thread"},
	{KindVM, "VM Thread|VM Periodic|Signal Dispatch|Service Thread|Monitor Deflat|Notification Th|Attach Listener|" +
		"Finalizer|Reference Handl|Common-Cleaner|DestroyJavaVM|JFR "},
}

// roles say more about threads than their kind does. The first that
// fits holds.
var roles = []struct{ role, prefixes string }{
	{"refinement", "G1 Refine"},
	{"concurrent", "G1 Conc|G1 Main Marker|ZDriver|XDriver|Shenandoah Cont"},
	{"service", "G1 Service|ZDirector|ZStat|ZUncommit|ZUnmapper|XDirector|XStat|XUncommit|XUnmapper|StrDedup"},
	{"parallel", "GC Thread#|ParGC|Gang worker|Shenandoah GC"},
	{"worker", "ZWorker|XWorker|ZRuntime|RuntimeWorker#"}, // in pauses and beside the program
	{"C1", "C1 Compiler"}, {"C2", "C2 Compiler"}, {"JVMCI", "JVMCI"}, {"sweeper", "Sweeper"},
	{"VM thread", "VM Thread"}, {"periodic", "VM Periodic"}, {"signals", "Signal Dispatch"},
	{"references", "Finalizer|Reference Handl|Common-Cleaner"},
	{"agent", "stackagent"}, // our own, in the JVM
}

// Role is what a thread does, where its name and kind say: "parallel",
// "concurrent" or "refinement" of a collector, "C1" or "C2", "carrier" of virtual
// threads, "virtual", "agent" for those of the profiler itself; else "".
func (t *Thread) Role() string {
	switch {
	case t.Virtual:
		return "virtual"
	case t.carrier():
		return "carrier"
	case t.Kind == KindApplication || t.Kind == KindMain:
		return ""
	}
	return RoleOf(t.Name)
}

// carrierGroup is the thread group of the carriers of virtual threads (JDK 19 and later).
const carrierGroup = "CarrierThreads"

// carrier: a thread that a carrier starts for its pool (a DelayScheduler) is in its group, too.
func (t *Thread) carrier() bool {
	return t.Group == carrierGroup && t.JavaID != 0 && (t.Class == "" || strings.HasSuffix(t.Class, "CarrierThread"))
}

// delays: a thread of the JDK that ends the sleep of virtual threads: JDK 25's is in the group of the carriers.
func (t *Thread) delays() bool {
	return t.JavaID != 0 && !t.Virtual && (t.Group == carrierGroup && !t.carrier() || t.Name == "VirtualThread-unparker" && t.Group == "InnocuousThreadGroup")
}

// polls: a thread of the JDK that ends waits of virtual threads for sockets and pipes.
func (t *Thread) polls() bool {
	return t.JavaID != 0 && !t.Virtual && t.Group == "InnocuousThreadGroup" && strings.HasSuffix(strings.TrimRight(t.Name, "-0123456789"), "Poller")
}

// RoleOf is what a thread of the JVM with a name does; "": nothing says so.
func RoleOf(name string) string {
	for _, r := range roles {
		for p := range strings.SplitSeq(r.prefixes, "|") {
			if strings.HasPrefix(name, p) {
				return r.role
			}
		}
	}
	return ""
}

// Role is that of the thread which it stands for, or what its own name says.
// The first thread of a JVM only waits for the one that it starts.
func (t *ThreadTime) Role(pid int) string {
	switch {
	case int(t.TID) == pid && (t.Carried == nil || t.Carried.JavaID == 0):
		return "launcher"
	case t.Carried != nil:
		return t.Carried.Role()
	}
	return RoleOf(t.Name)
}

// Pool is what the names of the threads of its pool have in common, the name
// itself where it has no number: "pool-1-thread-*".
func (t *Thread) Pool() string { return poolOf(t.Name) }

// ServiceKind classifies a thread of the process by its kernel name.
func ServiceKind(comm string) string {
	for _, s := range servicePrefixes {
		for p := range strings.SplitSeq(s.prefixes, "|") {
			if strings.HasPrefix(comm, p) {
				return s.kind
			}
		}
	}
	return KindOther
}

// JavaKind classifies a thread that the JVM shows as a Java thread. The JVM's
// own ones are in the group "system"; a program's may bear any name.
func JavaKind(name, group string) string {
	switch {
	case name == "main" && (group == "main" || group == ""):
		return KindMain
	case group == "system" || (group == "InnocuousThreadGroup"):
		if k := ServiceKind(name); k != KindOther {
			return k
		}
		return KindVM
	case name == "DestroyJavaVM":
		return KindVM
	}
	return KindApplication
}

func label(name string, javaID int64, osID int32) string {
	switch {
	case javaID != 0:
		return fmt.Sprintf("%s#%d", name, javaID)
	case osID != 0:
		return fmt.Sprintf("%s@%d", name, osID)
	}
	return name
}
