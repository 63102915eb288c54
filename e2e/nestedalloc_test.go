package e2e_test

import (
	"path/filepath"
	"testing"

	"stackagent/internal/testjvm"
)

// TestAllocatedInside: metrics of the session's own are exact for executions inside each other, and for the units made of
// them, however much is summarised.
func TestAllocatedInside(t *testing.T) {
	testjvm.Shared(t)
	const (
		outers, inners = 40, 500
		leaf           = 496
		inner          = 1000 + leaf
		outer          = 10_000 + inners*inner
	)
	for _, v := range variants(t, 1, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			p := testjvm.Command{JDK: v.jdk, Classpath: testjvm.Compile(t, v.jdk, filepath.Join("testdata", "nestedalloc")), Main: "Main",
				Agent: []string{"--metric", "wall+cpu+alloc", "--detail", v.detail}}.Session(t)
			checkAllocated(t, p.Hotspots(t), map[string][3]float64{"Main$Outer": {outers, outer, 10_000},
				"Main$Inner": {outers * inners, inner, 1000}, "Main$Leaf": {outers * inners, leaf, leaf}})
			checkAllocated(t, p.Units(t), map[string][3]float64{"Main$Outer": {outers, outer, outer}, "Main$Inner": {}, "Main$Leaf": {}})
		})
	}
}

// checkAllocated compares rows with how many there are by class, the bytes of each and without those nested in it. The
// JVM allocates a little when it links the first call of a kind.
func checkAllocated(t *testing.T, rows []testjvm.Row, want map[string][3]float64) {
	t.Helper()
	const linking = 4096
	found := map[string]bool{}
	for _, r := range rows {
		w, ok := want[r.Class]
		if !ok {
			continue
		}
		found[r.Class] = true
		if float64(r.Executions) != w[0] {
			t.Errorf("%d of %s, want %v", r.Executions, r.Class, w[0])
		}
		for i, m := range []string{"alloc_bytes", "self_alloc_bytes"} {
			got := r.Metrics[m]
			if float64(got.Count) != w[0] || got.Sum < w[0]*w[i+1] || got.Sum > w[0]*w[i+1]+linking || got.Min < w[i+1]*min(w[0], 1) {
				t.Errorf("%s, %s: %+v, want %v of %v", r.Class, m, got, w[0], w[i+1])
			}
		}
	}
	if !found["Main$Outer"] {
		t.Errorf("no Main$Outer in %v", rows)
	}
}
