package live

import (
	"fmt"
	"strings"
	"testing"

	"stackagent/shadow/store"
)

// TestSurvive: a fault in the live view of a JVM costs that view and nothing else.
func TestSurvive(t *testing.T) {
	said := ""
	l := New(Options{Note: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }})
	for _, folder := range []string{"a", "b"} {
		l.Begin(folder, &store.Manifest{Session: folder}, nil)
	}
	l.Batch("a", nil, false) // no caller does: it stands for a fault
	if l.JVM("a") != nil || l.JVM("b") == nil || !strings.Contains(said, "the live view of a failed") {
		t.Errorf("a: %v, b: %v, said %q", l.JVM("a"), l.JVM("b"), said)
	}
	l.Batch("a", nil, false) // there is no view that could fail
	if f := l.Fleet(); len(f.JVMs) != 1 || f.More != 1 {
		t.Errorf("fleet %+v", f)
	}
}
