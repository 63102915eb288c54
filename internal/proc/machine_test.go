package proc

import (
	"testing"
	"time"
)

func TestParseProcessors(t *testing.T) {
	got, err := ParseProcessors([]byte("cpu  1 2 4 8 16 32 64 128 256 512\ncpu0 1 2 4 8 16 32 64 128 256 512\n"))
	const tick = 10 * time.Millisecond
	if want := (Processors{Busy: 231 * tick, Idle: 24 * tick, Stolen: 224 * tick}); got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, text := range []string{"", "cpu", "cpu\n", "cpu 1 2 3 4 5 6 7\n", "cpu0 1 2 3 4 5 6 7 8\n", "cpu 1 2 3 4 -5 6 7 8\n", "cpu 1 2 3 4 5 6 7 99999999999999999999\n"} {
		if got, err := ParseProcessors([]byte(text)); err == nil {
			t.Errorf("%q: %+v without an error", text, got)
		}
	}
}

func TestReadProcessors(t *testing.T) {
	p, err := ReadProcessors()
	if err != nil || p.Busy <= 0 || p.Stolen > p.Busy {
		t.Errorf("%+v, %v", p, err)
	}
}
