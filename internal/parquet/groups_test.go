package parquet

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

type listRow struct {
	ID     int64   `parquet:"id,delta"`
	Name   string  `parquet:"name,dict"`
	Yes    bool    `parquet:"yes"`
	Index  []int32 `parquet:"index,list" parquet-element:",delta"`
	Counts []int64 `parquet:"counts,list" parquet-element:",delta"`
}

var lists = []listRow{
	{1, "a", true, []int32{3, 5}, []int64{9, 8}},
	{2, "b", false, nil, nil},
	{3, "a", true, []int32{7}, []int64{-1}},
}

func grouped(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter[listRow](&b, 5, nil)
	for range 2 {
		if err := errors.Join(w.Write(lists), w.EndGroup()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// readGroups reads all columns of all row groups.
func readGroups(data []byte) (rows []listRow, err error) {
	index, counts := []string{"index", "list", "element"}, []string{"counts", "list", "element"}
	err = Groups(bytes.NewReader(data), int64(len(data)), func(_ *File, groups []*Group) error {
		for _, g := range groups {
			if err := g.Load([]string{"id"}, []string{"name"}, []string{"yes"}, index, counts); err != nil {
				return err
			}
			ids, err1 := g.Int64("id")
			names, err2 := g.Strings("name")
			yes, err3 := g.Bool("yes")
			values, ends, err4 := Lists[int32](g, index...)
			numbers, numberEnds, err5 := Lists[int64](g, counts...)
			if err := errors.Join(err1, err2, err3, err4, err5); err != nil {
				return err
			}
			from, numberFrom := 0, 0
			for i := range ids {
				rows = append(rows, listRow{ids[i], names[i], yes[i], values[from:ends[i]], numbers[numberFrom:numberEnds[i]]})
				from, numberFrom = ends[i], numberEnds[i]
			}
		}
		return nil
	})
	return rows, err
}

func TestGroups(t *testing.T) {
	rows, err := readGroups(grouped(t))
	if err != nil || len(rows) != 2*len(lists) {
		t.Fatal(len(rows), err)
	}
	for i, r := range rows {
		want := lists[i%len(lists)]
		if r.ID != want.ID || r.Name != want.Name || r.Yes != want.Yes || !slices.Equal(r.Index, want.Index) || !slices.Equal(r.Counts, want.Counts) {
			t.Errorf("row %d is %+v, want %+v", i, r, want)
		}
	}
}

func TestGroupsBounds(t *testing.T) {
	data := grouped(t)
	err := Groups(bytes.NewReader(data), int64(len(data)), func(_ *File, groups []*Group) error {
		if low, high, ok := groups[1].Int64Bounds("id"); !ok || low != 1 || high != 3 {
			t.Errorf("ids from %d to %d, %v", low, high, ok)
		}
		if low, high, ok := groups[1].StringBounds("name"); !ok || low != "a" || high != "b" {
			t.Errorf("names from %q to %q, %v", low, high, ok)
		}
		if _, _, ok := groups[0].Int64Bounds("name"); ok {
			t.Error("numbers of a column of strings")
		}
		if _, err := groups[0].Int64("name"); !errors.Is(err, ErrDamaged) {
			t.Errorf("a column of another type: %v", err)
		}
		if err := groups[0].Load([]string{"none"}); !errors.Is(err, ErrDamaged) {
			t.Errorf("a column that is not there: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestGroupsFlipped: a file with any one byte changed gives rows or an error.
func TestGroupsFlipped(t *testing.T) {
	data := grouped(t)
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x41
		readGroups(bad)
		readGroups(data[:i])
	}
}

func FuzzGroups(f *testing.F) {
	f.Add(grouped(f))
	f.Fuzz(func(_ *testing.T, data []byte) { readGroups(data) })
}
