package evidence

import (
	"maps"
	"testing"
)

// TestSubmitters: a thread submits a pool's units if it submits nearly all of them, by whatever name of the pool.
func TestSubmitters(t *testing.T) {
	v := &submissions{outside: map[uint64]*submitted{}}
	add := func(pool string, by uint32, n int) {
		for range n {
			v.outside[uint64(len(v.outside))] = &submitted{by: by, pool: pool}
		}
	}
	add("one", 7, 97)
	add("two", 7, 50)
	add("two, wrapped", 7, 50)
	add("several", 7, 90)
	v.parts = []part{{pool: "one", by: 8}, {pool: "one", by: 8}, {pool: "one", by: 8}}
	for range 10 {
		v.parts = append(v.parts, part{pool: "several", by: 9})
	}
	if got, want := v.submitters(map[string]string{"two, wrapped": "two"}), map[string]uint32{"one": 7, "two": 7}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := (*submissions)(nil).submitters(nil); len(got) != 0 {
		t.Errorf("%v where too many tasks submit tasks", got)
	}
}
