// Package budget says whether the figures of sessions keep what was promised: `queue_ns.p99 < 50ms`,
// `class("com.acme.*").cpu_ns.max <= 1.1 * baseline.class("com.acme.*").cpu_ns.max`. Names are those of the JSON of
// `shadow stats`. internal/expression parses the expressions, by go/parser; this package knows names, units and baselines.
//
// A figure that a session does not have is neither a kept nor a broken promise: the result says that it is not available, and
// why, and the check fails.
package budget

// Limits on what a file or a command line may hold.
const (
	maxBytes     = 1 << 20 // of a file
	maxBudgets   = 500
	maxText      = 500  // bytes of a name or a reason
	maxValues    = 1000 // runs of a figure in a baseline
	maxFigures   = 2000 // of a baseline
	maxSelectors = 100  // different ones in all expressions: each may read every session once
)
