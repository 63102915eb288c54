package wire

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"stackagent/internal/label"
	"stackagent/internal/units"
)

func withWaits() *Batch {
	b := empty()
	b.Blockers = []Blocker{{ID: 1, Class: "a.Lock"}, {ID: 2, Class: "a.Condition", Lock: "a.Lock"}}
	b.Waits = []Wait{
		{Flags: WaitTimed, Kind: WaitPark, Blocker: 1, Thread: 7, Start: 100, End: 900, Ready: 4, Object: 5, Lock: 6, Waker: 8, Holder: 9, Within: 10, Site: 1 << 17, Context: 12},
		{Kind: WaitMonitor, Thread: 8, Start: 50, End: 60},
	}
	b.WaitSums = []WaitSum{{Thread: 7, Kind: WaitSleep, Flags: WaitPinned, Blocker: 2, Within: 3, From: 10, To: 1000, Waits: 1 << 40, Waited: 12, Most: 5}, {}}
	return b
}

func TestWaitsRoundTrip(t *testing.T) {
	roundTrip(t, withWaits())
	rng := rand.New(rand.NewPCG(5, 6))
	n := func() uint32 { return uint32(odd(rng)) }
	for range 200 {
		b := empty()
		for range 1 + rng.IntN(30) {
			start := units.Ticks(odd(rng) >> 1)
			b.Waits = append(b.Waits, Wait{Flags: WaitFlags(n()), Kind: WaitKind(n()), Blocker: n(), Thread: n(), Start: start, End: start + units.Ticks(odd(rng)>>1) + 1,
				Ready: units.Ticks(odd(rng)), Object: n(), Lock: n(), Waker: n(), Holder: n(), Within: n(), Site: n(), Context: n()})
		}
		b.WaitSums = []WaitSum{{Waits: math.MaxUint64, Waited: units.Ticks(odd(rng)), Most: math.MaxUint64}}
		roundTrip(t, b)
	}
}

// What older agents say in the hello has no waits, and the other fields stay.
func TestHelloWaits(t *testing.T) {
	b := empty()
	b.Hello = &Hello{Tasks: []string{"a#b"}}
	roundTrip(t, b)
	b.Hello = &Hello{WaitLimit: 50_000, WaitSources: []string{"park", "sleep"}, MaxHeapBytes: 64 << 20}
	roundTrip(t, b)
}

// Labels travel, with and without what agents said in the hello before; those out of bounds stay behind.
func TestHelloLabels(t *testing.T) {
	b := empty()
	b.Hello = &Hello{Labels: label.Labels{Service: "shop", Version: "1", Env: "prod", Instance: "i", Free: map[string]string{"team": "a", "tier": "2"}}}
	roundTrip(t, b)
	b.Hello = &Hello{HostID: "ab", ObserverWait: 7, Labels: label.Labels{Instance: "i"}}
	roundTrip(t, b)
	b.Hello = &Hello{Labels: label.Labels{Service: "a\x1bb", Version: strings.Repeat("x", 200), Env: "prod", Free: map[string]string{"A": "x", "a": "\n", "b": "c"}}}
	for i := range 40 {
		b.Hello.Labels.Free["k"+strconv.Itoa(i)] = "v"
	}
	got, err := Decode(mustEncode(t, b), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	if l := got.Hello.Labels; l.Service != "" || l.Version != "" || l.Env != "prod" || l.Free["b"] != "c" || len(l.Free) != label.MaxFree {
		t.Errorf("%+v", l)
	}
}

// A wait takes some thirty bytes in a batch.
func TestWaitSize(t *testing.T) {
	b := empty()
	before := len(mustEncode(t, b))
	for i := range 1000 {
		at := units.Ticks(1<<45 + i*500_000)
		b.Waits = append(b.Waits, Wait{Kind: WaitPark, Blocker: uint32(1 + i%3), Thread: 30, Start: at, End: at + 200_000, Object: 1 << 30, Waker: 31, Within: 12, Site: 1<<16 + 5})
	}
	if each := (len(mustEncode(t, b)) - before) / 1000; each > 32 {
		t.Errorf("%d bytes a wait, want 32 at most", each)
	}
}
