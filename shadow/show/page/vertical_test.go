package page

import (
	"math"
	"slices"
	"testing"

	"stackagent/granularity"
	"stackagent/internal/units"
)

// TestRebin: samples of any length become means of buckets, weighted by how long each lies in them.
func TestRebin(t *testing.T) {
	nan := math.NaN()
	edges := []units.MonoNs{100, 110, 115, 140, 150, 160}
	got := rebin([]float64{1, 3, 2, nan, 7}, edges, granularity.Grid{From: 90, Width: 20, N: 5})
	// 90-110: the first alone; 110-130: 5 of 3 and 15 of 2; 130-150: 10 of 2, 10 not known; 150-170: 7; 170-190: nothing.
	want := []float64{1, 2.25, 2, 7, nan}
	if !slices.EqualFunc(got, want, func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestTake: a value comes back from the page with an error of less than a 65,000th of the range.
func TestTake(t *testing.T) {
	in := []float64{-5, 1e6, math.NaN(), 12345.678, 0}
	var m Monitor
	if !m.take(in) {
		t.Fatal("it changes")
	}
	for i, v := range in {
		back := m.Low + (m.High-m.Low)*float64(m.Values[i])/(unmeasured-1)
		if math.IsNaN(v) != (m.Values[i] == unmeasured) || math.Abs(back-v) > (m.High-m.Low)/65000 {
			t.Errorf("%g comes back as %g (%d)", v, back, m.Values[i])
		}
	}
	for _, constant := range [][]float64{{3, 3, math.NaN()}, {math.NaN()}, {}} {
		if new(Monitor).take(constant) {
			t.Errorf("%v changes", constant)
		}
	}
}
