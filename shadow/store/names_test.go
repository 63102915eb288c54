package store

import (
	"strings"
	"testing"
)

// TestCutName: a name is cut between two characters, also one that is not UTF-8.
func TestCutName(t *testing.T) {
	for _, c := range []struct {
		name string
		want int
	}{
		{"main", 4}, {strings.Repeat("n", maxThreadName), maxThreadName}, {strings.Repeat("n", 100_000), maxThreadName},
		{"n" + strings.Repeat("ß", maxThreadName), maxThreadName - 1}, {strings.Repeat("\x80", 2*maxThreadName), maxThreadName - 4},
	} {
		if got := CutName(c.name); len(got) != c.want || !strings.HasPrefix(c.name, got) {
			t.Errorf("%d bytes are cut to %d, want %d", len(c.name), len(got), c.want)
		}
	}
}
