package session

import (
	"fmt"
	"strings"

	"stackagent/internal/loglinear"
	"stackagent/internal/text"
	"stackagent/internal/units"
	"stackagent/internal/wire"
	"stackagent/shadow/store"
)

// Summary stands for the executions and creations of one class in one thread
// and interval that came too fast to be recorded one by one. They are not
// among Executions and Creations.
type Summary struct {
	Class, Thread uint32
	Outer         uint32 // class of the program around the executions; 0: none, or see wire.SummaryOuterKnown
	Flags         wire.SummaryFlags
	FromNs, ToNs  units.MonoNs
	LastEndNs     units.MonoNs // end of the last execution up to ToNs; 0: none, or not known

	Executions, First, Threw, Cut, CreationUnseen uint64 // see wire.Summary
	Creations, Failed, Withdrawn                  uint64
	Submissions, Inner, Rejected, Cancelled       uint64
	Timed                                         uint64 // of Executions: a random sample, see wire.Summary; 0: all

	Measures []Measure
}

// Until is when the last of the summary's executions ended, if that is known, else ToNs.
func (x *Summary) Until() units.MonoNs {
	if x.LastEndNs > x.FromNs {
		return min(x.ToNs, x.LastEndNs)
	}
	return x.ToNs
}

// TimedOf is how many values of m were measured; 0: all were.
func (x *Summary) TimedOf(m *Measure) uint64 {
	if x.Timed == 0 || x.Executions == 0 {
		return 0
	}
	return max(uint64(float64(m.Count)*float64(x.Timed)/float64(x.Executions)), 1)
}

// Measure is one work metric of a summary's executions. Count, SumNs and the
// extremes are exact, unless Summary.Timed is set; single values are known to loglinear.RelativeError.
type Measure struct {
	Metric       wire.Metric
	Count        uint64
	SumNs        units.Ns
	MinNs, MaxNs units.Ns           // over all that the thread's cell has counted until ToNs
	Buckets      []loglinear.Bucket // ascending, none empty; nil where they can no longer be read
}

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
	bad, err := s.folder.ReadWholeSummaries(func(w *store.WholeSummary) error {
		x := summary(w)
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

func summary(w *store.WholeSummary) *Summary {
	x := &Summary{
		Class: w.Class, Thread: w.Thread, Outer: w.Outer, Flags: wire.SummaryFlags(w.Flags), FromNs: units.MonoNs(w.FromNs), ToNs: units.MonoNs(w.ToNs),
		Executions: w.Executions, First: w.First, Threw: w.Threw, Cut: w.Cut, CreationUnseen: w.CreationUnseen,
		Creations: w.Creations, Failed: w.Failed, Withdrawn: w.Withdrawn,
		Submissions: w.Submissions, Inner: w.Inner, Rejected: w.Rejected, Cancelled: w.Cancelled,
		Timed:    w.Timed,
		Measures: make([]Measure, len(w.Measures)),
	}
	if w.LastEndNs != nil {
		x.LastEndNs = units.MonoNs(*w.LastEndNs)
	}
	for i, m := range w.Measures {
		x.Measures[i] = Measure(m)
	}
	return x
}

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
