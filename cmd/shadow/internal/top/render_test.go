package top

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	prettytext "github.com/jedib0t/go-pretty/v6/text"

	"stackagent/internal/text"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// views are the screens of the sample, by name.
func views() map[string]*state {
	v := map[string]*state{"fleet": sampleState(), "details": sampleJVMState(), "reconnecting": sampleJVMState(), "nothing": sampleState()}
	for i, p := range panels {
		s := sampleJVMState()
		s.panel = i
		v[strings.ReplaceAll(strings.ToLower(p.title), " ", "-")] = s
	}
	v["details"].details = true
	v["reconnecting"].trouble = "RECONNECTING: no shadow serves a live page at http://127.0.0.1:7077"
	v["nothing"].fleet.JVMs = nil
	return v
}

func TestFrames(t *testing.T) {
	for name, s := range views() {
		for _, size := range [][2]int{{80, 24}, {40, 24}, {200, 50}} {
			got := strings.Join(s.frame(sampleTime.Add(300*time.Millisecond), size[0], size[1], false), "\n") + "\n"
			if size[0] == 200 {
				continue // its frame is checked below, and too wide to be read
			}
			path := filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, size[0]))
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", path, got, want)
			}
		}
	}
}

// TestFramesFit: a frame has the size of the terminal, whatever that is, and nothing of a
// name acts on it.
func TestFramesFit(t *testing.T) {
	for name, s := range views() {
		for _, width := range []int{1, 7, 20, 40, 80, 200} {
			for _, height := range []int{1, 3, 10, 24, 100} {
				lines := s.frame(sampleTime, width, height, false)
				if len(lines) != height {
					t.Errorf("%s at %d x %d: %d lines", name, width, height, len(lines))
				}
				for _, line := range lines {
					if n := prettytext.StringWidth(line); n > width {
						t.Errorf("%s at %d x %d: %d cells in %q", name, width, height, n, line)
					}
					if i := strings.IndexFunc(line, text.Hidden); i >= 0 {
						t.Errorf("%s: a hidden character in %q", name, line)
					}
				}
			}
		}
	}
}

// TestColor: colour adds sequences of ours and changes nothing else.
func TestColor(t *testing.T) {
	for name, s := range views() {
		colored := strings.Join(s.frame(sampleTime, 80, 24, true), "\n")
		if !strings.Contains(colored, bold) {
			t.Errorf("%s: no colour", name)
		}
		for _, style := range []string{bold, dim, reverse, plain} {
			colored = strings.ReplaceAll(colored, style, "")
		}
		if strings.Contains(colored, "\x1b") {
			t.Errorf("%s: a sequence of someone else in %q", name, colored)
		}
	}
}

func TestPrint(t *testing.T) {
	s := sampleJVMState()
	got := s.print(sampleTime, 0)
	for _, want := range []string{"com.acme.Tax · pid 4711", "ComputeTaxForOrder$Job", "Orders.java:6", "Not available: the agent records no submissions.", "[2J"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), text.Hidden) {
		t.Errorf("a hidden character in %q", got)
	}
}

func TestAgo(t *testing.T) {
	for seconds, want := range map[float64]string{-1: "0 s", 0.9: "0 s", 59: "59 s", 60: "1 min", 61: "1 min 1 s", 3600: "1 h", 3601: "1 h", 7260: "2 h 1 min", 90061: "1 d 1 h"} {
		if got := ago(seconds * 1e9); got != want {
			t.Errorf("%v s: %q, want %q", seconds, got, want)
		}
	}
}
