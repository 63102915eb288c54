package jvmti_test

import (
	"errors"
	"os/exec"
	"testing"
)

// Counters are read from pages as the kernel's header says, and by the call
// if a page has no value; the number of page faults is known.
func TestCounters(t *testing.T) {
	program := compile(t, checked, "testdata/counters_main.c", "state_counters.c")
	out, err := exec.Command(program).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 77 {
		t.Skipf("the kernel refuses performance events to this user, so no counter is read by a call; reading pages was checked, and that the kernel's refusal is reported: %s", out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}
