package session

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/store"
)

// TestContexts: sums over parts, scaled by what was looked at; what is not
// known stays not known.
func TestContexts(t *testing.T) {
	p := &store.Part{
		Range:   store.Range{From: 1, To: 1},
		Classes: []store.Class{{ID: 1, Name: "a.Job", Kinds: "runnable"}},
		Frames:  []store.Frame{{ID: 1, Class: "a.Main", Method: "main", File: "Main.java", Line: 3}, {ID: 2, Class: "a.Main", Method: "go"}},
		Contexts: []store.Context{{ID: 1, Kind: store.ContextExecution, Class: 1, Frames: []uint32{2, 9, 1}},
			{ID: 2, Kind: store.ContextSubmission, Class: 1, Cut: true, Frames: []uint32{1}}, {ID: 3, Kind: store.ContextExecution, Class: 1},
			{ID: 4, Kind: store.ContextCreation, Class: 1}},
		ContextSums: []store.ContextSum{{ID: 1, Count: 2, SelfWallNs: 10, Measured: 1, SelfCPUNs: 4}, {ID: 2, Count: 5}, {ID: 1, Count: 1, SelfWallNs: 7},
			{ID: 3, Count: math.MaxUint64, SelfWallNs: math.MaxInt64}, {ID: 3, Count: 5, SelfWallNs: 3}, {ID: 8, Count: 1}},
	}
	s, err := Open(write(t, t.TempDir(), "s", store.Counts{}, p))
	if err != nil {
		t.Fatal(err)
	}
	s.Manifest.Contexts = &store.ContextSampling{Every: 10, Taken: 9, Lost: 1, Unseen: 2}
	s.warnContexts()
	got, err := s.Contexts()
	if err != nil {
		t.Fatal(err)
	}
	want := []Context{
		{ID: 1, Kind: store.ContextExecution, Class: 1, Sampled: 3, Count: 30, SelfWall: 170, SelfCPU: 40},
		{ID: 2, Kind: store.ContextSubmission, Class: 1, Cut: true, Sampled: 5, Count: 50, SelfCPU: units.NotMeasured},
		{ID: 3, Kind: store.ContextExecution, Class: 1, Sampled: math.MaxInt64, Count: math.MaxInt64, SelfWall: math.MaxInt64, SelfCPU: units.NotMeasured},
	}
	frames := [][]string{{"a.Main.go", "?", "a.Main.main:3"}, {"a.Main.main:3"}, nil}
	if len(got) != len(want) {
		t.Fatalf("%d contexts, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		var labels []string
		for _, f := range got[i].Frames {
			if f == nil {
				labels = append(labels, "?")
			} else {
				labels = append(labels, f.Label())
			}
		}
		g := got[i]
		g.Frames = nil
		if !slices.Equal(labels, frames[i]) {
			t.Errorf("context %d: frames %q, want %q", w.ID, labels, frames[i])
		}
		if g.ID != w.ID || g.Kind != w.Kind || g.Class != w.Class || g.Cut != w.Cut || g.Sampled != w.Sampled || g.Count != w.Count || g.SelfWall != w.SelfWall || g.SelfCPU != w.SelfCPU {
			t.Errorf("context %+v, want %+v", g, w)
		}
	}
	for _, text := range []string{"1 of 9 calling contexts were not recorded: there were too many", "2 of 9 calling contexts were not recorded: the JVM", "1 calling contexts have figures and no stack"} {
		if !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, text) }) {
			t.Errorf("no warning %q in %q", text, s.Warnings)
		}
	}
}

func TestNoContexts(t *testing.T) {
	s := submitted(t)
	if _, err := s.Contexts(); !errors.Is(err, ErrNoContexts) || s.HasContexts() || s.Every() != 0 {
		t.Errorf("%v, %v, %d", err, s.HasContexts(), s.Every())
	}
}
