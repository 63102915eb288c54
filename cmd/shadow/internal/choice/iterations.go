package choice

import (
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/shadow/analysis/scaling"
	"stackagent/shadow/session"
	"stackagent/shadow/session/iteration"
)

// Iterations choose iterations of a session.
type Iterations struct{ iteration, IterationsOf string }

// NumberedIterations is the help of --iteration where warm is refused, see Iterations.NotWarm.
const NumberedIterations = "only these iterations: `K` | K,L,... | last | last:N"

// AddIteration gives cmd the flags that choose iterations.
func (i *Iterations) AddIteration(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.iteration, "iteration", "", NumberedIterations+" | warm")
	i.AddIterationsOf(cmd)
}

// AddIterationsOf gives cmd the flag that says what an iteration is.
func (i *Iterations) AddIterationsOf(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.IterationsOf, "iterations-of", "", "`CLASS` whose executions are the iterations (glob; default: the output markers of shadow run --marker, or else the methods named with --task)")
}

// CheckIteration refuses a text that does not choose iterations.
func (i *Iterations) CheckIteration() error {
	if _, err := path.Match(i.IterationsOf, ""); err != nil {
		return console.Usagef("--iterations-of %s: %w", i.IterationsOf, err)
	}
	if i.iteration == "" {
		return nil
	}
	if _, err := iteration.ParseChoice(i.iteration); err != nil {
		return console.Usagef("--iteration %s: %w", i.iteration, err)
	}
	return nil
}

// Join makes a region of iterations of r, if they were asked for.
func (i *Iterations) Join(r *scaling.Region) error {
	if err := i.CheckIteration(); err != nil {
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
		r.IterationsOf = i.IterationsOf
	}
	return nil
}

// NotWarm refuses --iteration warm where runs are compared by the sum of their iterations.
func (i *Iterations) NotWarm() error {
	if i.iteration == "warm" {
		return console.Usagef("--iteration warm: how many iterations are warm differs from run to run; use last:N (shadow warmup shows from which iteration on runs are warm)")
	}
	return nil
}

// Apart are the iterations asked for, or all, cut to span. Each must end before the next one begins.
func (i *Iterations) Apart(s *session.Session, span activity.Span) ([]iteration.Iteration, error) {
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
func (i *Iterations) chosen(s *session.Session) ([]iteration.Iteration, error) {
	var choice iteration.Choice
	if i.iteration != "" {
		var err error
		if choice, err = iteration.ParseChoice(i.iteration); err != nil {
			return nil, err
		}
	}
	return i.ChosenBy(s, choice)
}

// ChosenBy are the iterations of a choice; at least one.
func (i *Iterations) ChosenBy(s *session.Session, choice iteration.Choice) ([]iteration.Iteration, error) {
	set, err := iteration.Find(s, i.IterationsOf)
	if err != nil {
		return nil, err
	}
	chosen, err := set.Choose(choice)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	return chosen, nil
}
