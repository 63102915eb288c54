package view

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/wait"
)

// TestEndedBy: a class that ended less than half of the waited time is named with its share, so that it does not stand for waits
// that reached their time limits.
func TestEndedBy(t *testing.T) {
	for waited, want := range map[units.Ns]string{10: "main", 20: "main", 1000: "main 1.0 %"} {
		r := &wait.Row{WaitedNs: waited, Wakers: wait.Shares{"main": {Name: "main", Waits: 1, WaitedNs: 10}}}
		for _, c := range Waits(false) {
			if c.Name == "wakers" && c.Show(r) != want {
				t.Errorf("1 wait of 10 ns of %d ns: %q, want %q", waited, c.Show(r), want)
			}
		}
	}
}
