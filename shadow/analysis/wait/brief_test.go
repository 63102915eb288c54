package wait

import (
	"slices"
	"strings"
	"testing"

	"stackagent/hpc/sched"
	"stackagent/internal/units"
)

// TestBrief: the sum is that of all rows but those that it says it leaves out: 2 ms of pauses, and 5 ms for I/O that only the
// scheduling record shows.
func TestBrief(t *testing.T) {
	for name, c := range map[string]struct {
		prepare  func(string)
		leftOut  []string
		inRecord units.Ns
	}{
		"without a record": {nil, []string{withoutWork, ofCollector}, 0},
		"with a record": {recorded(t, sched.Slice{State: sched.Running, From: 10, To: 40}, sched.Slice{State: sched.IO, From: 40, To: 45}),
			[]string{withoutWork, ofCollector, onlyInRecord}, 5 * ms},
	} {
		s := openIn(t, known(), c.prepare)
		b, err := ReadBrief(s)
		if err != nil {
			t.Fatal(err)
		}
		if b.Waits != 66 || b.WaitedNs != 60*ms || !slices.Equal(b.LeftOut, c.leftOut) {
			t.Errorf("%s: %+v", name, b)
		}
		if line := b.Text(100 * ms); !strings.HasPrefix(line, "threads waited for 60.0 ms in all: socket, pipe or file 15.0 ms, ") || !strings.HasSuffix(line, "; not in it: "+strings.Join(c.leftOut, ", ")+" (see shadow waits)") {
			t.Errorf("%s: %s", name, line)
		}
		a, err := Analyse(s)
		if err != nil {
			t.Fatal(err)
		}
		var all units.Ns
		for _, r := range a.Rows(false) {
			if r.For != ForQueue && r.For != ForGC {
				all += r.WaitedNs
			}
		}
		if all != 60*ms+c.inRecord {
			t.Errorf("%s: all rows are %d, want %d", name, all, 60*ms+c.inRecord)
		}
	}
}
