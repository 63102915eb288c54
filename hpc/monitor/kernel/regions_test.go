package kernel

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestRegions(t *testing.T) {
	const text = "1000-2000 rw-p 00000000 00:00 0 \n" +
		"5000-6000 r--p 00000000 fd:01 7    /x/libjvm.so (deleted)\n" +
		"7000-9000 r-xp 00000000 fd:01 8    /a b/lib/libjvm.so\n" +
		"9000-a000 rw-p 00002000 fd:01 8    /a b/lib/libjvm.so\n" +
		"40000-50000 rw-s 00000000 00:01 9  /memfd:java_heap (deleted)\n" +
		"garbage\n-5 rw\n9-1 rw-p 0 0:0 0\n" +
		"7f000-8f000 rw-p 00000000 00:00 0  [stack]\n"
	p := readMaps([]byte(text), 0)
	if p.jvm != "/a b/lib/libjvm.so" || p.base != 0x7000 || p.heap != (addresses{0x40000, 0x50000, heapRegion}) {
		t.Errorf("%+v", p)
	}
	all, cut := table([]addresses{{0x8000, 0x8800, codeRegion}}, p.mapped)
	want := []addresses{{0x5000, 0x6000, fileRegion}, {0x7000, 0x8000, fileRegion}, {0x8000, 0x8800, codeRegion}, {0x8800, 0xa000, fileRegion}, {0x7f000, 0x8f000, stackRegion}}
	if !slices.Equal(all, want) || cut {
		t.Errorf("%x, %v; want %x", all, cut, want)
	}
}

// A process may map more files than there is room for: the JVM's own regions and the largest files stay.
func TestManyRegions(t *testing.T) {
	var b strings.Builder
	for i := range 5000 {
		size := 0x1000
		if i == 4000 {
			size = 0x3000
		}
		fmt.Fprintf(&b, "%x-%x r--p 0 fd:01 7 /f%d\n", 0x100000+i*0x10000, 0x100000+i*0x10000+size, i)
	}
	heap := addresses{0x1000, 0x2000, heapRegion}
	all, cut := table([]addresses{heap}, readMaps([]byte(b.String()), 0).mapped)
	large := addresses{0x100000 + 4000*0x10000, 0x100000 + 4000*0x10000 + 0x3000, fileRegion}
	if !cut || len(all) != nEntries || !slices.Contains(all, heap) || !slices.Contains(all, large) {
		t.Errorf("%d entries, cut %v", len(all), cut)
	}
	checkTable(t, all)
}
