package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"

	"stackagent/internal/sessionfs"
)

// TestRemote: of a session that is far away, a large part is not read whole to compare its checksum. Damage of a column shows
// when that is read, and Verify finds it wherever it is.
func TestRemote(t *testing.T) {
	w := openWriter(t, t.TempDir())
	commit(t, w, sample(1, 1, 60_000))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	far := fstest.MapFS{}
	if err := fs.WalkDir(os.DirFS(w.Dir()), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(w.Dir(), name))
		far["s/"+name] = &fstest.MapFile{Data: data}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	sessionfs.Mount("s3:/store-test", far)
	const dir = "s3:/store-test/s"
	open := func(damaged bool) *Folder {
		t.Helper()
		f, _, err := OpenSession(dir, damaged)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := open(false)
	rows, bad := scanned(t, f, AllColumns, 2)
	if len(rows) != 60_000 || bad != nil || f.Verify() != nil {
		t.Fatalf("%d rows, %v, %v", len(rows), bad, f.Verify())
	}

	part := far["s/"+PartName(Executions, 1, 1)]
	if len(part.Data) <= sessionfs.SmallBytes {
		t.Fatalf("the part has %d bytes, which is not large", len(part.Data))
	}
	whole := slices.Clone(part.Data)
	part.Data[len(part.Data)/2] ^= 1
	hurt := 0
	for column := range 12 {
		f := open(false)
		_, err := f.ScanExecutions(1<<column, 1, func(int, *ExecutionColumns) error { return nil })
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Errorf("column %d: %v", column, err)
		}
		if err != nil {
			hurt++
		}
	}
	if hurt == 0 || hurt == 12 { // some columns are stored as the difference to another one
		t.Errorf("%d of 12 columns are damaged, want the one whose page is and those that need it", hurt)
	}
	if err := open(false).Verify(); !errors.Is(err, ErrDamaged) {
		t.Errorf("verified: %v", err)
	}

	part.Data = whole[:len(whole)-1]
	if _, err := open(false).ScanExecutions(1, 1, func(int, *ExecutionColumns) error { return nil }); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a part of another size: %v", err)
	}
	part.Data = whole
	small := 0
	for name, file := range far {
		table, _, ok := ParsePartName(filepath.Base(name))
		if !ok || len(file.Data) > sessionfs.SmallBytes {
			continue
		}
		small++
		file.Data[5] ^= 1
		if err := readAllOf(open(false), table); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		file.Data[5] ^= 1
	}
	if small == 0 {
		t.Error("no part is small")
	}
}

func readAllOf(f *Folder, t Table) error {
	_, err := f.each(t, func(*parquet.File, *int64) error { return nil })
	return err
}
