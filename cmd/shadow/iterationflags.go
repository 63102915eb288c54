package main

import (
	"fmt"
	"math"
	"path"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/internal/listing/table"
	"stackagent/internal/text"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
)

// iterationFlags choose iterations of a session.
type iterationFlags struct{ iteration, iterationsOf string }

// numberedIterations is the help of --iteration where warm is refused, see notWarm.
const numberedIterations = "only these iterations: `K` | K,L,... | last | last:N"

func (i *iterationFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.iteration, "iteration", "", numberedIterations+" | warm")
	i.addClass(cmd)
}

func (i *iterationFlags) addClass(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.iterationsOf, "iterations-of", "", "`CLASS` whose executions are the iterations (glob; default: the output markers of shadow run --marker, or else the methods named with --task)")
}

func (i *iterationFlags) check() error {
	if _, err := path.Match(i.iterationsOf, ""); err != nil {
		return console.Usagef("--iterations-of %s: %w", i.iterationsOf, err)
	}
	if i.iteration == "" {
		return nil
	}
	if _, err := iteration.ParseChoice(i.iteration); err != nil {
		return console.Usagef("--iteration %s: %w", i.iteration, err)
	}
	return nil
}

// join makes a region of iterations of r, if they were asked for.
func (i *iterationFlags) join(r *scaling.Region) error {
	if err := i.check(); err != nil {
		return err
	}
	if i.iteration != "" {
		if !r.Whole() {
			return console.Usagef("--iteration %s: use it without --region", i.iteration)
		}
		choice, err := iteration.ParseChoice(i.iteration)
		if err != nil {
			return err
		}
		r.Iterations = &choice
	}
	if r.Iterations != nil {
		r.IterationsOf = i.iterationsOf
	}
	return nil
}

// notWarm refuses --iteration warm where runs are compared by the sum of their iterations.
func (i *iterationFlags) notWarm() error {
	if i.iteration == "warm" {
		return console.Usagef("--iteration warm: how many iterations are warm differs from run to run; use last:N (shadow warmup shows from which iteration on runs are warm)")
	}
	return nil
}

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
		chosen, err := f.chosenBy(s, *choice)
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

// apart are the iterations asked for, or all, cut to span. Each must end before the next one begins.
func (i *iterationFlags) apart(s *session.Session, span activity.Span) ([]iteration.Iteration, error) {
	chosen, err := i.chosen(s)
	if err != nil {
		return nil, err
	}
	apart, err := iteration.Apart(chosen, span)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	return apart, nil
}

// chosen are the iterations asked for, or all; at least one.
func (i *iterationFlags) chosen(s *session.Session) ([]iteration.Iteration, error) {
	var choice iteration.Choice
	if i.iteration != "" {
		var err error
		if choice, err = iteration.ParseChoice(i.iteration); err != nil {
			return nil, err
		}
	}
	return i.chosenBy(s, choice)
}

func (i *iterationFlags) chosenBy(s *session.Session, choice iteration.Choice) ([]iteration.Iteration, error) {
	set, err := iteration.Find(s, i.iterationsOf)
	if err != nil {
		return nil, err
	}
	chosen, err := set.Choose(choice)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	return chosen, nil
}
