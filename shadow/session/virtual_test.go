package session

import (
	"fmt"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// The last row of an id counts, also where an id changes what it is; and what
// comes out is what went in.
func TestVirtuals(t *testing.T) {
	var v virtuals
	var words interner
	row := func(id uint32, name string, end *int64) *store.Thread {
		return &store.Thread{ID: id, JavaID: int64(id) + 20, Name: name, Group: fmt.Sprint("g", id%3), Class: "java.lang.VirtualThread",
			Daemon: id%2 == 0, Virtual: true, StartNs: ptr(int64(id)), EndNs: end, CPUNs: end}
	}
	const n = 3*blockRows + 5
	for id := uint32(n); id > 0; id-- { // in no order that an index would like
		v.add(row(id, "", nil), &words)
	}
	for id := uint32(1); id <= n; id += 2 {
		v.add(row(id, fmt.Sprint("v", id), ptr(int64(id)+7)), &words)
	}
	v.add(row(1<<32-1, "last", nil), &words) // of an agent that gives out any ids
	v.remove(4)
	v.remove(4)
	v.remove(6)
	v.add(row(6, "again", nil), &words)
	if v.live != n || v.has(4) || v.byID(4) != nil || v.byID(n+1) != nil || len(v.index.sparse) != 1 {
		t.Errorf("%d live, want %d; %d ids in the map", v.live, n, len(v.index.sparse))
	}
	seen := 0
	v.each(func(x *Thread) {
		seen++
		want := Thread{ID: x.ID, JavaID: int64(x.ID) + 20, Group: fmt.Sprint("g", x.ID%3), Class: "java.lang.VirtualThread", Kind: KindApplication,
			Daemon: x.ID%2 == 0, Virtual: true, StartNs: units.MonoNs(x.ID), CPU: units.NotMeasured}
		switch {
		case x.ID == 6:
			want.Name = "again"
		case x.ID == 1<<32-1:
			want.Name = "last"
		case x.ID%2 == 1:
			want.Name, want.EndNs, want.CPU = fmt.Sprint("v", x.ID), units.MonoNs(x.ID)+7, units.Ns(x.ID)+7
		}
		if *x != want || *v.byID(x.ID) != want {
			t.Fatalf("thread %+v, by id %+v, want %+v", *x, *v.byID(x.ID), want)
		}
	})
	if seen != n {
		t.Errorf("%d threads, want %d", seen, n)
	}
}

// Ids that a hostile session chooses do not make the index larger than their number is worth.
func TestIndexOfWildIDs(t *testing.T) {
	var x index
	for i := range 200 {
		id := uint32(1) << (i % 32)
		x.set(id-uint32(i), i)
	}
	if len(x.dense) > 1<<17 {
		t.Errorf("%d places for 200 ids", len(x.dense))
	}
	if i, ok := x.get(1<<31 - 31); !ok || i != 31 {
		t.Errorf("place %d, %v", i, ok)
	}
}
