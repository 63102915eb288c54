// Package timers makes the timers of one process fire together. A process that has nothing else to do pays for each moment
// in which it wakes up (0.1 to 0.2 ms of CPU time on a virtual machine), hardly for how much it does then. The embedded
// server's clock fires every 100 ms; timers that are set by this package fire at the same moments.
package timers

import (
	"sync"
	"sync/atomic"
	"time"
)

// every is the time between two beats.
const every = 100 * time.Millisecond

// origin is the moment of a beat, Unix nanoseconds.
var origin atomic.Int64

// Set makes at the moment of a beat, and so all that are a multiple of 100 ms away from it.
func Set(at time.Time) { origin.Store(at.UnixNano()) }

// After is the time from now until the beat that is nearest to d from now; d itself if it is shorter than a beat.
func After(d time.Duration) time.Duration { return after(time.Now().UnixNano(), d) }

func after(now int64, d time.Duration) time.Duration {
	if d < every {
		return d
	}
	off := time.Duration((now + int64(d) - origin.Load()) % int64(every))
	if off < 0 {
		off += every
	}
	if off > every/2 {
		off -= every
	}
	return d - off
}

// Ticker is a time.Ticker whose ticks are beats.
type Ticker struct {
	C     <-chan time.Time
	mu    sync.Mutex
	timer *time.Timer // guarded by mu, like every; nil when stopped
	every time.Duration
}

// NewTicker makes one that ticks about every d.
func NewTicker(d time.Duration) *Ticker {
	c := make(chan time.Time, 1)
	t := &Ticker{C: c, every: d}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.timer = time.AfterFunc(After(d), func() {
		select {
		case c <- time.Now():
		default: // the tick before was not taken
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.timer != nil {
			t.timer.Reset(After(t.every))
		}
	})
	return t
}

// Reset makes the next tick come about d from now, and the others d apart.
func (t *Ticker) Reset(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.every = d
	if t.timer != nil {
		t.timer.Reset(After(d))
	}
}

// Stop ends the ticks.
func (t *Ticker) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
