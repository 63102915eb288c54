package summary_test

import (
	"slices"
	"testing"

	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/store"
)

// TestNamesOfLambdas: a lambda is named after its method and the line that makes it; a reference
// to a method of the JDK after the method that contains it. What is made elsewhere has no line.
func TestNamesOfLambdas(t *testing.T) {
	const host = "com.acme.Main$$Lambda -> "
	b := newSessionBuilder(t, []string{"", host + "com.acme.Main.lambda$run$0", host + "java.util.concurrent.atomic.AtomicInteger.incrementAndGet",
		host + "com.acme.Job.work", "com.acme.Other$$Lambda -> com.acme.Other.lambda$go$1", "com.acme.Other$$Lambda -> java.util.List.clear"})
	for class := uint32(1); class <= 5; class++ {
		b.exec(uint64(class), 0, class, 1, 10, 10, 1, 1)                                                                              // submitted by Main.run in line 7
		b.part.Creations = append(b.part.Creations, store.Creation{TaskID: uint64(class), Class: class, Thread: 1, AtNs: 1, Site: 2}) // made in Main.again
	}
	s := b.open(true)
	want := []string{"com.acme.Job.work (line 9)", "com.acme.Main.again (AtomicInteger.incrementAndGet, line 9)", "com.acme.Main.lambda$run$0 (line 9)",
		"com.acme.Other$$Lambda -> java.util.List.clear", "com.acme.Other.lambda$go$1"}
	for _, units := range []bool{false, true} {
		sum, err := summary.Build(s, summary.Options{Units: units})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, r := range sum.Rows {
			got = append(got, r.Class)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("units %v: names %q, want %q", units, got, want)
		}
	}
}
