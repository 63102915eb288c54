package evidence

import (
	"maps"
	"testing"
)

// TestSubmitters: a thread submits a pool's units if it submits nearly all of them, by whatever name of the pool.
func TestSubmitters(t *testing.T) {
	v, task := &submissions{of: map[uint64]int32{}}, uint64(0)
	add := func(pool string, by uint32, outer uint64, n int) {
		for range n {
			task++
			v.add(task, submitted{by: by, pool: pool, outer: outer})
		}
	}
	add("one", 7, 0, 97)
	add("two", 7, 0, 50)
	add("two, wrapped", 7, 0, 50)
	add("several", 7, 0, 90)
	add("one", 8, 99, 3)
	add("several", 9, 99, 10)
	v.add(1, submitted{by: 7, pool: "one"}) // again: still 97 of 100
	if got, want := v.submitters(map[string]string{"two, wrapped": "two"}), map[string]uint32{"one": 7, "two": 7}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if v.of[1] != 0 || len(v.list) != 300 || v.parts != 13 {
		t.Errorf("%d submissions, %d by tasks; want 300, of which 13", len(v.list), v.parts)
	}
	if got := (*submissions)(nil).submitters(nil); len(got) != 0 {
		t.Errorf("%v where too many tasks submit tasks", got)
	}
}
