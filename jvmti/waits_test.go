package jvmti_test

import "testing"

// TestWaitSums: waits are counted once each, also while a drain reads them, in a table that does not grow.
func TestWaitSums(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":  {"-O2"},
		"thread": {"-O1", "-fsanitize=thread"},
		"memory": checked,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, compile(t, flags, "testdata/waits_main.c", "state_waits.c"))
		})
	}
}
