package sched

// Bits of a task's state, from include/linux/sched.h; these have not changed.
const (
	taskInterruptible   = 0x01
	taskUninterruptible = 0x02
	taskStopped         = 0x04
	taskTraced          = 0x08
	taskDead            = 0x80
)

// stateOf is what a thread does that has left the CPU with the state task of
// the kernel, in system call call (-1: none, or not known).
func stateOf(task uint32, preempted bool, call int32) State {
	switch {
	case preempted || task == 0:
		return Runnable // preempted, or it gave the CPU away and still wants it
	case task&(taskStopped|taskTraced) != 0:
		return Blocked
	case task&taskUninterruptible != 0:
		return IO
	}
	return stateOfCall(call)
}

// stateOfCall is what a thread waits for that is blocked in a system call.
func stateOfCall(call int32) State {
	if s, ok := blockingCalls[call]; ok {
		return s
	}
	return Blocked
}
