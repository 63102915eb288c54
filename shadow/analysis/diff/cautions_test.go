package diff

import (
	"slices"
	"testing"
)

// TestCautionsOfRuns: a side whose runs are of different programs, is said.
func TestCautionsOfRuns(t *testing.T) {
	run := func(session, program string) *Run { return &Run{Session: session, Program: program} }
	for _, test := range []struct {
		runs []*Run
		want []string
	}{
		{[]*Run{run("1", "M"), run("2", "M")}, nil},
		{[]*Run{run("1", "M"), run("2", "N"), run("3", "O")}, []string{"side A has runs of different programs: M and N"}},
	} {
		if got := cautionsOfRuns("A", test.runs); !slices.Equal(got, test.want) {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
