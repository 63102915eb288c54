package e2e_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// counted is how many tasks were created and how many executions were begun, by class.
type counted map[string][2]uint64

// floodClasses are the classes of which each task is executed once at most.
var floodClasses = []string{"Flood$Direct", "Flood$Pooled", "Flood$Rare", "Flood$Virtual"}

// readCounts reads what testdata/flood has counted itself.
func readCounts(t *testing.T, path string) counted {
	t.Helper()
	const threads, slot = 8, 64
	b, err := os.ReadFile(path)
	if err != nil || len(b) != 2*len(floodClasses)*threads*slot {
		t.Fatalf("the program's own counts: %d bytes, %v", len(b), err)
	}
	c := counted{}
	for i, class := range floodClasses {
		var n [2]uint64
		for k := range n {
			for thread := range threads {
				n[k] += binary.LittleEndian.Uint64(b[((2*i+k)*threads+thread)*slot:])
			}
		}
		c[class] = n
	}
	return c
}

// account is what a session says and holds.
type account struct {
	manifest store.Manifest
	recorded counted // rows of the flood's classes
	all      counted // with what is summarised
	rows     store.Counts
	summed   store.Counts
}

// readRows reads the parts of a table with a Parquet reader that knows nothing
// of sessions.
func readRows[T any](t *testing.T, dir, table string, f func(*T)) {
	t.Helper()
	parts, _ := filepath.Glob(filepath.Join(dir, table+"-*.parquet"))
	for _, part := range parts {
		if err := readPart(part, f); err != nil {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func readPart[T any](part string, f func(*T)) error {
	file, err := os.Open(part)
	if err != nil {
		return err
	}
	defer file.Close()
	r := parquet.NewGenericReader[T](file)
	defer r.Close()
	buf := make([]T, 4096)
	for {
		n, err := r.Read(buf)
		for i := range buf[:n] {
			f(&buf[i])
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readAll reads every page of every column of every part.
func readAll(t *testing.T, dir string) {
	t.Helper()
	parts, _ := filepath.Glob(filepath.Join(dir, "*.parquet"))
	for _, part := range parts {
		if err := readPages(part); err != nil {
			t.Errorf("%s: %v", part, err)
		}
	}
}

func readPages(part string) error {
	file, err := os.Open(part)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	f, err := parquet.OpenFile(file, info.Size())
	if err != nil {
		return err
	}
	for _, group := range f.RowGroups() {
		for i, column := range group.ColumnChunks() {
			n, err := countValues(column.Pages())
			if err != nil || n != group.NumRows() {
				return fmt.Errorf("column %d: %d rows of %d: %w", i, n, group.NumRows(), err)
			}
		}
	}
	return nil
}

func countValues(pages parquet.Pages) (n int64, err error) {
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		n += page.NumRows()
		parquet.Release(page)
	}
}

// Rows as the loop looks at them.
type (
	classRow struct {
		Class uint32 `parquet:"class"`
		Name  string `parquet:"name"`
	}
	executionRow struct {
		TaskID  uint64 `parquet:"task_id"`
		Class   uint32 `parquet:"class"`
		StartNs int64  `parquet:"start_ns"`
	}
	creationRow struct {
		TaskID uint64 `parquet:"task_id"`
		Class  uint32 `parquet:"class"`
		Flags  uint32 `parquet:"flags"`
	}
	summaryRow struct {
		Class      uint32 `parquet:"class"`
		Executions uint64 `parquet:"executions"`
		Creations  uint64 `parquet:"creations"`
		Failed     uint64 `parquet:"failed"`
		Withdrawn  uint64 `parquet:"withdrawn"`
	}
)

func readStoreManifest(t *testing.T, dir string) store.Manifest {
	t.Helper()
	m, err := store.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return *m
}

// readAccount reads a session and checks what holds for every session: no task
// of the flood is executed or created twice, and no task is executed that was
// never created when all creations are recorded one by one.
func readAccount(t *testing.T, dir string, all bool) account {
	t.Helper()
	a := account{recorded: counted{}, all: counted{}, manifest: readStoreManifest(t, dir)}
	names := map[uint32]string{}
	readRows(t, dir, "classes", func(r *classRow) { names[r.Class] = r.Name })
	count := func(c counted, class uint32, kind int, n uint64) {
		x := c[names[class]]
		x[kind] += n
		c[names[class]] = x
	}
	var ran, made []uint64
	readRows(t, dir, "executions", func(r *executionRow) {
		a.rows.Executions++
		count(a.recorded, r.Class, 1, 1)
		if slices.Contains(floodClasses, names[r.Class]) {
			ran = append(ran, r.TaskID)
		}
	})
	readRows(t, dir, "creations", func(r *creationRow) {
		a.rows.Creations++
		if r.Flags&uint32(wire.Failed|wire.Withdrawn) == 0 {
			count(a.recorded, r.Class, 0, 1)
		}
		if slices.Contains(floodClasses, names[r.Class]) {
			made = append(made, r.TaskID)
		}
	})
	for name, n := range a.recorded {
		a.all[name] = n
	}
	readRows(t, dir, "summaries", func(r *summaryRow) {
		a.summed.Executions += r.Executions
		a.summed.Creations += r.Creations + r.Failed + r.Withdrawn
		count(a.all, r.Class, 1, r.Executions)
		count(a.all, r.Class, 0, r.Creations)
	})
	readAll(t, dir)
	unique(t, dir, "executed", ran)
	unique(t, dir, "created", made)
	if all && a.manifest.Lost.Events == 0 && a.manifest.Lost.Batches == 0 {
		for _, id := range ran {
			if _, found := slices.BinarySearch(made, id); !found {
				t.Errorf("%s: task %d was executed and never created", dir, id)
				break
			}
		}
	}
	return a
}

// unique sorts ids and checks that each is there once.
func unique(t *testing.T, dir, what string, ids []uint64) {
	t.Helper()
	slices.Sort(ids)
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] {
			t.Errorf("%s: task %d was %s twice", dir, ids[i], what)
			return
		}
	}
}

// check holds the account against the program's own counts. ended: the JVM
// exited cleanly, and everything must add up exactly; else nothing may be
// in the session that the program did not do.
func (a account) check(t *testing.T, program counted, ended bool) {
	t.Helper()
	m := a.manifest
	if a.rows != m.Stored && (store.Counts{Executions: a.rows.Executions + a.summed.Executions, Creations: a.rows.Creations + a.summed.Creations}) != m.Stored {
		t.Errorf("rows %+v and summarised %+v, but the manifest says stored %+v", a.rows, a.summed, m.Stored)
	}
	missing := uint64(0)
	for class, n := range program {
		for kind, what := range []string{"created", "executed"} {
			got := a.all[class][kind]
			if got > n[kind] {
				t.Errorf("%s: %d %s in the session, %d by the program", class, got, what, n[kind])
				continue
			}
			missing += n[kind] - got
		}
	}
	switch {
	case !ended:
	case missing > m.Lost.Events:
		t.Errorf("%d events are missing, %d are counted as lost: %+v", missing, m.Lost.Events, m.Lost)
	case m.Ended != store.EndedExit:
		t.Errorf("ended %q", m.Ended)
	default:
		a.exact(t)
	}
}

// exact checks produced = recorded + summarised + lost, in sum and by thread.
func (a account) exact(t *testing.T) {
	t.Helper()
	m := a.manifest
	if m.Produced.Sum() != a.rows.Sum()+a.summed.Sum()+m.Lost.Events || m.Lost.Unaccounted != 0 {
		t.Errorf("produced %+v, recorded %+v, summarised %+v, lost %+v", m.Produced, a.rows, a.summed, m.Lost)
	}
	if b := m.Balance; b == nil || b.State != store.BalanceExact {
		text, _ := json.Marshal(b)
		t.Errorf("balance by thread: %s", text)
	}
}

// String is one line for the log.
func (a account) String() string {
	return fmt.Sprintf("%d recorded, %d summarised, %d lost, %d batches missing", a.rows.Sum(), a.summed.Sum(), a.manifest.Lost.Events, a.manifest.Lost.Batches)
}
