package jvmti_test

import "testing"

// TestEventsDone: a JVM that ends while its start is still dealt with waits for its end to be dealt with, too.
func TestEventsDone(t *testing.T) {
	run(t, compile(t, checked, "testdata/events_main.c", "state_events.c"))
}
