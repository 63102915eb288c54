package store

import (
	"errors"
	"fmt"

	"stackagent/internal/units"
)

// bigColumn is a column of one of the big tables.
type bigColumn[R any] struct {
	name     string
	wide     bool // 64 bits, otherwise 32
	optional bool // may be null
	unsigned bool // in comparisons
	// get puts the values that are not null at the beginning of v, as long as
	// x, and returns how many; in there, for an optional column, 1 for each
	// value and 0 for each null.
	get func(x []R, v []int64, there []byte) int
	// used reports whether rows have a column that is left out otherwise; nil: it
	// is always there.
	used func(x []R) bool
}

// nestedWall is the wall time in executions directly inside; 0 while running.
func nestedWall(x *Execution) int64 {
	if !x.WallNs.Measured() {
		return 0
	}
	return int64(x.WallNs - x.SelfWallNs)
}

// nestedCPU is the CPU time in executions directly inside.
func nestedCPU(x *Execution) (int64, bool) {
	return int64(x.CPUNs - x.SelfCPUNs), x.SelfCPUNs.Measured()
}

// queueTime is the time to the start from the latest submission, or from when the task was due.
func queueTime(x *Execution) (int64, bool) {
	return int64(x.StartNs - max(x.SubmittedNs, x.DueNs)), x.SubmittedNs != 0 || x.DueNs != 0
}

// delay is the time from the latest submission to when the task was due.
func delay(x *Execution) (int64, bool) {
	return int64(x.DueNs - x.SubmittedNs), x.SubmittedNs != 0 && x.DueNs != 0
}

// late is the time from when the task was due to its latest submission.
func late(x *Execution) (int64, bool) {
	return int64(x.SubmittedNs - x.DueBeforeNs), x.SubmittedNs != 0 && x.DueBeforeNs != 0
}

// errRow is a row that the table cannot hold.
var errRow = errors.New("an end that is not start + wall, or self work without work")

// check refuses a row whose derived columns would not come back as they are.
func (x *Execution) check() error {
	running := x.EndNs == 0 && !x.WallNs.Measured() && !x.SelfWallNs.Measured()
	ended := x.WallNs.Measured() && x.SelfWallNs.Measured() && x.EndNs == x.StartNs+units.MonoNs(x.WallNs)
	if !running && !ended || x.SelfCPUNs.Measured() && !x.CPUNs.Measured() {
		return fmt.Errorf("execution of task %d: %w", x.TaskID, errRow)
	}
	return nil
}
