package instrument

import "stackagent/agent/classfile"

// A probe is a static method of one of the helper's classes in java.lang.
type probe struct{ owner, name, descriptor string }

// The helper's classes.
const (
	nameProbes        = "java/lang/Stackagent"
	nameSubmissions   = "java/lang/StackagentSubmission"
	nameConstructions = "java/lang/StackagentConstruction"
	nameWaits         = "java/lang/StackagentWait"
	nameTraces        = "java/lang/StackagentTrace"
	nameMonitors      = "java/lang/StackagentMonitor"
)

// The descriptors that several probes share.
const (
	descObject = "(Ljava/lang/Object;)V"
	descEnter  = "(Ljava/lang/Object;)I" // task -> token
	descToken  = "(I)V"
	descThread = "(Ljava/lang/Thread;)V"
	descStage  = "(Ljava/lang/Throwable;Ljava/lang/Object;)V"
	descBegin  = "(Ljava/lang/Object;Ljava/lang/Object;)I" // executor, task -> token
)

// Executions.
var (
	probeEnter         = probe{nameProbes, "enter", descEnter}
	probeStarted       = probe{nameProbes, "started", descEnter}        // VirtualThread.run
	probeCovariant     = probe{nameProbes, "enterCovariant", descEnter} // often called by a bridge that has entered already
	probeEnterRunnable = probe{nameProbes, "enterRunnable", descEnter}  // these three check what the object is
	probeEnterCallable = probe{nameProbes, "enterCallable", descEnter}
	probeEnterForkJoin = probe{nameProbes, "enterForkJoin", descEnter}
	probeExit          = probe{nameProbes, "exit", descToken}
	probeExitThrow     = probe{nameProbes, "exitThrow", descToken}
	probeFailing       = probe{nameSubmissions, "failing", "(Ljava/lang/Throwable;I)V"} // thrown, token
	probeAsked         = probe{nameSubmissions, "asked", descObject}
	probeStageFailed   = probe{nameProbes, "stageFailed", descStage} // thrown, task
	probeStageThrew    = probe{nameProbes, "stageThrew", descStage}  // thrown, future
	probeStageThrewToo = probe{nameProbes, "stageThrewToo", "(Ljava/lang/Throwable;Ljava/lang/Object;Ljava/lang/Object;)V"}
	probeStageCalls    = probe{nameProbes, "stageCalls", "(Ljava/lang/Object;)Ljava/lang/Object;"} // stage -> the one around it
	probeStageCalled   = probe{nameProbes, "stageCalled", descObject}
	probeRun           = probe{nameProbes, "run", "(Ljava/lang/Runnable;)V"}
	probeCall          = probe{nameProbes, "call", "(Ljava/util/concurrent/Callable;)Ljava/lang/Object;"}
)

// Creations and constructions.
var (
	probeCreated      = probe{nameProbes, "created", descObject}
	probeAdapted      = probe{nameProbes, "adapted", "(Ljava/lang/Object;Ljava/lang/Object;)V"} // task, what it wraps
	probeFailed       = probe{nameProbes, "failed", descObject}
	probeCloned       = probe{nameProbes, "cloned", "(Ljava/lang/Object;Ljava/lang/Object;)Ljava/lang/Object;"} // original, copy -> copy
	probeConstructing = probe{nameConstructions, "constructing", "()I"}                                         // -> token
	probeDelegating   = probe{nameConstructions, "delegating", descToken}                                       // before this(...)
	probeConstructed  = probe{nameConstructions, "constructed", "(Ljava/lang/Object;ILjava/lang/Class;)V"}
)

// Submissions.
var (
	probeSubmitting   = probe{nameSubmissions, "submitting", descBegin}
	probeScheduling   = probe{nameSubmissions, "scheduling", descBegin} // to run later
	probeRepeating    = probe{nameSubmissions, "repeating", descBegin}  // by the executor, once more
	probeForking      = probe{nameSubmissions, "forking", descEnter}    // ForkJoinTask.fork
	probeStarting     = probe{nameSubmissions, "starting", descEnter}   // Thread.start
	probeExecutorMade = probe{nameSubmissions, "executorMade", descObject}
	probeWorking      = probe{nameSubmissions, "working", descObject} // the executor of a worker
	probeSubmitted    = probe{nameSubmissions, "submitted", descToken}
	probeRejected     = probe{nameSubmissions, "refused", "(Ljava/lang/Throwable;Ljava/lang/Object;I)V"} // thrown, task, token
	probeDue          = probe{nameSubmissions, "due", "(JJLjava/lang/Object;)V"}                         // mark, how late, task
	probeAgain        = probe{nameSubmissions, "queuedAgain", descObject}
	probeFiring       = probe{nameSubmissions, "firing", descObject}                              // a Timer's queue
	probeHolds        = probe{nameSubmissions, "holds", "(Ljava/lang/Object;)Ljava/lang/Object;"} // task -> the task inside it
	// What cancel returns, the task, the task inside it -> what cancel returns.
	probeCancelled = probe{nameSubmissions, "cancelled", "(ZLjava/lang/Object;Ljava/lang/Object;)Z"}
)

// Call sites.
var (
	probeMaking  = probe{nameSubmissions, "making", descToken}
	probeMaybe   = probe{nameSubmissions, "maybe", "(ILjava/lang/Class;)V"}
	probeMade    = probe{nameSubmissions, "made", descToken}
	probeCalling = probe{nameSubmissions, "calling", "(I)I"}
	probeCalled  = probe{nameSubmissions, "called", descToken}
	probeThrown  = probe{nameSubmissions, "thrown", descToken}
	probeUnmade  = probe{nameSubmissions, "unmade", "()V"}
)

// Virtual threads.
var (
	probeMounted    = probe{nameProbes, "mounted", descThread}
	probeUnmounting = probe{nameProbes, "unmounting", descThread}
	probeReady      = probe{nameProbes, "ready", descThread}
	probeLeaving    = probe{nameProbes, "leaving", descThread}
	probeYielding   = probe{nameProbes, "yielding", descThread}
	probeReturned   = probe{nameProbes, "returned", descThread}
	probeParking    = probe{nameProbes, "parking", descEnter}
	probeParked     = probe{nameProbes, "parked", descToken}
)

// Waits.
var (
	probeWaiting   = probe{nameWaits, "parking", "(Z)J"}
	probeWaited    = probe{nameWaits, "parked", "(J)V"}
	probeUnparking = probe{nameWaits, "unparking", descObject}
	probeSleeping  = probe{nameWaits, "sleeping", descEnter}
	probePolling   = probe{nameWaits, "polling", descEnter}
	probeUnblocked = probe{nameWaits, "unblocked", descToken}
)

// The current span.
var probeStoring = probe{nameTraces, "storing", "(Ljava/lang/Object;Ljava/lang/Class;)V"} // context, the class that stores it

// Monitors that the user asks for. The last argument is the monitor's slot.
var (
	probeMonitorCalled  = probe{nameMonitors, "called", descToken}
	probeMadeOne        = probe{nameMonitors, "made", "(Ljava/lang/Object;I)V"}
	probeReturnedInt    = probe{nameMonitors, "returned", "(II)V"}
	probeReturnedLong   = probe{nameMonitors, "returned", "(JI)V"}
	probeReturnedFloat  = probe{nameMonitors, "returned", "(FI)V"}
	probeReturnedDouble = probe{nameMonitors, "returned", "(DI)V"}
)

// Counts of instructions.
var (
	probeCount     = probe{nameProbes, "count", "(I)V"} // adds to the counter of the thread
	probeCountLong = probe{nameProbes, "count", "(IJ)V"}
	probeMark      = probe{nameProbes, "mark", "()J"}   // reads it
	probeReset     = probe{nameProbes, "reset", "(J)V"} // sets it

	// For handlers, where compiled code should be small.
	probeCountThrown     = probe{nameProbes, "countThrown", "(I)V"}
	probeCountThrownLong = probe{nameProbes, "countThrown", "(IJ)V"}
)

// call makes the call of a probe.
func (p *Plan) call(to probe) (*classfile.Insn, error) {
	i, err := p.class.Pool.AddMethodRef(to.owner, to.name, to.descriptor, false)
	if err != nil {
		return nil, err
	}
	return classfile.NewInvoke(classfile.OpInvokestatic, i), nil
}

// callOnThis makes aload_0 and the call of a probe.
func (p *Plan) callOnThis(to probe) ([]*classfile.Insn, error) {
	call, err := p.call(to)
	if err != nil {
		return nil, err
	}
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpAload, 0), call}, nil
}

// callWithToken makes iload and the call of a probe.
func (p *Plan) callWithToken(to probe, token int) ([]*classfile.Insn, error) {
	call, err := p.call(to)
	if err != nil {
		return nil, err
	}
	return []*classfile.Insn{classfile.NewVarInsn(classfile.OpIload, token), call}, nil
}
