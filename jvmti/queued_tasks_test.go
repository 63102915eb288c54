package jvmti_test

import "testing"

// A queued task gets its own id and time, and ambiguous ones are counted, also when threads share the table.
func TestQueuedTasks(t *testing.T) {
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
