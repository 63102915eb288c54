package drain

import (
	"slices"
	"testing"
	"time"

	"stackagent/internal/wire"
)

// What was counted by place travels whole, in as many batches as it needs, and
// each place is named once.
func TestSiteSumsTravel(t *testing.T) {
	c, src, sink := collector(t, Config{})
	var want []wire.SiteSum
	for i := range uint32(3 * maxBatchItems) {
		want = append(want, wire.SiteSum{Class: i % 5, Thread: 1, Kind: wire.SiteKind(i % 6), Site: 1 + i%700, Count: uint64(i) + 1})
	}
	src.places = slices.Clone(want)
	for i := range 5 {
		if _, err := c.Round(time.Unix(1000+int64(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	var got []wire.SiteSum
	named := map[uint32]int{}
	for _, b := range sink.batches {
		got = append(got, b.SiteSums...)
		for _, s := range b.Sites {
			named[s.ID]++
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d sums arrived, want %d, in their order", len(got), len(want))
	}
	for id := range uint32(700) {
		if named[id+1] != 1 {
			t.Fatalf("place %d was named %d times", id+1, named[id+1])
		}
	}
}
