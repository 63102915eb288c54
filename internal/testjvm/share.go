package testjvm

import "testing"

// Shared lets a test run beside others that share the machine. Such a test waits for events, not for times, and bounds
// nothing that a busy machine changes.
func Shared(t *testing.T) {
	t.Helper()
	t.Parallel()
}

// Alone marks a test during which no other test of its package may run, with the reason: it measures the machine, or
// fills it. go test runs tests that do not share before all that do.
func Alone(t *testing.T, reason string) {
	t.Helper()
	if reason == "" {
		t.Fatal("a test that runs alone gives the reason")
	}
}
