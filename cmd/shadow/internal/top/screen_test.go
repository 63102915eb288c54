package top

import (
	"bufio"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadKey(t *testing.T) {
	for sent, want := range map[string]key{
		"\x1b[A": keyUp, "\x1bOA": keyUp, "k": keyUp, "\x1b[B": keyDown, "\x1b[5~": keyPgUp, "\x1b[Z": keyLeft,
		"\r": keyEnter, "\x1b": keyBack, "\x7f": keyBack, "q": keyQuit, "\x03": keyQuit, "s": "s", "é": "é",
		"\x1b[1;5A": "\x1b[1;5A", // Control and an arrow: known to nobody, but one key
	} {
		r := bufio.NewReader(strings.NewReader(sent + "x"))
		if len(sent) == 1 && sent[0] == '\x1b' {
			r = bufio.NewReader(iotest.OneByteReader(strings.NewReader(sent + "x"))) // the next key comes later
		}
		if got, err := readKey(r); err != nil || got != want {
			t.Errorf("%q is %q, want %q (%v)", sent, got, want, err)
		}
		if rest, _ := r.ReadByte(); rest != 'x' {
			t.Errorf("%q took more than its own bytes", sent)
		}
	}
}

func TestReadKeysEnds(t *testing.T) {
	pressed := make(chan key, 3)
	readKeys(t.Context(), strings.NewReader("s"), pressed)
	if first, second := <-pressed, <-pressed; first != "s" || second != keyQuit {
		t.Errorf("%q, %q: the end of the input ends the program", first, second)
	}
}

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""}, {[]float64{0, 0}, "▁▁"}, {[]float64{0, 4, 8}, "▁▅█"}, {[]float64{-1, 1}, " █"}, {[]float64{1e300, 1e-300}, "█▁"},
	} {
		if got := spark(c.values); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}
