package proc

import (
	"os"
	"slices"
	"testing"
)

func TestParseNamespace(t *testing.T) {
	if n, err := ParseNamespace("pid:[4026531836]"); n != 4026531836 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", "pid:[]", "pid:[1", "net:[1]", "pid:[-1]", "pid:[1]x"} {
		if n, err := ParseNamespace(bad); err == nil {
			t.Errorf("%q: %d", bad, n)
		}
	}
}

// This process is in the list, in its own namespace, on a kernel that has a name.
func TestNamespaces(t *testing.T) {
	ids, err := Processes()
	if err != nil || !slices.Contains(ids, os.Getpid()) || !slices.IsSortedFunc(ids, func(a, b int) int { return b - a }) {
		t.Errorf("%v, %v", ids, err)
	}
	own, err := Self.PIDNamespace()
	if other, err2 := Process(os.Getpid()).PIDNamespace(); err != nil || err2 != nil || own == 0 || own != other {
		t.Errorf("namespace %d, %v, and %d, %v", own, err, other, err2)
	}
	if id, err := BootID(); err != nil || len(id) != 36 {
		t.Errorf("boot id %q, %v", id, err)
	}
}
