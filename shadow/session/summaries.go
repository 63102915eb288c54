package session

import (
	"stackagent/internal/loglinear"
	"stackagent/internal/units"
	"stackagent/internal/wire"
)

// Summary stands for the executions and creations of one class in one thread
// and interval that came too fast to be recorded one by one. They are not
// among Executions and Creations.
type Summary struct {
	Class, Thread uint32
	Flags         wire.SummaryFlags
	FromNs, ToNs  units.MonoNs

	Executions, First, Threw, Cut, CreationUnseen uint64 // see wire.Summary
	Creations, Failed, Withdrawn                  uint64

	Measures []Measure
}

// Measure is one work metric of a summary's executions. Count, SumNs and the
// extremes are exact; single values are known to loglinear.RelativeError.
type Measure struct {
	Metric       wire.Metric
	Count        uint64
	SumNs        units.Ns
	MinNs, MaxNs units.Ns           // over all that the thread's cell has counted until ToNs
	Buckets      []loglinear.Bucket // ascending, none empty
}
