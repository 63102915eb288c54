package explain

import (
	"math"
	"testing"
)

func TestProgramsTotalsAreCounters(t *testing.T) {
	nan := math.NaN()
	hits := []float64{nan, 1, 2, 3, 3, 5, 6, 7, 8, 9, nan, 11, 12, 13}
	if !countsUp(hits) {
		t.Error("a total that only grows is a counter")
	}
	want := []float64{nan, nan, 1, 1, 0, 2, 1, 1, 1, 1, nan, 2, 1, 1}
	for i, v := range growthOf(hits) {
		if v != want[i] && !(math.IsNaN(v) && math.IsNaN(want[i])) {
			t.Errorf("sample %d grew by %v, want %v", i, v, want[i])
		}
	}
	if countsUp([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 3}) {
		t.Error("what falls is a level")
	}
	if countsUp([]float64{1, 1, 1, 2, 2, 2, 3}) {
		t.Error("a level may rise now and then")
	}
}
