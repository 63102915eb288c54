package schema

// KindSets are the enumerations of records.
var KindSets = []KindSet{
	{Name: "SiteKind", Of: "is counted at a call site",
		Doc: "SiteKind says what a SiteSum counts. The sum over SiteCreation and SitePart is Summary.Creations, over SiteSubmission and SiteInner Summary.Submissions, over the last two Summary.Rejected. Events that found no room are not included.",
		Kinds: []Kind{
			{"SiteCreation", "SA_SITE_CREATION", "creation"},
			{"SiteSubmission", "SA_SITE_SUBMISSION", "submission by the program"},
			{"SitePart", "SA_SITE_PART", "creation without a call site, inside an execution of a task of the same class"},
			{"SiteInner", "SA_SITE_INNER", "submission inside another"},
			{"SiteRejected", "SA_SITE_REJECTED", "cancels a rejected submission by the program"},
			{"SiteRejectedInner", "SA_SITE_REJECTED_INNER", "cancels a rejected inner submission"},
		}},
	{Name: "ContextKind", Of: "happens in a calling context", Doc: "ContextKind says what happens in a calling context.", Kinds: []Kind{
		{"ContextCreation", "SA_CONTEXT_CREATION", "creation"},
		{"ContextSubmission", "SA_CONTEXT_SUBMISSION", "submission by the program, not inside another"},
		{"ContextExecution", "SA_CONTEXT_EXECUTION", "execution"},
		{"ContextWait", "SA_CONTEXT_WAIT", "long wait"},
		{"ContextAllocation", "SA_CONTEXT_ALLOCATION", "allocation of a sampled object"},
		{"ContextThrown", "SA_CONTEXT_THROWN", "an execution ends by an exception, whose class is that of the frame"},
		{"ContextPolling", "SA_CONTEXT_POLLING", "a busy thread polls without a pause"},
		{"ContextComputing", "SA_CONTEXT_COMPUTING", "a busy thread initialises a class, runs stages of a future that it has completed, or ends objects"},
		{"ContextLate", "SA_CONTEXT_LATE", "a busy thread took long to show its stack, as it does to reach a safepoint"},
		{"ContextYielding", "SA_CONTEXT_YIELDING", "a virtual thread yields, one of a few that are looked at"},
		{"ContextInterpreted", "SA_CONTEXT_INTERPRETED", "a busy thread computes in a method with more bytecode than HotSpot compiles"},
	}},
	{Name: "WaitKind", Of: "a thread waits for", Doc: "WaitKind says how a thread waited.", Kinds: []Kind{
		{"WaitMonitor", "SA_WAIT_FOR_MONITOR", "for a synchronized block or method"},
		{"WaitNotify", "SA_WAIT_FOR_NOTIFY", "in Object.wait"},
		{"WaitPark", "SA_WAIT_FOR_PARK", "in LockSupport.park"},
		{"WaitSleep", "SA_WAIT_FOR_SLEEP", "in Thread.sleep"},
		{"WaitIO", "SA_WAIT_FOR_IO", "for a socket, pipe or file"},
	}},
	{Name: "TraceKind", Of: "has a trace", Doc: "TraceKind says of what a TaskTrace is.", Kinds: []Kind{
		{"TraceSubmission", "SA_TRACE_OF_SUBMISSION", "submission of the task"},
		{"TraceExecution", "SA_TRACE_OF_EXECUTION", "execution of the task"},
	}},
}
