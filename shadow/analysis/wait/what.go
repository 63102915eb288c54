// Package wait finds what the threads of a session waited for: it joins the agent's records of waits with the
// scheduling record, the pauses of the collector and the units of work.
package wait

import (
	"cmp"
	"strings"

	"stackagent/granularity/waiting"
	"stackagent/internal/wire"
)

// What is what waits were for.
type What struct {
	For     string // one of those below
	Kind    string // how the thread waited: wire.WaitKind, or a state of the scheduling record
	Class   string // a readable name: "ReentrantLock", "condition of ReentrantLock", "com.acme.Db"
	Blocker string // Java name of the class of the object; "": none, or not known
	Lock    string // of a condition: the class of its lock's synchronizer
}

// What waits are for.
const (
	ForMonitor      = "monitor"
	ForSynchronizer = "synchronizer"
	ForIO           = "io"
	ForSleep        = "sleep"
	ForCarrier      = "carrier"
	ForGC           = "gc"
	ForQueue        = "queue" // a worker, for work: idleness
	ForOther        = "other"
)

// Kinds of waits, as sessions have them.
const (
	kindMonitor = "monitor"
	kindNotify  = "notify"
	kindPark    = "park"
	kindSleep   = "sleep"
	kindIO      = "io"
)

// whatOf says what a wait was for by its kind, the class of the object, and the class of its lock if it is a condition, or the class that it is; seen:
// the object is known if there was one.
func whatOf(kind, blocker, lock string, flags wire.WaitFlags, seen bool) What {
	if blocker == "java.lang.Class" && lock != "" { // the monitor of a class, as of a synchronized static method
		blocker, lock = "class "+lock, ""
	}
	w := What{Kind: kind, Blocker: blocker, Lock: lock}
	name := Readable(blocker)
	switch kind {
	case kindMonitor:
		w.For, w.Class = ForMonitor, orNotKnown(name)
		if blocker == "int[]" { // HotSpot's lock of a class being linked or initialized
			w.Class = "int[], or a class being initialized"
		}
	case kindNotify:
		w.For, w.Class = ForMonitor, "Object.wait on "+orNotKnown(name)
	case kindSleep:
		w.For, w.Class = ForSleep, "Thread.sleep"
	case kindIO:
		w.For, w.Class = ForIO, cmp.Or(name, descriptor(flags))
	case kindPark:
		w.For, w.Class = ForSynchronizer, name
		switch {
		case IsCondition(blocker):
			w.Class = "condition"
			if lock != "" {
				w.Class += " of " + Readable(lock)
			}
		case blocker == "" && seen:
			w.For, w.Class = ForOther, "LockSupport.park without a blocker"
		case blocker == "":
			w.For, w.Class = ForOther, "LockSupport.park, blocker not known"
		}
	default:
		w.For, w.Class = ForOther, orNotKnown(name)
	}
	return w
}

func orNotKnown(name string) string { return cmp.Or(name, "(class not known)") }

// IsCondition reports whether a class is that of the conditions of the locks of java.util.concurrent.
func IsCondition(class string) bool { return strings.HasSuffix(class, "$ConditionObject") }

// descriptor names what a thread waits for in a system call of the JDK's natives.
func descriptor(flags wire.WaitFlags) string {
	switch {
	case flags&wire.WaitForce != 0:
		return Forced
	case flags&wire.WaitFile != 0:
		return "file or pipe"
	case flags&wire.WaitSocket != 0:
		return "socket or pipe" // channels of pipes are read like those of sockets
	}
	return "socket, pipe or file"
}

// Forced is what a thread waits for that has asked for a file to be on the disk: FileChannel.force, FileDescriptor.sync.
const Forced = "file that is forced to disk"

// Awaited is the class of what a wait was for. For a condition of a queue, as in ArrayBlockingQueue.take, it is the queue; room: it was for room in
// a full one. For that of a barrier it is the barrier.
func (w *What) Awaited() (class string, room bool) {
	if name, method, _ := strings.Cut(w.Class, "."); IsCondition(w.Blocker) && (HoldsElements(name) || IsBarrier(name)) {
		return name, HoldsElements(name) && (strings.HasPrefix(method, "put") || strings.HasPrefix(method, "offer"))
	}
	if w.Kind == kindIO && w.Blocker == "" {
		return w.Class, false
	}
	return w.Blocker, false
}

// HoldsElements reports whether a class is named as what holds elements that threads give and take.
func HoldsElements(class string) bool {
	class = Readable(class) // SynchronousQueue$TransferStack does, too
	return strings.HasSuffix(class, "Queue") || strings.HasSuffix(class, "Deque") || strings.HasSuffix(class, "Bag")
}

// IsBarrier reports whether a class is named as one at which threads wait until all have come.
func IsBarrier(class string) bool {
	name := Readable(class)
	return name == "CyclicBarrier" || name == "Phaser"
}

// concurrent is the package whose classes are known to readers by their simple names.
const concurrent = "java.util.concurrent."

// Fair is the end of the readable name of a lock that is given to those that wait for it in their order.
const Fair = " (fair)"

// Readable names a class of java.util.concurrent without its package and its inner classes, which few readers know:
// ReentrantLock for java.util.concurrent.locks.ReentrantLock$NonfairSync. Others keep their names.
func Readable(class string) string {
	rest, ok := strings.CutPrefix(class, concurrent)
	if !ok {
		return class
	}
	rest = strings.TrimPrefix(rest, "locks.")
	name, inner, _ := strings.Cut(rest, "$")
	if inner == "FairSync" {
		name += Fair
	}
	return name
}

// locks are the classes of java.util.concurrent that are locks: whoever waits for one cannot do its work since others do.
var locks = map[string]bool{"ReentrantLock": true, "ReentrantReadWriteLock": true, "StampedLock": true, "Semaphore": true}

// partOf is the part of a thread's time that a wait is; held: the object has an owner.
func (w *What) partOf(held bool) waiting.Part {
	switch w.For {
	case ForIO:
		return waiting.IO
	case ForSleep:
		return waiting.Sleep
	case ForQueue:
		return waiting.Idle
	case ForMonitor:
		if w.Kind == kindMonitor {
			return waiting.Lock
		}
	case ForSynchronizer:
		if name, _, _ := strings.Cut(w.Class, " "); held || !IsCondition(w.Blocker) && locks[name] {
			return waiting.Lock
		}
	}
	return waiting.Other
}
