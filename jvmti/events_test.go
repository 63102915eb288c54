package jvmti_test

import "testing"

// TestEventsDone: a JVM that ends while the Go side still handles its start waits until the Go side has handled its end too.
func TestEventsDone(t *testing.T) {
	run(t, compile(t, checked, "testdata/events_main.c", "state_events.c"))
}
