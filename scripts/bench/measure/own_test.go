package measure

import (
	"testing"
	"time"
)

func TestParseOwn(t *testing.T) {
	own, err := parseOwn("7 (a) b) Z 1 1 1 0 -1 4 0 0 0 0 120 30 999 999 20 0 1 0 5 0 0\n")
	if err != nil || own != 1500*time.Millisecond {
		t.Errorf("%v, %v", own, err)
	}
	for _, bad := range []string{"", "7 (a) Z 1", "7 (a) Z 1 1 1 0 -1 4 0 0 0 0 x 30 9 9"} {
		if own, err := parseOwn(bad); err == nil {
			t.Errorf("parseOwn(%q) = %v, want an error", bad, own)
		}
	}
}

// What a child of the process took is not its own.
func TestOwnCPU(t *testing.T) {
	r, err := Run(t.Context(), Command{Args: []string{"sh", "-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; true"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.CPU < 50*time.Millisecond || r.Own > r.CPU/2 {
		t.Errorf("own CPU time %v of %v", r.Own, r.CPU)
	}
}
