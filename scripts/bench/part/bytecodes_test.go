package part

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestLeastIteration(t *testing.T) {
	if v, err := leastIteration("iteration 30\niteration 20\niteration 25\ntotal 7\n"); v != 20 || err != nil {
		t.Errorf("%v, %v", v, err)
	}
	for _, bad := range []string{"", "total 7\n", "iteration x\n", "iteration 0\n"} {
		if v, err := leastIteration(bad); err == nil {
			t.Errorf("%q: %v", bad, v)
		}
	}
}

func TestGeometricMean(t *testing.T) {
	if v := geometricMean([]float64{1, 4}); math.Abs(v-2) > 1e-9 {
		t.Errorf("of 1 and 4: %v", v)
	}
}

// The program knows every computation.
func TestComputations(t *testing.T) {
	source, err := os.ReadFile(filepath.Join("..", "java", "Compute.java"))
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range computations {
		if !strings.Contains(string(source), `Map.entry("`+w.name+`"`) {
			t.Errorf("Compute.java does not know %s", w.name)
		}
	}
	if n := strings.Count(string(source), "Map.entry(\""); n != len(computations) {
		t.Errorf("Compute.java knows %d computations, %d are measured", n, len(computations))
	}
}
