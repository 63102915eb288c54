package agent

import (
	"strconv"
	"testing"
)

// TestNamesAreBounded: only the newest names are kept.
func TestNamesAreBounded(t *testing.T) {
	var n names
	const most = 3*maxNames + 7
	for i := range most {
		n.add(strconv.Itoa(i))
		n.add(strconv.Itoa(i))
	}
	if len(n.has) != maxNames || len(n.list) != maxNames {
		t.Errorf("%d names, %d in order, want %d", len(n.has), len(n.list), maxNames)
	}
	for i := range most {
		if got, want := n.contains(strconv.Itoa(i)), i >= most-maxNames; got != want {
			t.Fatalf("name %d of %d: kept %v, want %v", i, most, got, want)
		}
	}
}

// TestHeapLimit: the limit stays above what is in use.
func TestHeapLimit(t *testing.T) {
	for live, want := range map[int64]int64{0: heapLimit, 4 << 20: heapLimit, 20 << 20: 40 << 20, 80 << 20: 112 << 20} {
		if got := heapLimitFor(live); got != want {
			t.Errorf("%d MiB live: limit %d MiB, want %d", live>>20, got>>20, want>>20)
		}
	}
}
