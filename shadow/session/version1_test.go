package session

import (
	"slices"
	"testing"

	"stackagent/shadow/store"
)

// rowsOf turns chunks back into rows.
func rowsOf(c *Chunk, rows []store.Execution) []store.Execution {
	for i := range c.TaskID {
		rows = append(rows, store.Execution{
			TaskID: c.TaskID[i], OuterTaskID: c.OuterTaskID[i], Class: c.Class[i], Thread: c.Thread[i], Depth: c.Depth[i], Flags: c.Flags[i],
			StartNs: c.StartNs[i], EndNs: c.EndNs[i], WallNs: c.WallNs[i], CPUNs: c.CPUNs[i], SelfWallNs: c.SelfWallNs[i], SelfCPUNs: c.SelfCPUNs[i],
		})
	}
	return rows
}

// testdata/v1 is small as the store wrote it in version 1, with the columns
// end_ns, self_wall_ns and self_cpu_ns; one execution has work of its own kinds.
func TestVersion1(t *testing.T) {
	s, err := Open("testdata/v1")
	if err != nil {
		t.Fatal(err)
	}
	parts := small()
	x := &parts[0].Executions[1]
	x.SelfWallNs, x.CPUNs, x.SelfCPUNs = 90, 80, 75
	want := slices.Concat(parts[0].Executions, parts[1].Executions)

	var got []store.Execution
	if err := s.Executions(func(c *Chunk) error { got = rowsOf(c, got); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
	if !slices.Equal(s.Warnings, []string{noChecksums}) || s.Manifest.Stored.Executions != 7 {
		t.Errorf("warnings %q, stored %+v", s.Warnings, s.Manifest.Stored)
	}
	if _, sum, err := s.Counts(); err != nil || sum.NeverExecuted != 1 || sum.Executions != 7 {
		t.Errorf("counts %+v, %v", sum, err)
	}
}
