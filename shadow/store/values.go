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
}

// executionColumns are the columns of the executions table, in the order of its schema.
var executionColumns = []bigColumn[Execution]{
	{name: "task_id", wide: true, unsigned: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].TaskID)
		}
		return len(x)
	}},
	{name: "outer_task_id", wide: true, optional: true, unsigned: true, get: func(x []Execution, v []int64, there []byte) int {
		n := 0
		for i := range x {
			v[n], there[i] = int64(x[i].OuterTaskID), 0
			if x[i].OuterTaskID != 0 {
				there[i] = 1
				n++
			}
		}
		return n
	}},
	{name: "class", unsigned: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Class)
		}
		return len(x)
	}},
	{name: "thread", unsigned: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Thread)
		}
		return len(x)
	}},
	{name: "depth", unsigned: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Depth)
		}
		return len(x)
	}},
	{name: "flags", unsigned: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Flags)
		}
		return len(x)
	}},
	{name: "start_ns", wide: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].StartNs)
		}
		return len(x)
	}},
	{name: "wall_ns", wide: true, optional: true, get: func(x []Execution, v []int64, there []byte) int {
		n := 0
		for i := range x {
			v[n], there[i] = int64(x[i].WallNs), 0
			if x[i].WallNs.Measured() {
				there[i] = 1
				n++
			}
		}
		return n
	}},
	{name: "cpu_ns", wide: true, optional: true, get: func(x []Execution, v []int64, there []byte) int {
		n := 0
		for i := range x {
			v[n], there[i] = int64(x[i].CPUNs), 0
			if x[i].CPUNs.Measured() {
				there[i] = 1
				n++
			}
		}
		return n
	}},
	{name: "nested_wall_ns", wide: true, get: func(x []Execution, v []int64, _ []byte) int {
		for i := range x {
			v[i] = 0
			if x[i].WallNs.Measured() {
				v[i] = int64(x[i].WallNs - x[i].SelfWallNs)
			}
		}
		return len(x)
	}},
	{name: "nested_cpu_ns", wide: true, optional: true, get: func(x []Execution, v []int64, there []byte) int {
		n := 0
		for i := range x {
			v[n], there[i] = int64(x[i].CPUNs-x[i].SelfCPUNs), 0
			if x[i].SelfCPUNs.Measured() {
				there[i] = 1
				n++
			}
		}
		return n
	}},
}

// errRow is a row that the table can not hold.
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

// creationColumns are the columns of the creations table, in the order of its schema.
var creationColumns = []bigColumn[Creation]{
	{name: "task_id", wide: true, unsigned: true, get: func(x []Creation, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].TaskID)
		}
		return len(x)
	}},
	{name: "outer_task_id", wide: true, optional: true, unsigned: true, get: func(x []Creation, v []int64, there []byte) int {
		n := 0
		for i := range x {
			v[n], there[i] = int64(x[i].OuterTaskID), 0
			if x[i].OuterTaskID != 0 {
				there[i] = 1
				n++
			}
		}
		return n
	}},
	{name: "class", unsigned: true, get: func(x []Creation, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Class)
		}
		return len(x)
	}},
	{name: "thread", unsigned: true, get: func(x []Creation, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Thread)
		}
		return len(x)
	}},
	{name: "flags", unsigned: true, get: func(x []Creation, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].Flags)
		}
		return len(x)
	}},
	{name: "at_ns", wide: true, get: func(x []Creation, v []int64, _ []byte) int {
		for i := range x {
			v[i] = int64(x[i].AtNs)
		}
		return len(x)
	}},
}
