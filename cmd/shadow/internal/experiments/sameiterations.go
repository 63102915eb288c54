package experiments

import (
	"fmt"
	"math"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/session/iteration"
)

// sameIterations makes sure that the region is as many iterations of each session: else their times cannot be compared. Of warm
// ones it takes as many of the last ones as are warm in all sessions.
func (f *stackFlags) sameIterations(env console.Env, baseDir string, dirs []string) error {
	choice := f.parsed.Iterations
	if choice == nil || baseDir == "" {
		return nil
	}
	least := math.MaxInt
	for _, dir := range append([]string{baseDir}, dirs...) {
		s, err := env.Open(dir)
		if err != nil {
			return err
		}
		chosen, err := f.ChosenBy(s, *choice)
		if err != nil {
			return err
		}
		n := len(chosen)
		if least != math.MaxInt && n != least && !choice.Warm {
			return fmt.Errorf("%s has %s, another session %d: choose as many of each with --iteration last:N", table.Clean(dir), text.PluralExact(n, "iteration", "iterations"), least)
		}
		least = min(least, n)
	}
	if choice.Warm {
		f.parsed.Iterations = &iteration.Choice{Last: least}
		which := "iteration"
		if least > 1 {
			which = fmt.Sprintf("%d iterations", least)
		}
		env.Note("compares the last %s of each session, which all have warm", which)
	}
	return nil
}
