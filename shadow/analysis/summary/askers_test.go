package summary_test

import (
	"strings"
	"testing"

	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestAskers: who calls System.gc() is named with submissions and without; a site that is not described is not.
func TestAskers(t *testing.T) {
	for _, submissions := range []bool{true, false} {
		b := newSessionBuilder(t, []string{"", "com.acme.Job"})
		b.exec(1, 0, 1, 2, 100, 100, 1)
		for i, site := range []uint32{1, 1, 99, 0} { // the builder describes the first
			at := int64(200+100*i) * ms
			b.part.Pauses = append(b.part.Pauses, store.Pause{StartNs: at, EndNs: at + 50*ms, Cause: "System.gc()", Site: site})
		}
		sum, err := summary.Build(b.open(submissions), summary.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, f := range sum.Findings {
			if f.Rule == "explicit-collections" {
				got = f.Text
			}
		}
		if want := "The program asks for collections: 4 pauses were because of System.gc(), called by com.acme.Main.run:7 (2)."; !strings.HasPrefix(got, want) {
			t.Errorf("submissions %v: %q, want %q", submissions, got, want)
		}
	}
}
