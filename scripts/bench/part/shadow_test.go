package part

import (
	"slices"
	"testing"
)

func TestMetric(t *testing.T) {
	const out = "goos: linux\nBenchmarkIngest-2   \t 3\t 512000000 ns/op\t 240.5 CPU-ns/execution\t 1.90 Mexecutions/s\nBenchmarkIngest-2 3 5 ns/op 2.5 Mexecutions/s\nPASS\n"
	got, err := metric(out, "Mexecutions/s")
	if err != nil || !slices.Equal(got, []float64{1.9, 2.5}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, unit := range []string{"furlongs/s", "3"} {
		if got, err := metric(out, unit); err == nil {
			t.Errorf("%s: %v, want an error", unit, got)
		}
	}
	if got, err := metric("BenchmarkX 1 many ns/op\n", "ns/op"); err == nil {
		t.Errorf("%v, want an error", got)
	}
}
