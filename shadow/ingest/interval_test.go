package ingest

import (
	"testing"
	"time"
)

// A part waits for a multiple of the shortest time, and so less than a message may be without an acknowledgement.
func TestInterval(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		rows int
		age  time.Duration
		want time.Duration
	}{
		"at first":              {10_000, time.Second, 2 * time.Second},
		"after a minute":        {10_000, time.Minute, 5 * time.Second},
		"after an hour":         {10_000, time.Hour, 10 * time.Second},
		"hardly anything in it": {fewRows - 1, time.Second, 10 * time.Second},
	} {
		o := Options{}
		setDefaults(&o)
		w := &worker{ingest: &Ingest{o: o}, rows: c.rows, opened: now.Add(-c.age)}
		if got := w.interval(now); got != c.want || got > ackWait/2 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
