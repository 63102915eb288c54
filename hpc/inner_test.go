package hpc

import (
	"strings"
	"testing"
)

func TestParseInner(t *testing.T) {
	for _, c := range []struct {
		status string
		number int
		own    bool
		fails  bool
	}{
		{"Name:\tjava\nNSpid:\t4711\nThreads:\t3\n", 4711, false, false},
		{"Name:\tjava\nNSpid:\t4711\t12\t1\n", 1, true, false},
		{"Name:\tNSpid: 5\n", 0, false, true},
		{"NSpid:\n", 0, false, true},
		{"NSpid:\tx\n", 0, false, true},
		{"", 0, false, true},
	} {
		number, own, err := parseInner([]byte(c.status))
		if number != c.number || own != c.own || (err != nil) != c.fails {
			t.Errorf("%q: %d, own namespace %v, %v", c.status, number, own, err)
		}
	}
}

// TestInnerOfNone: a process that is not there has ended.
func TestInnerOfNone(t *testing.T) {
	if _, _, err := Inner("/proc/2147483647"); err == nil || !strings.HasPrefix(err.Error(), "it has ended: ") {
		t.Errorf("%v", err)
	}
}
