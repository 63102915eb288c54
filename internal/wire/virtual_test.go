package wire

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"stackagent/internal/units"
)

// withVirtual has a single thread, one whose waiting was not measured, and a group.
func withVirtual() *Batch {
	b := empty()
	b.Virtual = []VirtualThread{
		{Thread: 7, Class: 1, Flags: VirtualAlive, At: 900, Threads: 1, Mounts: 11, Changes: 5, First: 2, Last: 3, Pins: 4, Pinned: 70, Away: 500, Ready: 80},
		{Thread: 1<<32 - 1, Class: 1<<32 - 1, Threads: 1, Mounts: 1, Ready: units.NotMeasured, At: math.MaxUint64},
		{Class: 9, At: 1000, Threads: 3_000_000, Mounts: 1 << 40, Changes: 12, Pins: 13, Pinned: 14, Away: 15, Ready: 0,
			MostMounts: 16, MostPinned: 17, MostAway: 18, MostReady: 19},
	}
	return b
}

func TestVirtualRoundTrip(t *testing.T) {
	roundTrip(t, withVirtual())
	rng := rand.New(rand.NewPCG(3, 4))
	sum := func() uint64 { return odd(rng) & math.MaxInt64 }
	for range 200 {
		b := empty()
		for range 1 + rng.IntN(30) {
			v := VirtualThread{Class: uint32(odd(rng)), Flags: VirtualFlags(odd(rng)), At: units.Ticks(odd(rng)), Threads: 1, Mounts: sum(), Changes: sum(),
				First: uint32(odd(rng)), Last: uint32(odd(rng)), Pins: sum(), Pinned: units.Ticks(sum()), Away: units.Ticks(sum()), Ready: units.Ns(sum() / 2)}
			if rng.IntN(2) == 0 {
				v.Thread = 1 + uint32(odd(rng)>>1)
			} else {
				v.Threads, v.MostMounts, v.MostPinned, v.MostAway, v.MostReady = sum(), sum(), units.Ticks(sum()), units.Ticks(sum()), units.Ticks(sum())
			}
			if v.Thread == 0 && rng.IntN(4) == 0 {
				v.Ready = units.NotMeasured
			}
			b.Virtual = append(b.Virtual, v)
		}
		roundTrip(t, b)
	}
}

// A thread of ten mounts takes some twenty bytes in a batch: a million of them 20 MB.
func TestVirtualSize(t *testing.T) {
	b := empty()
	before := len(mustEncode(t, b))
	for i := range 1000 {
		b.Virtual = append(b.Virtual, VirtualThread{Thread: uint32(100_000 + i), Class: 300, At: 1 << 45, Threads: 1, Mounts: 10, First: 30, Last: 31,
			Away: 3_000_000, Ready: 20_000})
	}
	if each := (len(mustEncode(t, b)) - before) / 1000; each > 32 {
		t.Errorf("%d bytes a thread, want 32 at most", each)
	}
}

func TestVirtualHostile(t *testing.T) {
	one := func(v ...byte) []byte { return append([]byte{payloadFormat, 1, byte(len(v))}, v...) }
	single := []byte{7, 1, 0, 9, 1, 2, 0, 3, 3, 0, 0, 5, 1}
	for name, x := range map[string]struct {
		payload []byte
		says    string
	}{
		"a single thread that is two": {one(7, 1, 0, 9, 2, 2, 0, 3, 3, 0, 0, 5, 1), "another number"},
		"more than the payload holds": {append([]byte{payloadFormat, 100}, single...), "more virtual threads"},
		"an entry cut short":          {one(7, 1, 0, 9, 1, 2), ""},
		"an entry beyond its payload": {append([]byte{payloadFormat, 1, 60}, single...), "longer than"},
		"bytes left over":             {append(one(single...), 0), "left over"},
		"an id of 33 bits":            {one(0x80, 0x80, 0x80, 0x80, 0x10, 1, 0, 9, 1, 2, 0, 3, 3, 0, 0, 5, 1), "too large"},
		"a time of 64 bits":           {one(7, 1, 0, 9, 1, 2, 0, 3, 3, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 5, 1), "too large"},
		"a group without its maxima":  {one(0, 1, 0, 9, 4, 2, 0, 3, 3, 0, 0, 5, 1), ""},
	} {
		b, err := Decode(envelope(t, keyVirtual, x.payload), DefaultLimits())
		var de *DecodeError
		if !errors.As(err, &de) || b != nil || !strings.Contains(err.Error(), "virtual") || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%s: %v, want an error of virtual threads with %q", name, err, x.says)
		}
	}
	b, err := Decode(envelope(t, keyVirtual, one(append(bytes.Clone(single), 1, 2, 3)...)), DefaultLimits())
	if err != nil || len(b.Virtual) != 1 || b.Virtual[0].Mounts != 2 || b.Unknown == 0 {
		t.Errorf("an entry of a newer agent: %+v, %v", b, err)
	}
}

// What a reader would refuse is not written.
func TestVirtualRefused(t *testing.T) {
	b := withVirtual()
	b.Virtual[0].Threads = 2
	if _, err := Encode(b, nil); err == nil {
		t.Error("a single thread that stands for two was written")
	}
	b.Virtual = make([]VirtualThread, MaxEvents+1)
	if _, err := Encode(b, nil); !errors.Is(err, ErrTooMany) {
		t.Errorf("too many: %v", err)
	}
}
