package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/units"
)

// The Parquet library reads, row by row, what the column writer wrote: extreme
// values, nulls in all, some and no rows, pages and row groups that end in
// between; and the statistics hold.
func TestBigWriterAgainstTheLibrary(t *testing.T) {
	const n = 2*pageRows + 7
	rows := make([]Execution, n)
	for i := range rows {
		x := &rows[i]
		*x = Execution{TaskID: uint64(i) << 47, OuterTaskID: uint64(i % 3), Class: ^uint32(0) - uint32(i%2), Depth: ^uint16(0),
			StartNs: units.MonoNs(-i), EndNs: -5, WallNs: units.Ns(i - 5), CPUNs: units.NotMeasured, SelfWallNs: -1 << 62, SelfCPUNs: units.NotMeasured}
		if i >= pageRows { // the first page is all null, the others have none
			x.CPUNs, x.SelfCPUNs = units.Ns(3*i), units.Ns(2*i)
		}
	}
	e, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.encode(&out, Executions, &Part{Executions: rows}, nil); err != nil {
		t.Fatal(err)
	}
	type row struct {
		TaskID      uint64  `parquet:"task_id"`
		OuterTaskID *uint64 `parquet:"outer_task_id"`
		Class       uint32  `parquet:"class"`
		Depth       uint16  `parquet:"depth"`
		StartNs     int64   `parquet:"start_ns"`
		WallNs      *int64  `parquet:"wall_ns"`
		CPUNs       *int64  `parquet:"cpu_ns"`
		NestedWall  int64   `parquet:"nested_wall_ns"`
		NestedCPU   *int64  `parquet:"nested_cpu_ns"`
	}
	got, err := parquet.Read[row](bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil || len(got) != n {
		t.Fatalf("%d rows, %v; want %d", len(got), err, n)
	}
	is := func(p *int64, v int64, there bool) bool { return (p != nil) == there && (p == nil || *p == v) }
	for i, g := range got {
		x := &rows[i]
		outer := (g.OuterTaskID != nil) == (x.OuterTaskID != 0) && (g.OuterTaskID == nil || *g.OuterTaskID == x.OuterTaskID)
		if g.TaskID != x.TaskID || !outer || g.Class != x.Class || g.Depth != x.Depth || g.StartNs != int64(x.StartNs) ||
			!is(g.WallNs, int64(x.WallNs), true) || !is(g.CPUNs, int64(x.CPUNs), i >= pageRows) ||
			g.NestedWall != int64(x.WallNs-x.SelfWallNs) || !is(g.NestedCPU, int64(i), i >= pageRows) {
			t.Fatalf("row %d: %+v, want %+v", i, g, *x)
		}
	}
	checkStatistics(t, out.Bytes(), n)
}

func checkStatistics(t *testing.T, data []byte, n int) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	cols := f.Metadata().RowGroups[0].Columns
	ids, class, nested := cols[0].MetaData.Statistics, cols[2].MetaData.Statistics, cols[10].MetaData.Statistics
	if got, want := binary.LittleEndian.Uint64(ids.MaxValue), uint64(n-1)<<47; got != want { // the highest bit is set
		t.Errorf("greatest id %#x, want %#x", got, want)
	}
	if low, high := binary.LittleEndian.Uint32(class.MinValue), binary.LittleEndian.Uint32(class.MaxValue); low != 1<<32-2 || high != 1<<32-1 {
		t.Errorf("classes from %#x to %#x", low, high)
	}
	if nested.NullCount != pageRows || binary.LittleEndian.Uint64(nested.MinValue) != pageRows {
		t.Errorf("nested CPU: %d nulls, from %d", nested.NullCount, binary.LittleEndian.Uint64(nested.MinValue))
	}
}

// A row that would not come back as it is is refused.
func TestRowsThatDoNotHold(t *testing.T) {
	none := units.NotMeasured
	for name, x := range map[string]struct {
		row Execution
		ok  bool
	}{
		"running":             {Execution{StartNs: 5, WallNs: none, CPUNs: none, SelfWallNs: none, SelfCPUNs: none}, true},
		"running, CPU":        {Execution{StartNs: 5, WallNs: none, CPUNs: 3, SelfWallNs: none, SelfCPUNs: 2}, true},
		"ended":               {Execution{StartNs: 5, EndNs: 9, WallNs: 4, CPUNs: 3, SelfWallNs: 4, SelfCPUNs: none}, true},
		"another end":         {Execution{StartNs: 5, EndNs: 9, WallNs: 5, CPUNs: 3, SelfWallNs: 4}, false},
		"an end without wall": {Execution{StartNs: 5, EndNs: 9, WallNs: none, CPUNs: 3, SelfWallNs: none}, false},
		"no self wall":        {Execution{StartNs: 5, EndNs: 9, WallNs: 4, CPUNs: 3, SelfWallNs: none}, false},
		"self CPU alone":      {Execution{StartNs: 5, EndNs: 9, WallNs: 4, CPUNs: none, SelfWallNs: 4}, false},
	} {
		if err := x.row.check(); (err == nil) != x.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every set of columns gives the columns asked for, and no others.
func TestScanOfColumns(t *testing.T) {
	root := t.TempDir()
	w, p := openWriter(t, root), sample(1, 1, 1000)
	odd := &p.Executions[7]
	odd.EndNs, odd.WallNs, odd.SelfWallNs, odd.SelfCPUNs = 0, units.NotMeasured, units.NotMeasured, units.NotMeasured
	commit(t, w, p)
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for want := Columns(0); want < 1<<12; want += 7 {
		bad, err := f.ScanExecutions(want, 1, func(_ int, c *ExecutionColumns) error {
			sameColumn(t, want, ExecutionTaskID, c.TaskID, p.Executions, func(x *Execution) uint64 { return x.TaskID })
			sameColumn(t, want, ExecutionOuter, c.OuterTaskID, p.Executions, func(x *Execution) uint64 { return x.OuterTaskID })
			sameColumn(t, want, ExecutionClass, c.Class, p.Executions, func(x *Execution) uint32 { return x.Class })
			sameColumn(t, want, ExecutionThread, c.Thread, p.Executions, func(x *Execution) uint32 { return x.Thread })
			sameColumn(t, want, ExecutionDepth, c.Depth, p.Executions, func(x *Execution) uint16 { return x.Depth })
			sameColumn(t, want, ExecutionFlags, c.Flags, p.Executions, func(x *Execution) uint16 { return x.Flags })
			sameColumn(t, want, ExecutionStart, c.StartNs, p.Executions, func(x *Execution) units.MonoNs { return x.StartNs })
			sameColumn(t, want, ExecutionEnd, c.EndNs, p.Executions, func(x *Execution) units.MonoNs { return x.EndNs })
			sameColumn(t, want, ExecutionWall, c.WallNs, p.Executions, func(x *Execution) units.Ns { return x.WallNs })
			sameColumn(t, want, ExecutionCPU, c.CPUNs, p.Executions, func(x *Execution) units.Ns { return x.CPUNs })
			sameColumn(t, want, ExecutionSelfWall, c.SelfWallNs, p.Executions, func(x *Execution) units.Ns { return x.SelfWallNs })
			sameColumn(t, want, ExecutionSelfCPU, c.SelfCPUNs, p.Executions, func(x *Execution) units.Ns { return x.SelfCPUNs })
			return nil
		})
		if err != nil || len(bad) != 0 || t.Failed() {
			t.Fatalf("columns %b: %v, damaged %v", want, err, bad)
		}
	}
}

func sameColumn[T comparable](t *testing.T, want, column Columns, got []T, rows []Execution, value func(*Execution) T) {
	t.Helper()
	if want&column == 0 {
		if len(got) != 0 {
			t.Errorf("columns %b: %d values of column %b", want, len(got), column)
		}
		return
	}
	if len(got) != len(rows) {
		t.Errorf("columns %b: %d values of column %b", want, len(got), column)
		return
	}
	for i := range rows {
		if v := value(&rows[i]); got[i] != v {
			t.Errorf("columns %b: row %d of column %b is %v, want %v", want, i, column, got[i], v)
			return
		}
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// A write that fails is reported, and the writer serves the next part.
func TestBigWriterAfterAFailure(t *testing.T) {
	root := t.TempDir()
	w, p := openWriter(t, root), sample(1, 1, 5000)
	err := withEncoder(func(e *encoder) error { return e.encode(&fullDisk{left: 10_000}, Executions, p, nil) })
	if !errors.Is(err, io.ErrShortWrite) {
		t.Fatalf("writing to a full disk: %v", err)
	}
	commit(t, w, p)
	if rows, _, bad := readAll(t, w.Dir()); len(rows) != 5000 || len(bad) != 0 {
		t.Errorf("%d rows, damage %v", len(rows), bad)
	}
	if _, err := os.Stat(filepath.Join(w.Dir(), PartName(Executions, 1, 1))); err != nil {
		t.Error(err)
	}
}
