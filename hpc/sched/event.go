package sched

import "stackagent/internal/units"

// event is what a source reports, in terms that both share.
type event struct {
	at       units.MonoNs
	pid, tid int32
	kind     eventKind
	state    State  // of an out: what the thread does from now on
	futex    uint32 // of an out into Futex: see Slice
	limited  bool   // of an out into Futex: the wait has a time limit
	block    bool   // of an out: it did so by itself (voluntary)
	dead     bool   // of an out: it is the thread's last
	counted  bool   // switches is known
	switches uint32 // how often the thread has left a CPU so far
	cpu      int32  // of an in or out: which one, or -1
	after    bool   // of an in: a thread of the same process had the CPU before
	waker    onCPU  // of a wake

	lag                    units.MonoNs // of an in or out: how long before at the kernel began to charge the next thread
	cpuTime                units.Ns     // of an out: CPU time so far, or NotMeasured
	voluntary, involuntary uint64       // of an exit, if counted
	name                   string       // of an exit or a name
	from                   units.MonoNs // of a loss
}

type eventKind uint8

const (
	eventIn   eventKind = iota // the thread gets a CPU
	eventOut                   // it leaves the CPU
	eventWake                  // it need not wait any longer
	eventNew                   // it was made
	eventExit                  // it is about to end; its last out follows
	eventEnd                   // it has ended
	eventName                  // it has another name
	eventLost                  // records of one CPU between from and at are lost
)
