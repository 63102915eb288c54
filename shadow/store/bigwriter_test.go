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
			StartNs: units.MonoNs(-i), WallNs: units.Ns(i - 5), CPUNs: units.NotMeasured, SelfWallNs: -1 << 62, SelfCPUNs: units.NotMeasured}
		if i >= pageRows { // the first page is all null, the others have none
			x.SelfCPUNs = units.Ns(i)
		}
	}
	e, err := newEncoder()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := e.encode(&out, Executions, &Part{Executions: rows}); err != nil {
		t.Fatal(err)
	}
	type row struct {
		TaskID      uint64  `parquet:"task_id"`
		OuterTaskID *uint64 `parquet:"outer_task_id"`
		Class       uint32  `parquet:"class"`
		Depth       uint16  `parquet:"depth"`
		StartNs     int64   `parquet:"start_ns"`
		EndNs       *int64  `parquet:"end_ns"`
		WallNs      *int64  `parquet:"wall_ns"`
		CPUNs       *int64  `parquet:"cpu_ns"`
		SelfWallNs  *int64  `parquet:"self_wall_ns"`
		SelfCPUNs   *int64  `parquet:"self_cpu_ns"`
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
			!is(g.EndNs, 0, false) || !is(g.WallNs, int64(x.WallNs), true) || !is(g.CPUNs, 0, false) ||
			!is(g.SelfWallNs, -1<<62, true) || !is(g.SelfCPUNs, int64(x.SelfCPUNs), i >= pageRows) {
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
	ids, class, ends, self := cols[0].MetaData.Statistics, cols[2].MetaData.Statistics, cols[7].MetaData.Statistics, cols[11].MetaData.Statistics
	if got, want := binary.LittleEndian.Uint64(ids.MaxValue), uint64(n-1)<<47; got != want { // the highest bit is set
		t.Errorf("greatest id %#x, want %#x", got, want)
	}
	if low, high := binary.LittleEndian.Uint32(class.MinValue), binary.LittleEndian.Uint32(class.MaxValue); low != 1<<32-2 || high != 1<<32-1 {
		t.Errorf("classes from %#x to %#x", low, high)
	}
	if ends.NullCount != int64(n) || ends.MinValue != nil {
		t.Errorf("ends: %+v, want nulls only", ends)
	}
	if self.NullCount != pageRows || binary.LittleEndian.Uint64(self.MinValue) != pageRows {
		t.Errorf("self CPU: %d nulls, from %d", self.NullCount, binary.LittleEndian.Uint64(self.MinValue))
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.left -= len(b); d.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// A write that fails is told, and the writer serves the next part.
func TestBigWriterAfterAFailure(t *testing.T) {
	root := t.TempDir()
	w, p := openWriter(t, root), sample(1, 1, 5000)
	if err := w.enc.encode(&fullDisk{left: 10_000}, Executions, p); !errors.Is(err, io.ErrShortWrite) {
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
