package parquet

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
)

type row struct {
	ID   int64  `parquet:"id,delta"`
	Kind int32  `parquet:"kind,delta"`
	Name string `parquet:"name"`
}

func written(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, []row{{1, 7, "a"}, {2, 8, "b"}, {3, 9, "c"}}, 5, []KeyValue{{Key: "key", Value: "value"}}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(data []byte, use func(*File) error) error {
	return Read(bytes.NewReader(data), int64(len(data)), use)
}

func TestWriteRead(t *testing.T) {
	err := read(written(t), func(f *File) error {
		if v, ok := f.Lookup("key"); !ok || v != "value" {
			t.Errorf("key is %q", v)
		}
		var names []string
		if err := EachRow(f, func(r *row) error { names = append(names, r.Name); return nil }); err != nil {
			return err
		}
		if !slices.Equal(names, []string{"a", "b", "c"}) {
			t.Errorf("names %q", names)
		}
		c := ReadColumns(f, 3)
		if ids, kinds := c.Int64("id"), c.Int32("kind"); !slices.Equal(ids, []int64{1, 2, 3}) || !slices.Equal(kinds, []int32{7, 8, 9}) {
			t.Errorf("columns %v, %v", ids, kinds)
		}
		return c.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestColumnsRefuse(t *testing.T) {
	for name, use := range map[string]func(*File) error{
		"too long":    func(f *File) error { c := ReadColumns(f, 2); c.Int64("id"); return c.Err() },
		"other type":  func(f *File) error { c := ReadColumns(f, 3); c.Int32("id"); return c.Err() },
		"no column":   func(f *File) error { c := ReadColumns(f, 3); c.Int64("none"); return c.Err() },
		"the library": func(*File) error { panic("no sense") },
	} {
		if err := read(written(t), use); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	stop := errors.New("stop")
	if err := read(written(t), func(f *File) error { return EachRow(f, func(*row) error { return stop }) }); err != stop {
		t.Errorf("the caller's error became %v", err)
	}
}

// Whatever the bytes, reading ends with rows or an error.
func FuzzRead(f *testing.F) {
	f.Add(written(f))
	f.Add([]byte("PAR1"))
	var long bytes.Buffer
	if err := Write(&long, []row{{1, 7, strings.Repeat("n", 65_535)}}, 5, nil); err != nil {
		f.Fatal(err)
	}
	f.Add(long.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		read(data, func(f *File) error {
			if err := EachRow(f, func(*row) error { return nil }); err != nil {
				return err
			}
			c := ReadColumns(f, 100)
			c.Int64("id")
			c.Int32("kind")
			return c.Err()
		})
	})
}
