package jvmti_test

import "testing"

// TestThrown: the table of exceptions for which somebody may ask.
func TestThrown(t *testing.T) {
	run(t, compile(t, checked, "testdata/exceptions_main.c", "state_exceptions.c"))
}
