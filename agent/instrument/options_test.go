package instrument

import (
	"errors"
	"strings"
	"testing"

	"stackagent/internal/units"
)

func TestParseTaskDefinition(t *testing.T) {
	good := []struct {
		in   string
		want TaskDefinition
	}{
		{"com.acme.Job#process", TaskDefinition{"com.acme.Job", "process", ""}},
		{"com.acme.Job#process(Lcom/acme/Ctx;)V", TaskDefinition{"com.acme.Job", "process", "(Lcom/acme/Ctx;)V"}},
		{"com.acme.Job$Inner#p(I[[J[Ljava/lang/String;)[D", TaskDefinition{"com.acme.Job$Inner", "p", "(I[[J[Ljava/lang/String;)[D"}},
		{"*#*", TaskDefinition{"*", "*", ""}},
		{"com.*.Job?#on*()V", TaskDefinition{"com.*.Job?", "on*", "()V"}},
	}
	for _, tt := range good {
		got, err := ParseTaskDefinition(tt.in)
		if err != nil || got != tt.want {
			t.Errorf("%q: got %+v, %v", tt.in, got, err)
		}
		if got.String() != tt.in {
			t.Errorf("%q: String gives %q", tt.in, got)
		}
	}
	bad := []string{"", "#", "a#", "#b", "com.acme.Job", "com/acme/Job#run", "a#b(V", "a#b()", "a#b()VV", "a#b(V)V",
		"a#b(L;)V", "a#b(Ljava.lang.String;)V", "a#<init>()V", "a#b#c", "a b#c", "a#b)", "a#b(I)[V", strings.Repeat("a", 5000) + "#b"}
	for _, in := range bad {
		if d, err := ParseTaskDefinition(in); err == nil {
			t.Errorf("%.40q is accepted as %+v", in, d)
		}
	}
}

func TestMatchGlob(t *testing.T) {
	tests := []struct {
		pattern, s string
		want       bool
	}{
		{"*", "", true}, {"*", "a.b", true}, {"", "", true}, {"", "a", false},
		{"a.*", "a.b.C", true}, {"a.*", "a", false}, {"a?c", "abc", true}, {"a?c", "ac", false},
		{"*Job", "com.acme.BigJob", true}, {"*Job", "com.acme.Jobs", false},
		{"a*b*c", "axxbyyc", true}, {"a*b*c", "axxcyyb", false}, {"**", "x", true},
		{"*a*a*a*a*a*a*a*b", strings.Repeat("a", 200), false},
	}
	for _, tt := range tests {
		if got := matchGlob(tt.pattern, tt.s); got != tt.want {
			t.Errorf("matchGlob(%q, %q) = %v", tt.pattern, tt.s, got)
		}
	}
}

func TestFilters(t *testing.T) {
	o := Options{Include: []string{"com.acme.*"}, Exclude: []string{"com.acme.gen.*", "java.util.Timer*"}}
	tests := []struct {
		class    string
		platform bool
		want     bool // excluded
	}{
		{"com.acme.Job", false, false},
		{"com.acme.gen.Job", false, true},
		{"org.other.Job", false, true},
		{"java.util.concurrent.FutureTask", true, false}, // Include is about the program's classes
		{"java.util.TimerThread", true, true},
	}
	for _, tt := range tests {
		if got := o.excluded(tt.class, tt.platform); got != tt.want {
			t.Errorf("excluded(%s) = %v", tt.class, got)
		}
	}
}

// header makes the smallest class file with these names.
func header(name, super string, interfaces ...string) []byte {
	names := append([]string{name, super}, interfaces...)
	b := []byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61, 0, byte(2*len(names) + 1)}
	for i, n := range names {
		b = append(append(b, 1, byte(len(n)>>8), byte(len(n))), n...)
		b = append(b, 7, 0, byte(2*i+1))
	}
	b = append(b, 0, 0x21, 0, 2, 0, 4, 0, byte(len(interfaces)))
	for i := range interfaces {
		b = append(b, 0, byte(2*i+6))
	}
	return append(b, 0, 0, 0, 0, 0, 0)
}

func TestImageHierarchy(t *testing.T) {
	classes := map[string][]byte{
		"A":      header("A", nameObject, "I"),
		"I":      header("I", nameObject, "java/lang/Runnable"),
		"B":      header("B", "A", "java/util/concurrent/Callable"),
		"T":      header("T", nameThread),
		"Loop1":  header("Loop1", "Loop2", "Loop2", "Loop1"),
		"Loop2":  header("Loop2", "Loop1", "Loop1", "Loop2"),
		"Orphan": header("Orphan", "Gone"),
		"Liar":   header("Other", nameObject),
		"Broken": {0xCA, 0xFE},
		"Job":    header("Job", nameObject),
		"SubJob": header("SubJob", "Job"),
		"VT":     header("VT", "java/lang/BaseVirtualThread"),
	}
	reads := 0
	h := NewImageHierarchy(func(name string) ([]byte, error) {
		reads++
		if b, ok := classes[name]; ok {
			return b, nil
		}
		return nil, errors.New("no such class")
	}, Options{Tasks: []TaskDefinition{{Class: "Job", Method: "go"}}})
	tests := []struct {
		class string
		kinds units.Kinds
		known bool
	}{
		{"B", units.KindRunnable | units.KindCallable, true},
		{"A", units.KindRunnable, true},
		{"T", units.KindThread | units.KindRunnable, true},
		{"VT", units.KindThread | units.KindRunnable | units.KindVirtual, true},
		{"Job", units.KindCustom, true},
		{"SubJob", units.KindCustom, true},
		{"Loop1", 0, false}, {"Orphan", 0, false}, {"Liar", 0, false}, {"Broken", 0, false}, {"Gone", 0, false},
	}
	for _, tt := range tests {
		if k, ok := h.Kinds(tt.class); k != tt.kinds || ok != tt.known {
			t.Errorf("Kinds(%s) = %v, %v", tt.class, k, ok)
		}
	}
	before := reads
	if h.Kinds("B"); reads != before {
		t.Error("a class that is known was read again")
	}
	if len(h.busy) != 0 {
		t.Errorf("still busy: %v", h.busy)
	}
}
