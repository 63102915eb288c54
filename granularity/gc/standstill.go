package gc

import "stackagent/internal/units"

// Standstill is how long safepoints stopped all Java threads of the JVM, collections and other reasons alike.
type Standstill struct {
	Safepoints int64    `json:"safepoints"`
	TotalNs    units.Ns `json:"total_ns"` // ReachNs + AtNs
	ReachNs    units.Ns `json:"reach_ns"` // from a request until the last thread stopped
	AtNs       units.Ns `json:"at_ns"`    // from then until the threads were let go
}
