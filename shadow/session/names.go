package session

import "strings"

// kernelNameLength is how many bytes of a thread's name the kernel keeps.
const kernelNameLength = 15

// serviceNames are those of the JVM's own threads that the kernel cuts (HotSpot's names, JDK 17 to 25), by what it keeps.
// The number at the end of some is cut, too.
var serviceNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{"C1 CompilerThread", "C2 CompilerThread", "JVMCI CompilerThread", "VM Periodic Task Thread", "Monitor Deflation Thread",
		"Notification Thread", "Signal Dispatcher", "Reference Handler", "Safepoint Cleanup Thread", "Shenandoah Control Thread", "Shenandoah GC Threads",
		"Shenandoah Regulator Thread", "Shenandoah Uncommit Thread", "JFR Recorder Thread", "JFR Thread Sampler", "JFR Sampler Thread", "JFR Periodic Tasks",
		"JFR Shutdown Hook", "VirtualThread-unblocker", "VirtualThread-unparker"} {
		cut := name[:kernelNameLength]
		if _, twice := names[cut]; twice {
			names[cut] = cut // either of two: stays as it is
			continue
		}
		names[cut] = name
	}
	return names
}()

// serviceName is the whole name of a thread of the JVM's own, if the kernel's name can only be cut from one.
func serviceName(comm string) string {
	if name, ok := serviceNames[comm]; ok {
		return name
	}
	return comm
}

// poolOf is what the names of a pool's threads have in common: "pool-1-thread-*" of "pool-1-thread-7". The number of a
// thread ends its name, but for brackets, or stands before a remark in them. Any other number is a part of the name
// ("C1 CompilerThread", "http-nio-8080-Acceptor", "RMI TCP Connection(2)-127.0.0.1"), and so is one after a single letter
// ("G1", "http2").
func poolOf(name string) string {
	head, rest := name, ""
	if i := strings.LastIndex(name, " ("); i > 0 && strings.HasSuffix(name, ")") && !strings.ContainsAny(name[i:], digits) {
		head, rest = name[:i], name[i:]
	}
	trimmed := strings.TrimRight(head, ")]}>")
	rest = head[len(trimmed):] + rest
	stem := strings.TrimRight(trimmed, digits)
	if stem == trimmed || stem == "" || strings.HasSuffix(stem, ".") || lettersAtEnd(stem) == 1 {
		return name
	}
	return stem + "*" + rest
}

const digits = "0123456789"

// lettersAtEnd counts the letters that end s.
func lettersAtEnd(s string) int {
	n := 0
	for n < len(s) && (s[len(s)-1-n]|0x20 >= 'a' && s[len(s)-1-n]|0x20 <= 'z' || s[len(s)-1-n] >= 0x80) {
		n++
	}
	return n
}
