package taskdef

import (
	"slices"
	"strings"
	"testing"
)

// TestPresets: what a preset stands for has the syntax of definitions; a name that is no preset is refused.
func TestPresets(t *testing.T) {
	for _, name := range PresetNames() {
		if problem := Check(name); problem != "" {
			t.Errorf("%s: %s", name, problem)
		}
		defs := Expand(name)
		if len(defs) == 0 {
			t.Errorf("%s stands for nothing", name)
		}
		for _, d := range defs {
			if _, problem := Parse(d); problem != "" {
				t.Errorf("%s: %s: %s", name, d, problem)
			}
		}
	}
	if problem := Check("@kafak"); !strings.Contains(problem, "@kafka") {
		t.Errorf("@kafak: %q does not name the presets", problem)
	}
	if got := Expand("a.B#c"); !slices.Equal(got, []string{"a.B#c"}) {
		t.Errorf("a definition stands for %q, want itself", got)
	}
	if Check("a.B") == "" {
		t.Error("a class without a method is accepted")
	}
}
