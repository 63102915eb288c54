package store

// The kinds of context.
const (
	ContextCreation   = "creation"
	ContextSubmission = "submission"
	ContextExecution  = "execution"
	ContextWait       = "wait"
	ContextAllocation = "allocation"
	ContextThrown     = "thrown"
	ContextPolling    = "polling"   // of a busy thread, as the next two
	ContextComputing  = "computing" // in an initialiser, a stage of a future that it has completed, or for the Finalizer
	ContextLate       = "late"      // to show its stack
	ContextYielding   = "yielding"  // of a virtual thread
	// Of a busy thread in a method with more bytecode than HotSpot compiles.
	ContextInterpreted = "interpreted"
)

// ContextSampling says how the contexts of a session came about.
type ContextSampling struct {
	Every  uint64 `json:"every"`  // of each thread, and of each kind, one event in so many was looked at
	Taken  uint64 `json:"taken"`  // events looked at
	Lost   uint64 `json:"lost"`   // of these: no room for a further context
	Unseen uint64 `json:"unseen"` // of these: the JVM did not give the stack
}
