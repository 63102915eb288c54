package marker

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"stackagent/internal/proc"
)

var end = regexp.MustCompile(`^done`)

// lines are the lines of the markers, those that begin an iteration with a "+".
func lines(f *File) (out []string) {
	for _, m := range f.Markers {
		line := m.Stream + ":" + m.Line
		if m.Begin {
			line = "+" + line
		}
		out = append(out, line)
	}
	return out
}

func TestMarkers(t *testing.T) {
	all := "start 1\nnoise\ndone 1\r\n\x00\xff binary done\ndone \xff2\nundone\ndone 3"
	want := []string{"+stdout:start 1", "stdout:done 1", "stdout:done ?2", "stdout:done 3"}
	for size := 1; size <= len(all); size++ { // however the output is cut into writes
		r, out := New(regexp.MustCompile(`^start`), end), &bytes.Buffer{}
		w, before := r.Through("stdout", out), proc.Now()
		for rest := []byte(all); len(rest) > 0; {
			n := min(size, len(rest))
			if got, err := w.Write(rest[:n]); got != n || err != nil {
				t.Fatalf("wrote %d of %d: %v", got, n, err)
			}
			rest = rest[n:]
		}
		f, after := r.File(), proc.Now()
		if out.String() != all {
			t.Fatalf("in pieces of %d: passed on %q", size, out)
		}
		if got := lines(f); !reflect.DeepEqual(got, want) {
			t.Fatalf("in pieces of %d: %q, want %q", size, got, want)
		}
		last := before
		for _, m := range f.Markers {
			if m.At < last || m.At > after {
				t.Fatalf("in pieces of %d: a marker at %d, after one at %d and before %d", size, m.At, last, after)
			}
			last = m.At
		}
	}
}

func TestTwoStreams(t *testing.T) {
	r := New(nil, end)
	out, errs := r.Through("stdout", &bytes.Buffer{}), r.Through("stderr", &bytes.Buffer{})
	for _, w := range []struct {
		to   interface{ Write([]byte) (int, error) }
		text string
	}{{out, "do"}, {errs, "done by "}, {out, "ne 1\n"}, {errs, "stderr\n"}} {
		if _, err := w.to.Write([]byte(w.text)); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := lines(r.File()), []string{"stdout:done 1", "stderr:done by stderr"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Two streams are written to at once; markers stay in the order of their times.
func TestAtOnce(t *testing.T) {
	r := New(nil, end)
	var writers sync.WaitGroup
	for _, name := range []string{"stdout", "stderr"} {
		w := r.Through(name, &bytes.Buffer{})
		writers.Add(1)
		go func() {
			defer writers.Done()
			for range 500 {
				_, _ = w.Write([]byte("done\nnot\n"))
			}
		}()
	}
	writers.Wait()
	f := r.File()
	if len(f.Markers) != 1000 || !slices.IsSortedFunc(f.Markers, func(a, b Marker) int { return cmp.Compare(a.At, b.At) }) {
		t.Errorf("%d markers, want 1000 in order", len(f.Markers))
	}
}

// broken takes no more than a few bytes.
type broken struct{}

var errClosed = errors.New("closed")

func (broken) Write([]byte) (int, error) { return 3, errClosed }

// What the command is told when its reader has gone is what the reader's end says.
func TestClosedReader(t *testing.T) {
	r := New(nil, end)
	if n, err := r.Through("stdout", broken{}).Write([]byte("done\n")); n != 3 || !errors.Is(err, errClosed) {
		t.Errorf("%d, %v", n, err)
	}
}

func TestLimits(t *testing.T) {
	r := New(nil, regexp.MustCompile(`end$|^x`))
	w := r.Through("stdout", &bytes.Buffer{})
	write := func(text string) {
		t.Helper()
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	write(strings.Repeat("a", maxLine+1) + "end\n") // its end is not looked at
	for range 3 * maxLine {
		write("b") // no newline
	}
	if s := r.outs[0]; cap(s.line) > 2*maxLine {
		t.Errorf("%d bytes are kept of a line", cap(s.line))
	}
	write("\n" + strings.Repeat("x", 1000) + "\n")
	write(strings.Repeat("x\n", MaxMarkers+6))
	f := r.File()
	if f.LongLines != 2 || f.Dropped != 7 || len(f.Markers) != MaxMarkers {
		t.Errorf("%d long lines, %d dropped, %d markers", f.LongLines, f.Dropped, len(f.Markers))
	}
	if len(f.Markers[0].Line) != maxLabel {
		t.Errorf("a label has %d bytes", len(f.Markers[0].Line))
	}
	dir := t.TempDir()
	if err := f.Write(dir); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(dir); err != nil || !reflect.DeepEqual(got, f) {
		t.Errorf("read back: %v", err)
	}
}

func TestRead(t *testing.T) {
	dir := t.TempDir()
	if f, err := Read(dir); f != nil || err != nil {
		t.Errorf("no file: %v, %v", f, err)
	}
	for text, want := range map[string]string{
		"{":             "unexpected end",
		`{"version":2}`: "use the version of shadow that wrote it",
		`{"version":1,"markers":[{"at_ns":5},{"at_ns":4}]}`:                                   "marker 2: it is earlier than marker 1",
		`{"version":1,"markers":[{"at_ns":-5}]}`:                                              "marker 1: at_ns is below 0",
		`{"version":1,"markers":[{"line":"` + strings.Repeat("l", maxLabel+1) + `"}]}`:        "marker 1: its line has 161 bytes, at most 160",
		`{"version":1,"markers":[` + strings.Repeat(`{"at_ns":1},`, MaxMarkers) + `{"a":1}]}`: "65537 markers",
	} {
		if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"marker":"x","markers":[{"at_ns":5,"stream":"stdout","line":"x"}],"dropped":1}`))
	f.Add([]byte(`{"version":1,"markers":null}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := parse(b)
		if err != nil {
			return
		}
		again, err := json.Marshal(file)
		if err != nil {
			t.Fatal(err)
		}
		same, err := parse(again)
		if err != nil {
			t.Fatalf("does not read what it would write: %v", err)
		}
		if !reflect.DeepEqual(lines(file), lines(same)) {
			t.Error("reads something else than it would write")
		}
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("done\ndone\r\n\xffdone\ndone"), 3)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(1, size)
		r, out := New(nil, end), &bytes.Buffer{}
		w := r.Through("stdout", out)
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			if _, err := w.Write(rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		want := 0
		for _, line := range bytes.Split(text, []byte("\n")) {
			if bytes.HasPrefix(line, []byte("done")) {
				want++
			}
		}
		if got := r.File(); !bytes.Equal(out.Bytes(), text) || len(got.Markers) != want {
			t.Errorf("%d markers, want %d; output equal: %t", len(got.Markers), want, bytes.Equal(out.Bytes(), text))
		}
	})
}
