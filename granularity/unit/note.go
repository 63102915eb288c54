package unit

import "stackagent/internal/units"

// Note records how well the units of a session are known.
type Note struct {
	// SubmissionsKnown: the session recorded which executions were submitted, and when
	// (an imported trace names executors at most). Otherwise each execution that is not
	// nested in another one counts as a unit with all that is nested in it; nested
	// fork/join tasks count as units of their own.
	SubmissionsKnown bool `json:"hand_overs_known"`
	// SubmissionsSummarised: not one by one, but it is known which classes were submitted.
	SubmissionsSummarised bool `json:"hand_overs_summarised,omitempty"`
	// Undecided is the number of summarised executions of an older agent that count as units, by
	// their class: the summary does not record whether a single one was nested or submitted by itself.
	Undecided int64 `json:"undecided"`
	// Platform is what the JDK did in tasks that the program did not submit: no units.
	Platform PlatformNote `json:"platform"`
}

// PlatformNote is about executions that are no units.
type PlatformNote struct {
	Executions int64    `json:"executions"`
	SelfWall   units.Ns `json:"self_wall_ns"` // as far as measured
	SelfCPU    units.Ns `json:"self_cpu_ns"`  // as far as measured
	Classes    []string `json:"classes"`      // most executions first
}
