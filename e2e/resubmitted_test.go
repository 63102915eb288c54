package e2e_test

import (
	"maps"
	"testing"

	"stackagent/internal/testjvm"
)

// TestResubmitted: a submission counts for one execution, however often the object is called plainly afterwards, and each
// submission of an object counts.
func TestResubmitted(t *testing.T) {
	testjvm.Shared(t)
	o := testjvm.Example(t, "resubmitted")
	want := map[string]int64{"Main$Once": 1000, "Main$Again": 100, "Main$Several": 30, "Main$Drain": 1, "Main$Forked": 40, "Main$Root": 1,
		"Main$Periodic": 5, "Main$Delegated": 20, "Main$Threaded": 1, "Main$Batch": 50}
	for _, v := range variants(t, 0, "all", "auto", "summary") {
		t.Run(v.String(), func(t *testing.T) {
			cmd := o.Command(t, v.jdk)
			cmd.Agent = []string{"--detail", v.detail}
			p := cmd.Session(t)
			for _, wrong := range o.Compare(p.Hotspots(t), nil) {
				t.Error(wrong)
			}
			got := map[string]int64{}
			for _, r := range p.Units(t) {
				if r.Executions > 0 {
					got[r.Class] = r.Executions
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("units %v, want %v", got, want)
			}
		})
	}
}
