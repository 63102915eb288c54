package advice

import (
	"strings"
	"testing"

	"stackagent/internal/taskdef"
)

// A --task that matched nothing has a sentence of its own, and names the definition.
func TestUnmatchedTasks(t *testing.T) {
	unmatched := Refusal{Reason: taskdef.Unmatched, Count: 7, Sample: "a.B#c, a.B#d, a.B#e, a.B#f, a.B#g"}
	other := Refusal{Reason: "a method would get longer than 64 KiB", Count: 2, Sample: "a.Long.run"}
	const own = "Nothing is recorded for --task a.B#c, a.B#d, a.B#e, a.B#f, a.B#g and 2 more: "
	for _, list := range [][]Refusal{{unmatched}, {other, unmatched}, {unmatched, other}} {
		text := (&Refused{list}).sentence(nil)
		if !strings.HasPrefix(text, own) || strings.Contains(text, "Not instrumented") != (len(list) > 1) || strings.Contains(text, taskdef.Unmatched) {
			t.Errorf("%d reasons: %s", len(list), text)
		}
	}
	if text := (&Refused{[]Refusal{other}}).sentence(nil); strings.Contains(text, "--task") {
		t.Error(text)
	}
}
