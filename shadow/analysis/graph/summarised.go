package graph

import (
	"fmt"

	"stackagent/internal/units"
	"stackagent/shadow/session/callsite"
	"stackagent/shadow/store"
)

// readSummarised counts the executions that only summaries hold, by each name that their class has in the graph.
func (r *reader) readSummarised() error {
	if r.s.Manifest.Summarised.Executions == 0 {
		return nil
	}
	byClass := map[uint32]uint64{}
	if err := r.s.SummaryHeads(func(x *store.Summary) { byClass[x.Class] += x.Executions }); err != nil {
		return fmt.Errorf("reading which classes were summarised: %w", err)
	}
	for class, n := range byClass {
		if n == 0 {
			continue
		}
		plain := callsite.Describe(r.s, nil, class).Name
		r.summarised[plain] += n
		if r.names == nil {
			continue
		}
		// Summaries do not say which of the names of a class an execution has.
		all := map[string]bool{callsite.Describe(r.s, r.names, r.names.OfSummaries(class, true)).Name: true}
		for name, from := range r.names.From() {
			if from == plain {
				all[name] = true
			}
		}
		delete(all, plain)
		for name := range all {
			r.summarised[name] += n
		}
	}
	return nil
}

// ClassNames are the names of the classes of the graph, by their numbers, and then of those that are only in summaries.
func (s *Session) ClassNames() []string {
	names, known := append([]string(nil), s.Classes...), map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for name := range s.summarised {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

// WhyNotClass is why the time of a class cannot be changed: the graph does not have all of it. nil: it can.
func (s *Session) WhyNotClass(name string) error {
	n := s.summarised[name]
	if n == 0 {
		return nil
	}
	return fmt.Errorf("%s executions of %s were summarised, without a record of when each of them was: record all with --detail all", units.FormatExact(int64(n)), name)
}

// SummarisedOf is how many executions of a class have no record of their own.
func (s *Session) SummarisedOf(class string) uint64 { return s.summarised[class] }
