package store

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"stackagent/internal/units"
)

// scanned is what a scan gives, in the order of the tasks.
func scanned(t *testing.T, f *Folder, want Columns, workers int) (rows []Execution, bad []*PartError) {
	t.Helper()
	var mu sync.Mutex
	bad, err := f.ScanExecutions(want, workers, func(worker int, c *ExecutionColumns) error {
		if worker < 0 || worker >= workers {
			t.Errorf("worker %d of %d", worker, workers)
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Class {
			x := Execution{Class: c.Class[i]}
			put(&x.TaskID, c.TaskID, i)
			put(&x.OuterTaskID, c.OuterTaskID, i)
			put(&x.Thread, c.Thread, i)
			put(&x.Depth, c.Depth, i)
			put(&x.Flags, c.Flags, i)
			put(&x.StartNs, c.StartNs, i)
			put(&x.EndNs, c.EndNs, i)
			for to, from := range map[*units.Ns][]units.Ns{&x.WallNs: c.WallNs, &x.CPUNs: c.CPUNs, &x.SelfWallNs: c.SelfWallNs, &x.SelfCPUNs: c.SelfCPUNs} {
				put(to, from, i)
			}
			rows = append(rows, x)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(rows, func(a, b Execution) int { return cmp.Compare(a.TaskID, b.TaskID) })
	return rows, bad
}

// put takes a value of a column that was read.
func put[T any](to *T, column []T, i int) {
	if len(column) > 0 {
		*to = column[i]
	}
}

// TestScan: a scan gives what a reading gives, whatever the workers, and of
// columns that are not wanted nothing.
func TestScan(t *testing.T) {
	w := openWriter(t, t.TempDir())
	commit(t, w, sample(1, 1, 20_000), sample(2, 2, 50), sample(3, 3, 1000))
	all, made, _ := readAll(t, w.Dir())
	slices.SortFunc(all, func(a, b Execution) int { return cmp.Compare(a.TaskID, b.TaskID) })
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	for _, workers := range []int{1, 2, 7} {
		if got, bad := scanned(t, f, AllColumns, workers); !slices.Equal(got, all) || bad != nil {
			t.Errorf("%d workers: %d rows, damage %v; want %d rows as they were read", workers, len(got), bad, len(all))
		}
	}
	got, _ := scanned(t, f, ExecutionTaskID|ExecutionClass|ExecutionSelfCPU, 2)
	for i, x := range all {
		if want := (Execution{TaskID: x.TaskID, Class: x.Class, SelfCPUNs: x.SelfCPUNs}); got[i] != want {
			t.Fatalf("row %d of some columns: %+v, want %+v", i, got[i], want)
		}
	}
	creations := 0
	_, err = f.ScanCreations(CreationClass|CreationFlags, 1, func(_ int, c *CreationColumns) error {
		creations += len(c.Class)
		if len(c.TaskID)+len(c.AtNs) != 0 || len(c.Flags) != len(c.Class) {
			t.Errorf("%d ids, %d times of %d creations", len(c.TaskID), len(c.AtNs), len(c.Class))
		}
		return nil
	})
	if err != nil || creations != len(made) {
		t.Errorf("%d creations, %v; want %d", creations, err, len(made))
	}
}

// TestScansOfDamageAgree: a scan that met damage keeps the later ones, whose
// columns are whole, from giving more rows.
func TestScansOfDamageAgree(t *testing.T) {
	w := openWriter(t, t.TempDir())
	commit(t, w, sample(1, 1, 500), sample(2, 2, 60_000))
	path := filepath.Join(w.Dir(), PartName(Executions, 2, 2))
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := len(data) / 3; i < len(data)/3+50; i++ {
		data[i] ^= 0x5a // in the middle of a column
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	first, bad := scanned(t, f, AllColumns, 2)
	if len(bad) != 1 || len(first) >= 60_500 || len(first) < 500 {
		t.Fatalf("%d rows, damage %v", len(first), bad)
	}
	for column := range 12 {
		got, bad := scanned(t, f, ExecutionClass|1<<column, 2)
		if len(got) > len(first) || len(bad) != 1 {
			t.Errorf("column %d alone: %d rows, damage %v; all columns gave %d", column, len(got), bad, len(first))
		}
	}
}

// TestScanStops: an error of the caller ends the scan, and is no damage.
func TestScanStops(t *testing.T) {
	w := openWriter(t, t.TempDir())
	commit(t, w, sample(1, 1, 10), sample(2, 2, 10), sample(3, 3, 10))
	f, err := OpenFolder(w.Dir())
	if err != nil {
		t.Fatal(err)
	}
	stop, calls := errors.New("enough"), 0
	bad, err := f.ScanExecutions(ExecutionClass, 1, func(int, *ExecutionColumns) error { calls++; return stop })
	if !errors.Is(err, stop) || calls != 1 || bad != nil {
		t.Errorf("err %v after %d calls, damage %v", err, calls, bad)
	}
	if rows, bad := scanned(t, f, AllColumns, 2); len(rows) != 30 || bad != nil {
		t.Errorf("%d rows after that, damage %v; want 30", len(rows), bad)
	}
}
