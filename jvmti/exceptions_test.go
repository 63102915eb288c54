package jvmti_test

import "testing"

// The table of exceptions that the program may ask for.
func TestExceptions(t *testing.T) {
	run(t, compile(t, checked, "testdata/exceptions_main.c", "state_exceptions.c"))
}
