package units

import (
	"testing"
	"time"
)

func TestParseAge(t *testing.T) {
	const day = 24 * time.Hour
	for s, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "6h": 6 * time.Hour, "7d": 7 * day, "4w": 28 * day, "2y": 730 * day, "100y": 36500 * day,
		"": 0, "0d": 0, "-1d": 0, "0s": 0, "-5m": 0, "7": 0, "d": 0, "1.5d": 0, "99999y": 0, "999999d": 0, "7 d": 0,
	} {
		if got, err := ParseAge(s); got != want || (err != nil) != (want == 0) {
			t.Errorf("%q: %v, %v; want %v", s, got, err, want)
		}
	}
}
