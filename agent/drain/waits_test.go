package drain

import (
	"testing"

	"stackagent/internal/wire"
)

// Waits that are dropped go on counting, by thread and kind.
func TestDroppedWaitsAreSums(t *testing.T) {
	var p pending
	p.Waits = []wire.Wait{
		{Thread: 1, Kind: wire.WaitPark, Start: 10, End: 30}, {Thread: 1, Kind: wire.WaitPark, Start: 40, End: 45},
		{Thread: 1, Kind: wire.WaitSleep, Start: 50, End: 51}, {Thread: 2, Kind: wire.WaitPark, Start: 5, End: 7, Flags: wire.WaitTimed},
	}
	p.drop()
	want := []wire.WaitSum{
		{Thread: 1, Kind: wire.WaitPark, From: 30, To: 45, Waits: 2, Waited: 25, Most: 20},
		{Thread: 1, Kind: wire.WaitSleep, From: 51, To: 51, Waits: 1, Waited: 1, Most: 1},
		{Thread: 2, Kind: wire.WaitPark, Flags: wire.WaitTimed, From: 7, To: 7, Waits: 1, Waited: 2, Most: 2},
	}
	if len(p.Waits) != 0 || len(p.waitSums) != len(want) {
		t.Fatalf("%d waits, sums %+v", len(p.Waits), p.waitSums)
	}
	for i := range want {
		if p.waitSums[i] != want[i] {
			t.Errorf("sum %d: %+v, want %+v", i, p.waitSums[i], want[i])
		}
	}
}
