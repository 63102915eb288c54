package session

import (
	"fmt"
	"strings"
)

// Kinds of threads.
const (
	KindApplication = "application"
	KindMain        = "main"
	KindGC          = "gc"
	KindCompiler    = "compiler"
	KindVM          = "vm"
	KindOther       = "other"
)

// servicePrefixes name the JVM's own threads as the kernel knows them, cut to
// 15 characters (HotSpot's names, JDK 11 to 25).
var servicePrefixes = []struct{ kind, prefixes string }{
	{KindGC, "GC Thread#|G1 |ParGC|Gang worker|ZWorker|ZDriver|ZDirector|ZStat|ZUncommit|ZUnmapper|ZRuntime|" +
		"XWorker|XDriver|XDirector|XStat|XUncommit|XUnmapper|Shenandoah|StrDedup"},
	{KindCompiler, "C1 Compiler|C2 Compiler|JVMCI|Sweeper thread"},
	{KindVM, "VM Thread|VM Periodic|Signal Dispatch|Service Thread|Monitor Deflat|Notification Th|Attach Listener|" +
		"Finalizer|Reference Handl|Common-Cleaner|DestroyJavaVM|JFR "},
}

// serviceKind classifies a thread of the process by its kernel name.
func serviceKind(comm string) string {
	for _, s := range servicePrefixes {
		for p := range strings.SplitSeq(s.prefixes, "|") {
			if strings.HasPrefix(comm, p) {
				return s.kind
			}
		}
	}
	return KindOther
}

// javaKind classifies a thread that the JVM shows as a Java thread. The JVM's
// own ones are in the group "system"; a program's may bear any name.
func javaKind(name, group string) string {
	switch {
	case name == "main" && (group == "main" || group == ""):
		return KindMain
	case group == "system" || (group == "InnocuousThreadGroup"):
		if k := serviceKind(name); k != KindOther {
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
