package advice

import (
	"strings"
	"testing"

	"stackagent/granularity"
	"stackagent/granularity/gc"
	"stackagent/internal/units"
)

// TestStandstillText: what safepoints stopped is said where it is more than the pauses, and with a remedy where it is
// much; also of a program without any collection.
func TestStandstillText(t *testing.T) {
	for _, c := range []struct {
		pauses       int64
		paused, stop units.Ns
		want, not    string
	}{
		{0, 0, 500e6, "stood still for 500 ms in all", "these pauses"},
		{0, 0, 500e6, "-Xlog:safepoint", "these pauses"},
		{0, 0, 1e6, "No garbage collection stopped the program.", "stood still"},
		{2, 10e6, 500e6, "-Xlog:safepoint", "other reasons"},
		{2, 10e6, 30e6, "stood still for 30.0 ms", "-Xlog"},
		{2, 10e6, 10e6, "2 times", "stood still"},
	} {
		f := &Facts{Duration: 1e9, Executions: 4, GC: granularity.PauseStats{Count: c.pauses, Total: c.paused, Max: c.paused},
			Standstill: &gc.Standstill{Safepoints: 9, TotalNs: c.stop, AtNs: c.stop}}
		text := ""
		for _, x := range Find(f) {
			if x.Rule == "gc" {
				text = x.Text()
			}
		}
		if !strings.Contains(text, c.want) || strings.Contains(text, c.not) {
			t.Errorf("%d pauses of %v, %v stopped: %q, want %q and not %q", c.pauses, c.paused, c.stop, text, c.want, c.not)
		}
	}
}
