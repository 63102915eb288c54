// Package instrument decides which methods of a class are to be observed and
// weaves the probes into them: class bytes -> Plan -> woven bytes. It is pure:
// no I/O, no state, the same input gives the same bytes. That matters because
// a class that got only its new fields at load (ModeStructure) is woven again
// in full by a retransformation (ModeFull), and the JVM refuses the second
// version unless its structure equals the first.
//
// # What is woven
//
// Execution methods of tasks (run()V of a Runnable, call()Ljava/lang/Object;
// of a Callable, exec()Z of a ForkJoinTask, and what the user names) get
//
//	int token = Stackagent.enter(this);
//	try { body; Stackagent.exit(token) before every return }
//	catch (Throwable t) { Stackagent.exitThrow(token); throw t; }
//
// A covariant call() of a Callable gets the same with enterCovariant, as it may be called directly or by its bridge.
//
// A class that is no task but declares such a method publicly gets the same
// with enterRunnable, enterCallable or enterForkJoin, which ask what the object is, because a subclass may inherit the method and add the
// interface. Constructors of the topmost task class of a hierarchy report the
// creation as soon as super(...) has returned; constructors of every task
// class report that they failed. The topmost task class also gets a field for
// the task's id, and java.lang.ClassValue$ClassValueMap one for the id of the
// class that it belongs to. java.lang.Thread makes its private lock an instance
// of Stackagent, which has room for the thread's state. In
// java.lang.VirtualThread mount and unmount are observed.
//
// # What is left alone
//
//   - java.lang.Object: the root, where a field would be in every object.
//   - java.lang.Stackagent: the probes themselves.
//   - jdk.internal.vm.Continuation: it declares run()V, is no task, and its
//     frames are switched by hand while it runs; a probe there would sit
//     between a virtual thread and its carrier.
//   - module-info and package-info: no code.
//   - final classes that are no tasks: nothing can inherit their methods.
//
// # When a class cannot be woven
//
// It keeps its bytes as a whole and the caller gets a *Refusal with a typed
// Reason. Half a class is never woven: an execution method without its
// constructors would make false figures.
//
// # Filters
//
// Exclude wins over Include. Include selects among the program's classes only:
// platform classes are woven unless Exclude names them, since a program's
// fork/join task is executed by a method of the platform. What the probes need
// in java.lang.Thread and ClassValueMap is done in any case. A subclass of an excluded task class has no id of its own, because
// whether its superclass was excluded may not change the shape of a class.
package instrument
