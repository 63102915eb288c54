package ingest

import (
	"testing"
	"time"
)

// A part waits for a multiple of the shortest time, and so less than a message may be without an acknowledgement.
func TestInterval(t *testing.T) {
	now := time.Now()
	for name, c := range map[string]struct {
		rows, sessions int
		age            time.Duration
		want           time.Duration
	}{
		"at first":              {partWorth, 1, time.Second, 2 * time.Second},
		"after a minute":        {partWorth, 1, time.Minute, 5 * time.Second},
		"after an hour":         {partWorth, 1, time.Hour, 10 * time.Second},
		"hardly anything in it": {partWorth - 1, 1, time.Second, 10 * time.Second},
		"one of many sessions":  {openRows / 100, 100, time.Second, 2 * time.Second},
		"with less than that":   {openRows/100 - 1, 100, time.Second, 10 * time.Second},
	} {
		o := Options{}
		setDefaults(&o)
		w := &worker{ingest: &Ingest{o: o}, rows: c.rows, opened: now.Add(-c.age)}
		w.ingest.active.Store(int64(c.sessions))
		if got := w.interval(now); got != c.want || got > ackWait/2 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
