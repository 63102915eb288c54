package store

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
)

var executionSpecs = []columnSpec{
	{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
	{"depth", false, false}, {"flags", false, false}, {"start_ns", true, false}, {"end_ns", true, true},
	{"wall_ns", true, true}, {"cpu_ns", true, true}, {"self_wall_ns", true, true}, {"self_cpu_ns", true, true},
}

var creationSpecs = []columnSpec{
	{"task_id", true, false}, {"outer_task_id", true, true}, {"class", false, false}, {"thread", false, false},
	{"flags", false, false}, {"at_ns", true, false},
}

// ReadExecutions streams the executions in the order of the batches. An error
// of use ends the reading and is returned; damaged parts are skipped and listed.
func (f *Folder) ReadExecutions(use func(*ExecutionColumns) error) (bad []*PartError, err error) {
	var c ExecutionColumns
	return f.each(Executions, func(pf *parquet.File, done *int64) error {
		return eachRun(pf, executionSpecs, done, func(cols []column, n int) error {
			if err := c.fill(cols, n); err != nil {
				return err
			}
			return callersError(use(&c))
		})
	})
}

// CountThreads counts the executions of each thread; it reads that column only.
func (f *Folder) CountThreads() (map[uint32]int64, []*PartError) {
	counts := map[uint32]int64{}
	buf := make([]uint32, readRows)
	bad, _ := f.each(Executions, func(pf *parquet.File, done *int64) error {
		return eachRun(pf, []columnSpec{{"thread", false, false}}, done, func(cols []column, n int) error {
			if err := read32(&cols[0], buf[:n]); err != nil {
				return err
			}
			countRuns(counts, buf[:n])
			return nil
		})
	})
	return counts, bad
}

// countRuns counts with one map access per run of equal ids.
func countRuns(counts map[uint32]int64, ids []uint32) {
	start := 0
	for i := range ids {
		if ids[i] != ids[start] {
			counts[ids[start]] += int64(i - start)
			start = i
		}
	}
	if len(ids) > 0 {
		counts[ids[start]] += int64(len(ids) - start)
	}
}

// ReadCreations streams the creations likewise.
func (f *Folder) ReadCreations(use func(*CreationColumns) error) (bad []*PartError, err error) {
	var c CreationColumns
	return f.each(Creations, func(pf *parquet.File, done *int64) error {
		return eachRun(pf, creationSpecs, done, func(cols []column, n int) error {
			if err := c.fill(cols, n); err != nil {
				return err
			}
			return callersError(use(&c))
		})
	})
}

func callersError(err error) error {
	if err == nil {
		return nil
	}
	return stopError{err}
}

// eachRun goes through the row groups of a part in runs of at most readRows.
func eachRun(pf *parquet.File, specs []columnSpec, done *int64, use func([]column, int) error) error {
	for _, g := range pf.RowGroups() {
		cols, err := openColumns(pf, g, specs)
		if err != nil {
			return err
		}
		err = runs(cols, g.NumRows(), done, use)
		for i := range cols {
			cols[i].close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func runs(cols []column, rows int64, done *int64, use func([]column, int) error) error {
	if rows < 0 {
		return fmt.Errorf("a row group of %d rows", rows)
	}
	for rows > 0 {
		n := int(min(rows, readRows))
		if err := use(cols, n); err != nil {
			return err
		}
		*done += int64(n)
		rows -= int64(n)
	}
	return nil
}

func (c *ExecutionColumns) fill(cols []column, n int) error {
	c.resize(n)
	return errors.Join(
		read64(&cols[0], c.TaskID, 0), read64(&cols[1], c.OuterTaskID, 0),
		read32(&cols[2], c.Class), read32(&cols[3], c.Thread),
		read32(&cols[4], c.Depth), read32(&cols[5], c.Flags),
		read64(&cols[6], c.StartNs, 0), read64(&cols[7], c.EndNs, 0),
		read64(&cols[8], c.WallNs, units.NotMeasured), read64(&cols[9], c.CPUNs, units.NotMeasured),
		read64(&cols[10], c.SelfWallNs, units.NotMeasured), read64(&cols[11], c.SelfCPUNs, units.NotMeasured),
	)
}

func (c *CreationColumns) fill(cols []column, n int) error {
	c.resize(n)
	return errors.Join(
		read64(&cols[0], c.TaskID, 0), read64(&cols[1], c.OuterTaskID, 0),
		read32(&cols[2], c.Class), read32(&cols[3], c.Thread),
		read32(&cols[4], c.Flags), read64(&cols[5], c.AtNs, 0),
	)
}

// resize gives all columns n rows; a run after the first allocates nothing.
func (c *ExecutionColumns) resize(n int) {
	if cap(c.TaskID) < n {
		*c = ExecutionColumns{
			TaskID: make([]uint64, n), OuterTaskID: make([]uint64, n), Class: make([]uint32, n), Thread: make([]uint32, n),
			Depth: make([]uint16, n), Flags: make([]uint16, n), StartNs: make([]units.MonoNs, n), EndNs: make([]units.MonoNs, n),
			WallNs: make([]units.Ns, n), CPUNs: make([]units.Ns, n), SelfWallNs: make([]units.Ns, n), SelfCPUNs: make([]units.Ns, n),
		}
		return
	}
	c.TaskID, c.OuterTaskID, c.Class, c.Thread = c.TaskID[:n], c.OuterTaskID[:n], c.Class[:n], c.Thread[:n]
	c.Depth, c.Flags, c.StartNs, c.EndNs = c.Depth[:n], c.Flags[:n], c.StartNs[:n], c.EndNs[:n]
	c.WallNs, c.CPUNs, c.SelfWallNs, c.SelfCPUNs = c.WallNs[:n], c.CPUNs[:n], c.SelfWallNs[:n], c.SelfCPUNs[:n]
}

func (c *CreationColumns) resize(n int) {
	if cap(c.TaskID) < n {
		*c = CreationColumns{
			TaskID: make([]uint64, n), OuterTaskID: make([]uint64, n), Class: make([]uint32, n),
			Thread: make([]uint32, n), Flags: make([]uint16, n), AtNs: make([]units.MonoNs, n),
		}
		return
	}
	c.TaskID, c.OuterTaskID, c.Class = c.TaskID[:n], c.OuterTaskID[:n], c.Class[:n]
	c.Thread, c.Flags, c.AtNs = c.Thread[:n], c.Flags[:n], c.AtNs[:n]
}
