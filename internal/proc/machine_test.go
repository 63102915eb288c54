package proc

import (
	"os/exec"
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

func TestNewestThread(t *testing.T) {
	if id, err := ParseNewestThread([]byte("0.26 0.80 1.95 2/88 22720\n")); id != 22720 || err != nil {
		t.Errorf("%d, %v", id, err)
	}
	for _, text := range []string{"", "0.26 0.80 1.95 2/88\n", "0.26 0.80 1.95 2/88 -1\n", "0.26 0.80 1.95 2/88 99999999999\n"} {
		if id, err := ParseNewestThread([]byte(text)); err == nil {
			t.Errorf("%q: %d without an error", text, id)
		}
	}
	before, err := NewestThread()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("true")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	if after, err := NewestThread(); err != nil || after == before {
		t.Errorf("%d before a process began, %d after it, %v", before, after, err)
	}
}
