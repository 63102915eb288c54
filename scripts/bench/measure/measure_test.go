package measure

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
)

// The tests' own program is the trampoline.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == Trampoline {
		os.Exit(Inner(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func TestRun(t *testing.T) {
	r, err := Run(context.Background(), Command{Args: []string{"sh", "-c", `echo "$X"; sleep 0.1; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done`}, Env: []string{"X=hello"}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Stdout != "hello\n" {
		t.Errorf("stdout %q", r.Stdout)
	}
	if r.Wall < 100*time.Millisecond || r.CPU <= 0 || r.CPU > r.Wall || r.PeakBytes < 100<<10 {
		t.Errorf("%+v: sleeps for 100 ms, computes a little, needs some memory", r.Usage)
	}
}

func TestRunFails(t *testing.T) {
	_, err := Run(context.Background(), Command{Args: []string{"sh", "-c", "echo why >&2; exit 3"}})
	var failed *Error
	if !errors.As(err, &failed) || !strings.Contains(err.Error(), "why") || !strings.Contains(err.Error(), "status 3") {
		t.Errorf("%v", err)
	}
	if _, err := Run(context.Background(), Command{Args: []string{"/nowhere/to/be/found"}}); err == nil {
		t.Error("a program that is not there: no error")
	}
}

// The outer process sleeps after the inner one has computed.
func TestBoth(t *testing.T) {
	u := Under{
		Outer: Command{Args: []string{"sh", "-c", `"$@"; sleep 0.2`, "sh"}},
		Inner: []string{"sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done"},
	}
	outer, inner, err := u.Both(context.Background(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if outer.Stdout != "done\n" || outer.Wall-inner.Wall < 200*time.Millisecond {
		t.Errorf("outer %v, inner %v: 200 ms apart at least", outer.Usage, inner)
	}
	if inner.CPU <= 0 || outer.CPU < inner.CPU || inner.PeakBytes == 0 {
		t.Errorf("outer %+v, inner %+v: the inner one's work is in both", outer.Usage, inner)
	}
}

func TestBothFails(t *testing.T) {
	u := Under{Outer: Command{Args: []string{"env"}}, Inner: []string{"sh", "-c", "exit 7"}}
	if _, _, err := u.Both(context.Background(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "status 7") {
		t.Errorf("the inner command's failure is %v", err)
	}
}
