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
	// used tells whether rows have a column that is left out otherwise; nil: it
	// is always there.
	used func(x []R) bool
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
	{name: "site", optional: true, unsigned: true, get: narrowOptional(func(x *Execution) uint32 { return x.Site }),
		used: anyRow(func(x *Execution) bool { return x.Site != 0 })},
	{name: "queue_ns", wide: true, optional: true,
		get:  wideOptional(func(x *Execution) (int64, bool) { return int64(x.StartNs - x.SubmittedNs), x.SubmittedNs != 0 }),
		used: anyRow(func(x *Execution) bool { return x.SubmittedNs != 0 })},
}

// narrowOptional and wideOptional make get of a column whose zeros are null.
func narrowOptional[R any](value func(*R) uint32) func([]R, []int64, []byte) int {
	return wideOptional(func(x *R) (int64, bool) {
		v := value(x)
		return int64(v), v != 0
	})
}

func wideOptional[R any](value func(*R) (v int64, there bool)) func([]R, []int64, []byte) int {
	return func(x []R, v []int64, there []byte) int {
		n := 0
		for i := range x {
			value, ok := value(&x[i])
			v[n], there[i] = value, 0
			if ok {
				there[i] = 1
				n++
			}
		}
		return n
	}
}

// plainColumn makes get of a column without nulls.
func plainColumn[R any](value func(*R) int64) func([]R, []int64, []byte) int {
	return func(x []R, v []int64, _ []byte) int {
		for i := range x {
			v[i] = value(&x[i])
		}
		return len(x)
	}
}

// anyRow makes used of a column.
func anyRow[R any](has func(*R) bool) func([]R) bool {
	return func(x []R) bool {
		for i := range x {
			if has(&x[i]) {
				return true
			}
		}
		return false
	}
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
	{name: "site", optional: true, unsigned: true, get: narrowOptional(func(x *Creation) uint32 { return x.Site }),
		used: anyRow(func(x *Creation) bool { return x.Site != 0 })},
}
