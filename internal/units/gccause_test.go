package units

import "testing"

// TestGCCauses: no two names are carried as the same number, nor one as that of an unknown cause.
func TestGCCauses(t *testing.T) {
	if len(gcCauseNames) != len(gcCauses) || gcCauseNames[0] != "" {
		t.Errorf("%d numbers of %d names, 0 is %q", len(gcCauseNames), len(gcCauses), gcCauseNames[0])
	}
	for _, name := range gcCauses {
		if got := GCCauseOf(name).String(); got != name {
			t.Errorf("%q is read as %q", name, got)
		}
	}
	if got := GCCauseOf("of a JVM to come").String(); got != "" {
		t.Errorf("an unknown name is read as %q", got)
	}
}
