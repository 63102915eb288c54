package jvmti_test

import "testing"

// TestEventsDone: a JVM that ends while its start is still dealt with waits for its end to be dealt with, too.
func TestEventsDone(t *testing.T) {
	run(t, compile(t, checked, "testdata/control_main.c", "life_control.c"))
}
