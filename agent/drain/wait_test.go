package drain

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// The wait grows while little comes, and shrinks before a ring could be full.
func TestNextWait(t *testing.T) {
	c := &Collector{cfg: Config{IdleWait: 50 * time.Millisecond}}
	const ms = time.Millisecond
	for _, tt := range []struct {
		wait time.Duration
		n    int
		want time.Duration
	}{
		{ms, 0, 2 * ms}, {40 * ms, 0, 50 * ms}, {50 * ms, 0, 50 * ms},
		{8 * ms, busy/2 - 1, 16 * ms}, {8 * ms, busy / 2, 8 * ms}, {8 * ms, busy, 8 * ms},
		{8 * ms, busy + 1, 4 * ms}, {ms, busy + 1, ms}, {50 * ms, chunk, ms},
	} {
		if got := c.nextWait(tt.wait, tt.n); got != tt.want {
			t.Errorf("after %v with %d bytes: %v, want %v", tt.wait, tt.n, got, tt.want)
		}
	}
}

// lookedAt reports when the collector looks at the rings.
type lookedAt struct {
	fakeSource
	last time.Time
}

func (s *lookedAt) Drain(int, func(uint32, []byte)) int {
	s.last = time.Now()
	return 0
}

// A thread that waits for room does not wait for the next look, which nobody
// else hastens.
func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src, hurry := &lookedAt{}, make(chan struct{}, 1)
		c, err := NewCollector(Config{Session: "s", Process: "p", IdleWait: time.Hour, Heartbeat: 2 * time.Hour, Hurry: hurry}, src, &fakeSink{t: t})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		ctx, stop := context.WithCancel(t.Context())
		go func() { done <- c.Run(ctx) }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if ago := time.Since(src.last); ago < time.Minute {
			t.Errorf("nothing comes, but %v ago it looked", ago)
		}
		hurry <- struct{}{}
		synctest.Wait()
		if ago := time.Since(src.last); ago != 0 {
			t.Errorf("asked to hurry, it looked %v ago", ago)
		}
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A collector that finds nothing leaves the waiting to Await, until the heartbeat is due, and ends when it returns.
func TestIdleCollectorAwaits(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	waits := 0
	c, err := NewCollector(Config{Session: "s", Process: "p", Await: func(soft, max time.Duration) {
		if soft < 50*time.Millisecond || soft > time.Second || max < soft || max > 4*time.Second {
			t.Errorf("asked to wait for %v to %v", soft, max)
		}
		if waits++; waits == 3 {
			stop()
		}
	}}, &fakeSource{}, &fakeSink{t: t})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(ctx); err != nil || waits != 3 {
		t.Errorf("ended with %v after %d waits", err, waits)
	}
}
