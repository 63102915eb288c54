package experiment

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// burn keeps every CPU busy for a while with processes that are not waited for here.
func burn(t *testing.T) error {
	// A shell that starts them in the background and ends: nobody charges their time to this process.
	return exec.Command("sh", "-c", strings.Repeat("timeout 1 sh -c 'while :; do :; done' & ", runtime.NumCPU())+"sleep 0.7; exit 0").Run()
}

// TestOutcome: what a run printed and how it ended tell how it failed.
func TestOutcome(t *testing.T) {
	check := regexp.MustCompile(`^result \d+$`)
	for name, c := range map[string]struct {
		printed string
		end     End
		check   *regexp.Regexp
		want    Failure
		why     string
	}{
		"fine":           {"result 7\n", End{}, check, Fine, ""},
		"no line end":    {"x\nresult 7", End{}, check, Fine, ""},
		"no result":      {"result x\nbye\n", End{}, check, Check, "no line of its output matches ^result \\d+$; its last: bye"},
		"out of memory":  {"Terminating due to java.lang.OutOfMemoryError: Java heap space\n", End{Code: 3}, nil, OutOfMemory, "Terminating due to java.lang.OutOfMemoryError: Java heap space"},
		"survived":       {"java.lang.OutOfMemoryError: caught\nresult 1\n", End{}, check, Fine, ""},
		"time-out":       {"java.lang.OutOfMemoryError\n", End{Code: 143, TimedOut: "2s"}, nil, TimeOut, "ended after 2s"},
		"refused":        {"Unrecognized VM option 'UseX'\nError: Could not create the Java Virtual Machine.\n", End{Code: 1}, nil, NoJVM, "Unrecognized VM option 'UseX'"},
		"reason follows": {"Error occurred during initialization of VM\nOption -XX:+UseShenandoahGC not supported\n", End{Code: 1}, nil, NoJVM, "Option -XX:+UseShenandoahGC not supported"},
		"tiny heap":      {"Error occurred during initialization of VM\nToo small maximum heap\n", End{Code: 1}, nil, OutOfMemory, "Too small maximum heap"},
		"signal":         {"", End{Code: 137, Signal: "killed"}, nil, Signal, "killed"},
		"exit code":      {"bye\n\n", End{Code: 2}, nil, ExitCode, "2; its last line: bye"},
		"hostile":        {"a\x1b[2J" + strings.Repeat("ö", 5000) + "\n", End{Code: 2}, nil, ExitCode, ""},
	} {
		path := filepath.Join(t.TempDir(), OutputName)
		o, err := NewOutput(path, c.check)
		if err != nil {
			t.Fatal(err)
		}
		for i := range len(c.printed) { // in the smallest pieces
			if _, err := o.Write([]byte(c.printed[i : i+1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		got := o.Outcome(c.end)
		if name == "hostile" {
			if strings.ContainsRune(got.Why, 0x1b) || len([]rune(got.Why)) > longestWhy+3 || got.Failure != c.want {
				t.Errorf("%s: %q", name, got.Why)
			}
		} else if got.Failure != c.want || got.Why != c.why || got.Code != c.end.Code {
			t.Errorf("%s: %q, %q; want %q, %q", name, got.Failure, got.Why, c.want, c.why)
		}
		if b, err := os.ReadFile(path); err != nil || string(b) != c.printed {
			t.Errorf("%s: kept %.100q, %v", name, b, err)
		}
	}
}

// TestOutputBounded: a command that prints without end fills neither the disk nor the memory.
func TestOutputBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), OutputName)
	o, err := NewOutput(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 2 * longestOutput / len(chunk) {
		if n, err := o.Write(chunk); n != len(chunk) || err != nil {
			t.Fatal(n, err)
		}
	}
	if len(o.line) > longestRead {
		t.Errorf("%d bytes of a line are held, at most %d wanted", len(o.line), longestRead)
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != longestOutput {
		t.Errorf("%v, %v; want %d bytes", info, err, longestOutput)
	}
}
