package runner

import (
	"strings"
	"testing"

	"stackagent/shadow/experiment"
	"stackagent/shadow/store"
)

// TestOtherHeap: a run whose JVM had another heap than the experiment asked for is recognised.
func TestOtherHeap(t *testing.T) {
	w, err := store.OpenWriter(t.TempDir(), "s", "s")
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest = store.Manifest{Session: "s", JVM: store.JVM{MaxHeapBytes: 64 << 20}, Metrics: []string{"wall"}, Ended: store.EndedExit}
	if err := w.Commit(&store.Part{Range: store.Range{From: 1, To: 1}}); err != nil {
		t.Fatal(err)
	}
	for heap, want := range map[string]string{"": "", "64m": "", "65536k": "", "128m": "the JVM's largest heap was 64.0 MiB, not 128 MiB"} {
		p := experiment.Point{}
		if heap != "" {
			p = p.With(experiment.Heap, heap)
		}
		if got := otherHeap(w.Dir(), p); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("heap %q: %q, want %q", heap, got, want)
		}
	}
}
