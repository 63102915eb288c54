package session

import (
	"reflect"
	"testing"
)

// TestPickRows: each column that a chunk has, or will have, is picked.
func TestPickRows(t *testing.T) {
	var from, to Chunk
	v := reflect.ValueOf(&from).Elem()
	fill := func(column reflect.Value, base int) {
		column.Set(reflect.MakeSlice(column.Type(), 3, 3))
		for i := range 3 {
			if x := column.Index(i); x.CanInt() {
				x.SetInt(int64(base + i))
			} else {
				x.SetUint(uint64(base + i))
			}
		}
	}
	for k := range v.NumField() {
		if f := v.Field(k); f.Type().Elem().Kind() == reflect.Slice {
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
			fill(f.Index(0), 10*k)
		} else {
			fill(f, 10*k)
		}
	}
	pickRows(&to, &from, []int{0, 2})
	got := reflect.ValueOf(to)
	for k := range got.NumField() {
		f := got.Field(k)
		if f.Type().Elem().Kind() == reflect.Slice {
			if f.Len() != 1 {
				t.Fatalf("%s has %d columns", got.Type().Field(k).Name, f.Len())
			}
			f = f.Index(0)
		}
		if f.Len() != 2 {
			t.Errorf("%s has %d rows", got.Type().Field(k).Name, f.Len())
			continue
		}
		for i, want := range []int{10 * k, 10*k + 2} {
			if x := f.Index(i); x.CanInt() && x.Int() != int64(want) || x.CanUint() && x.Uint() != uint64(want) {
				t.Errorf("%s: row %d is %v, want %d", got.Type().Field(k).Name, i, x, want)
			}
		}
	}
	var some Chunk
	some.TaskID = []uint64{1, 2}
	if pickRows(&to, &some, []int{1}); len(to.TaskID) != 1 || to.TaskID[0] != 2 || to.WallNs != nil || len(to.Extra) != 0 {
		t.Errorf("%+v", to)
	}
}
