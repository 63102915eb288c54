package drain

import (
	"testing"
	"time"

	"stackagent/internal/wire"
)

// Contexts come whole and in order: no sum before its context, no context
// before its frames. While the sink is full a batch's worth at most is taken.
func TestContexts(t *testing.T) {
	c, src, sink := collector(t, Config{Patience: time.Hour})
	const parts, each = 40, 500
	id := uint32(0)
	for range parts {
		var x wire.Contexts
		x.Account.Every = 1
		for range each {
			id++
			x.Frames = append(x.Frames, wire.Frame{ID: id, Class: "a.Main", Method: "go"})
			x.Contexts = append(x.Contexts, wire.Context{ID: id, Frames: []uint32{id, 1}})
			x.Sums = append(x.Sums, wire.ContextSum{ID: id, Count: uint64(id)})
		}
		src.contexts = append(src.contexts, x)
	}
	sink.full = true
	t0 := time.Unix(1000, 0)
	for i := range 20 {
		round(t, c, t0.Add(time.Duration(i)*time.Second))
	}
	if got := parts - len(src.contexts); got > 10 {
		t.Errorf("%d of %d parts were taken while the sink was full", got, parts)
	}
	sink.full = false
	finish(t, c)
	var frames, contexts, sums uint32
	for _, b := range sink.batches {
		for _, x := range b.Contexts.Frames {
			if frames++; x.ID != frames {
				t.Fatalf("frame %d in place of %d", x.ID, frames)
			}
		}
		for _, x := range b.Contexts.Contexts {
			if contexts++; x.ID != contexts || x.ID > frames {
				t.Fatalf("context %d in place of %d, %d frames seen", x.ID, contexts, frames)
			}
		}
		for _, x := range b.Contexts.Sums {
			if sums++; x.ID != sums || x.ID > contexts || x.Count != uint64(x.ID) {
				t.Fatalf("sum of %d in place of %d, %d contexts seen", x.ID, sums, contexts)
			}
		}
	}
	if frames != parts*each || contexts != frames || sums != frames {
		t.Errorf("%d frames, %d contexts, %d sums arrived, want %d each", frames, contexts, sums, parts*each)
	}
}
