package jvmti_test

import "testing"

// Cells of unloaded classes are freed while their thread counts and the drain reads.
func TestReap(t *testing.T) {
	for name, flags := range map[string][]string{"plain": {"-O2"}, "thread": {"-O1", "-fsanitize=thread"}, "address": checked} {
		t.Run(name, func(t *testing.T) {
			run(t, compile(t, flags, "testdata/reap_main.c", "state_cells.c", "drain_cells.c"))
		})
	}
}

// Memory of threads' states that are freed goes back to the system.
func TestSlabs(t *testing.T) {
	run(t, compile(t, []string{"-O2"}, "testdata/slabs_main.c", "state_slabs.c"))
}
