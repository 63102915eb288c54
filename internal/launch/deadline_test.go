package launch

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"stackagent/internal/proc"
)

// TestLimit: a command that runs too long is ended with what it started, even if it takes no notice of SIGTERM.
func TestLimit(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := Start(Command{Args: []string{"sh", "-c", "sleep 1000 & echo $!; exec sleep 1001"}, Env: os.Environ(), Out: w, Limit: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	res, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	if res.TimedOut != 300*time.Millisecond || res.Code != 143 {
		t.Errorf("%+v, want the time-out and 143", res)
	}
	text, err := io.ReadAll(r) // ends when the child has ended, too
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); proc.Alive(child); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d, which the command started, is still there", child)
		}
	}
}

// TestLimitNotReached: a command that ends in time is not said to be late.
func TestLimitNotReached(t *testing.T) {
	p, err := Start(Command{Args: []string{"true"}, Env: os.Environ(), Limit: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := p.Wait(); err != nil || res.TimedOut != 0 || res.Code != 0 {
		t.Errorf("%+v, %v", res, err)
	}
}
