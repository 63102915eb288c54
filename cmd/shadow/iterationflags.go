package main

import (
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"stackagent/cmd/shadow/internal/console"
	"stackagent/granularity/activity"
	"stackagent/shadow/iteration"
	"stackagent/shadow/scaling"
	"stackagent/shadow/session"
)

// iterationFlags choose iterations of a session.
type iterationFlags struct{ iteration, iterationsOf string }

func (i *iterationFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&i.iteration, "iteration", "", "only these iterations: `K` | K,L,... | last | last:N | warm")
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
	set, err := iteration.Find(s, i.iterationsOf)
	if err != nil {
		return nil, err
	}
	var choice iteration.Choice
	if i.iteration != "" {
		if choice, err = iteration.ParseChoice(i.iteration); err != nil {
			return nil, err
		}
	}
	chosen, err := set.Choose(choice)
	if err != nil {
		return nil, fmt.Errorf("session %s: %w", s.Manifest.Session, err)
	}
	return chosen, nil
}
