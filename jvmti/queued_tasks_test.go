package jvmti_test

import "testing"

// What the table of waiting tasks tells of one is its own, and what it cannot
// tell apart it counts; with threads that use it at the same time.
func TestWaiting(t *testing.T) {
	for name, flags := range map[string][]string{
		"plain":   {"-O2"},
		"thread":  {"-O1", "-fsanitize=thread"},
		"address": checked,
	} {
		t.Run(name, func(t *testing.T) {
			run(t, compile(t, flags, "testdata/queued_tasks_main.c", "state_queued_tasks.c"))
		})
	}
}
