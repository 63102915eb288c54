package timers

import (
	"testing"
	"time"
)

func TestAfter(t *testing.T) {
	const ms = time.Millisecond
	defer Set(time.Unix(0, origin.Load()))
	Set(time.Unix(0, int64(30*ms)))
	for _, c := range []struct{ now, d, want time.Duration }{
		{30 * ms, 100 * ms, 100 * ms},
		{31 * ms, 100 * ms, 99 * ms},   // the beat was a moment ago
		{129 * ms, 100 * ms, 101 * ms}, // it comes in a moment
		{70 * ms, 1000 * ms, 960 * ms},
		{90 * ms, 1000 * ms, 1040 * ms},
		{0, 250 * ms, 230 * ms}, // before the first beat
		{31 * ms, 20 * ms, 20 * ms},
	} {
		if got := after(int64(c.now), c.d); got != c.want {
			t.Errorf("%v after %v: %v, want %v", c.d, c.now, got, c.want)
		}
	}
}

// A ticker goes on, also at another pace, until it is stopped.
func TestTicker(t *testing.T) {
	x := NewTicker(time.Hour)
	x.Reset(time.Millisecond)
	for range 3 {
		<-x.C
	}
	x.Stop()
	x.Stop()
	x.Reset(time.Millisecond)
	select { // one may have been on its way
	case <-x.C:
	case <-time.After(5 * time.Millisecond):
	}
	select {
	case <-x.C:
		t.Error("it ticks although it is stopped")
	case <-time.After(20 * time.Millisecond):
	}
}
