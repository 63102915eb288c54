package schema

// FlagSets are the flags of all records. Bits are for ever.
var FlagSets = []FlagSet{
	{Name: "ExecutionFlags", Of: "sa_execution", Doc: "ExecutionFlags qualify an execution.", Flags: []Flag{
		{"Threw", "SA_EXEC_THREW", 0, "ended by an exception"},
		{"Running", "SA_EXEC_RUNNING", 1, "still running when the program ended"},
		{"Cut", "SA_EXEC_CUT", 2, "its end was not seen; the end is that of the frame below"},
		{"CreationUnseen", "SA_EXEC_CREATION_UNSEEN", 3, "the creation of its task was not seen"},
		{"Virtual", "SA_EXEC_VIRTUAL", 4, "on a virtual thread"},
		{"CPUEstimated", "SA_EXEC_CPU_ESTIMATED", 5, "its CPU time may be wrong by more than 2 µs and 0.8 %: what interrupts or the hypervisor took from the thread may have been before it"},
		{"First", "SA_EXEC_FIRST", 6, "the first execution of its task"},
		{"SelfEstimated", "SA_EXEC_SELF_ESTIMATED", 7, "its self times are estimates: of the executions inside it a random sample was timed"},
	}},
	{Name: "CreationFlags", Of: "sa_creation", Doc: "CreationFlags qualify a creation.", Flags: []Flag{
		{"Failed", "SA_CREATE_FAILED", 0, "cancels the other creation of the task: its constructor threw"},
		{"Withdrawn", "SA_CREATE_WITHDRAWN", 1, "cancels the other creation of the task: the JVM made the object for a service thread of its own"},
		{"Part", "SA_CREATE_PART", 2, "without a call site, inside an execution of a task of the same class"},
	}},
	{Name: "SubmissionFlags", Of: "sa_submission", Doc: "SubmissionFlags qualify a submission.", Flags: []Flag{
		{"Rejected", "SA_SUBMIT_REJECTED", 0, "takes back the latest submission of the task: the executor refused it"},
		{"Cancelled", "SA_SUBMIT_CANCELLED", 1, "no submission: the task was cancelled"},
		{"Scheduled", "SA_SUBMIT_SCHEDULED", 2, "to run later, or again and again"},
		{"Started", "SA_SUBMIT_STARTED", 3, "the start of a thread"},
		{"Forked", "SA_SUBMIT_FORKED", 4, "ForkJoinTask.fork"},
		{"Inner", "SA_SUBMIT_INNER", 5, "by a library, inside another submission"},
		{"Asked", "SA_SUBMIT_ASKED", 6, "no submission: the program read the exception that ended the task's execution"},
		{"Forgotten", "SA_SUBMIT_FORGOTTEN", 7, "no submission: whether the program reads that exception is no longer known. With 64: from now on both are recorded"},
	}},
	{Name: "VirtualFlags", Of: "sa_virtual", Doc: "VirtualFlags qualify a VirtualThread.", Flags: []Flag{
		{"VirtualAlive", "SA_VIRTUAL_ALIVE", 0, "the thread had not ended"},
	}},
	{Name: "WaitFlags", Of: "sa_wait", Doc: "WaitFlags qualify a wait.", Flags: []Flag{
		{"WaitTimed", "SA_WAIT_TIMED", 0, "it had a time limit"},
		{"WaitPinned", "SA_WAIT_PINNED", 1, "of a virtual thread that kept its carrier"},
		{"WaitOpen", "SA_WAIT_OPEN", 2, "it had not ended when the session did"},
		{"WaitTimedOut", "SA_WAIT_TIMED_OUT", 3, "of Object.wait: its time was over"},
		{"WaitSocket", "SA_WAIT_SOCKET", 4, "for a socket or pipe"},
		{"WaitFile", "SA_WAIT_FILE", 5, "for a file or pipe"},
		{"WaitForce", "SA_WAIT_FORCE", 6, "until a file is on the disk"},
	}},
	{Name: "SummaryFlags", Doc: "SummaryFlags qualify a summary.", Flags: []Flag{
		{"SummaryVirtual", "", 0, "on virtual threads; the thread is the carrier, or 0 where it is not known"},
		{"SummaryPart", "", 1, "of executions that nobody submitted, inside those of class `outer`"},
		{"SummaryOuterKnown", "", 2, "the agent knows what class is around its executions: `outer`"},
	}},
}
