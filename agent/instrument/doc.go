// Package instrument decides which methods of a class to observe and weaves the
// probes into them: class bytes -> Plan -> woven bytes. It is pure: no I/O, no
// state, the same input gives the same bytes. That matters because a class that
// got only its new fields at load (ModeStructure) is woven in full later, by a
// retransformation (ModeFull), and the JVM refuses the second version unless its
// structure equals the first.
//
// # Kinds
//
// What is woven is a list of kinds (kinds.go). A kind is a small type in a file of
// its own: it says which classes and methods it wants and what it inserts there.
//
//	executions      around the methods that execute a task
//	parking         where a virtual thread parks on its carrier
//	clones          a task that is copied gets an id of its own
//	threadLocks     room for a thread's state in java.lang.Thread
//	lambdaArchive   the JVM's archive hides no lambdas
//	dispatches      calls of tasks whose class could not be woven
//	submissions     around the methods that submit a task to an executor
//	executorsMade   where an executor is constructed
//	workers         whose worker a thread is
//	cancellations   what cancel returns
//	exceptionReads  where the program gets the exception that ended a task
//	stageFailures   where the function of a CompletableFuture's stage has thrown
//	constructors    creations, failed constructors, the cost of constructions
//	waits           where threads park
//	callSites       where the program makes and submits tasks
//	mounts          where a virtual thread gets on and off its carrier
//
// To add one, write its type and add a line to kinds. Counts of instructions lie
// around all of them (count.go, countweave.go). probes.go declares the probes.
//
// # What is left alone
//
//   - java.lang.Object: the root, where a field would be in every object.
//   - java.lang.Stackagent: the probes themselves.
//   - jdk.internal.vm.Continuation: it declares run()V, is no task, and its
//     frames are moved by the JVM itself while it runs; a probe there would sit
//     between a virtual thread and its carrier.
//   - module-info and package-info: no code.
//   - final classes that are no tasks: nothing can inherit their methods.
//
// # When a class cannot be woven
//
// It keeps its bytes and the caller gets a *Refusal with a typed Reason. Half a
// class is never woven: an execution method without its constructors would make
// false figures.
//
// # Filters
//
// Exclude wins over Include. Include selects among the program's classes only:
// platform classes are woven unless Exclude names them, since a method of the
// platform executes a program's fork/join task. What the probes need in
// java.lang.Thread and ClassValueMap is woven in any case. A subclass of an
// excluded task class has no id of its own, because the filters may not change
// the shape of a class.
package instrument
