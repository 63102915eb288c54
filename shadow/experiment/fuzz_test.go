package experiment

import (
	"bytes"
	"path/filepath"
	"testing"
)

// FuzzPlan and FuzzJournal: a folder may come from anybody.
func FuzzPlan(f *testing.F) {
	f.Add([]byte(`{"version":1,"kind":"scale","command":["java"],"points":[{"threads":"1"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if p, err := parsePlan("plan.json", b); err == nil && p.Version != planVersion {
			t.Errorf("version %d", p.Version)
		}
	})
}

func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"point":{"threads":"1"},"invocation":1,"folder":"threads-1/run-1"}` + "\n{"))
	f.Fuzz(func(t *testing.T, b []byte) {
		results, whole, err := readJournal(bytes.NewReader(b))
		if whole > int64(len(b)) {
			t.Errorf("%d whole bytes of %d", whole, len(b))
		}
		for _, r := range results {
			if !filepath.IsLocal(r.Folder) {
				t.Errorf("folder %q", r.Folder)
			}
		}
		if err != nil && results != nil {
			t.Error("results beside an error")
		}
	})
}
