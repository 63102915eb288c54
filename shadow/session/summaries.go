package session

import (
	"fmt"
	"strings"

	"stackagent/internal/text"
	"stackagent/shadow/store"
)

// Summary stands for the executions and creations of one class in one thread
// and interval that came too fast to be recorded one by one. They are not
// among Executions and Creations.
type Summary = store.WholeSummary

// Measure is one work metric of a summary's executions.
type Measure = store.WholeMeasure

// SummaryHeads calls f with all summaries without their measures, which f must not keep.
func (s *Session) SummaryHeads(f func(*store.Summary)) error {
	bad, err := s.folder.ReadSummaries(f)
	s.warnAll(bad)
	return err
}

// Summaries calls f with all summaries in the order of the batches, which for
// each class and thread is that of their intervals. What f is given is its own.
func (s *Session) Summaries(f func(*Summary) error) error {
	var without, executions, timed uint64
	bad, err := s.folder.ReadWholeSummaries(func(x *Summary) error {
		if x.Timed > 0 {
			executions, timed = executions+x.Executions, timed+x.Timed
		}
		for i := range x.Measures {
			if m := &x.Measures[i]; m.Count > 0 && m.Buckets == nil {
				without += m.Count
			}
		}
		return f(x)
	})
	s.warnAll(bad)
	if executions > 0 {
		s.warn(fmt.Sprintf("%s counted, and %d of them, drawn at random, timed%s", text.PluralExact(executions, "execution was", "executions were"), timed, estimates))
	}
	if without > 0 {
		s.warn(fmt.Sprintf("the distribution of %d measured values of summarised executions cannot be read; counts and sums can", without))
	}
	return err
}

const estimates = ": times of their classes are estimates (~); detail=timed times each"

// IsEstimate reports whether a warning says that times are estimates: nothing is missing.
func IsEstimate(warning string) bool { return strings.HasSuffix(warning, estimates) }

// countSummarised compares what the summaries hold with what the manifest
// promises, and counts what is missing as lost.
func (s *Session) countSummarised() error {
	var held store.Counts
	bad, err := s.folder.ReadSummaries(func(r *store.Summary) {
		n := r.Events()
		held.Executions += n.Executions
		held.Creations += n.Creations
	})
	s.warnAll(bad)
	m := &s.Manifest
	if want := m.Summarised; held.Sum() < want.Sum() {
		s.warn(fmt.Sprintf("summaries of %s missing: parts of the session are damaged or gone", text.PluralExact(want.Sum()-held.Sum(), "execution or creation are", "executions and creations are")))
		s.lose(want.Sum() - held.Sum())
	}
	m.Stored.Executions += held.Executions - m.Summarised.Executions
	m.Stored.Creations += held.Creations - m.Summarised.Creations
	m.Summarised = held
	return err
}
