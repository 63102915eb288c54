package summary_test

import (
	"testing"

	"stackagent/internal/units"
	"stackagent/shadow/analysis/summary"
	"stackagent/shadow/analysis/summary/summarytest"
)

// BenchmarkBuild condenses a million executions of ten classes on eight
// threads, with the data for figures.
func BenchmarkBuild(b *testing.B) {
	const n = 1_000_000
	w := summarytest.NewWriter()
	var classes, threads []uint32
	for i := range 10 {
		classes = append(classes, w.Class("com.acme.Job"+string(rune('A'+i)), units.KindRunnable, n/10, 0))
	}
	for range 8 {
		threads = append(threads, w.Thread("pool-1-thread", "application", 1e9))
	}
	for i := range n {
		work := units.Ns(200 + i*7919%100_000)
		w.Add(summarytest.Execution{Class: classes[i%10], Thread: threads[i%8], Start: units.MonoNs(i) * 10_000,
			Wall: work, CPU: work, SelfWall: work, SelfCPU: work})
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := summary.BuildFrom(w.Src, summary.Options{Shapes: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/execution")
}
